// A solver's present moment as output sees it.
#include "solver.h"

#include <math.h>

#include "base/memory.h"

// All arrays of a view with their lengths and what they are wanted for, listed once.
#define VIEW_ARRAYS(X)                                                                             \
    X(bodies, body_count, true)                                                                    \
    X(positions, node_count * 3, view->room & WANT_NODES)                                          \
    X(velocities, node_count * 3, view->room & WANT_NODES)                                         \
    X(forces, node_count * 3, view->room & WANT_FORCES)                                            \
    X(strains, spring_count, view->room &WANT_STRAINS)                                             \
    X(broken, spring_count, view->room &WANT_STRAINS)                                              \
    X(springs, spring_count, view->room &WANT_LISTS)                                               \
    X(faces, face_count * 3, view->room & WANT_LISTS)

static bool allocate_arrays(struct moment_view *view)
{
#define ALLOCATE(name, length, condition)                                                          \
    if (condition) {                                                                               \
        view->name = memory_allocate(NULL, (size_t)(view->length), sizeof *view->name);            \
        if (!view->name)                                                                           \
            return false;                                                                          \
    }
    VIEW_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

void moment_view_free(struct moment_view *view)
{
#define RELEASE(name, length, condition)                                                           \
    memory_release(NULL, view->name, (size_t)(view->length), sizeof *view->name);
    VIEW_ARRAYS(RELEASE)
#undef RELEASE
    *view = (struct moment_view){0};
}

static uint32_t number_in_body(const struct topology *topology, const struct topology_body *body,
                               uint32_t node)
{
    return (uint32_t)(topology_node_outside(topology, node) - body->first_node);
}

static void fill_lists(const struct topology *topology, const struct topology_body *body,
                       struct moment_view *view)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            uint32_t *ends = view->springs[topology_spring_outside(topology, spring + i)];
            ends[0] = number_in_body(topology, body, run.a + i);
            ends[1] = number_in_body(topology, body, run.b + i);
        }
        spring += run.count;
    }
    uint32_t *faces = view->faces + 3 * body->first_face;
    for (uint64_t i = 0; i < body->face_count; i++) {
        struct face face = topology_body_face(topology, body, i);
        for (int corner = 0; corner < body->face_arity; corner++)
            faces[i * (uint64_t)body->face_arity + (uint64_t)corner] =
                number_in_body(topology, body, face.nodes[corner]);
    }
}

// Whether what a spring has become cannot be told from places alone.
static bool springs_change(const struct topology *topology, const struct topology_body *body)
{
    uint64_t end = body->first_spring + body->spring_count;
    bool none = !topology->any_breaks && !topology->any_yields;
    for (uint64_t spring = body->first_spring; spring < end && !none;) {
        struct spring_run run = topology_run(topology, spring, end);
        const struct material *material = &topology->materials[run.material];
        if (isfinite(material->break_at) || isfinite(material->yield_at))
            return true;
        spring += run.count;
    }
    return false;
}

static void fill_body(const struct topology *topology, size_t index, struct moment_view *view)
{
    const struct topology_body *body = &topology->bodies[index];
    struct snapshot_body *to = &view->bodies[index];
    *to = (struct snapshot_body){
        .name = body->name,
        .node_count = body->node_count,
        .spring_count = body->spring_count,
        .face_count = body->face_count,
        .face_arity = body->face_arity,
        .springs_change = springs_change(topology, body),
    };
    if (body->type == BODY_CLOTH) {
        to->sheet[0] = body->grid[0];
        to->sheet[1] = body->grid[1];
    }
    if (view->room & WANT_NODES) {
        to->positions = view->positions + 3 * body->first_node;
        to->velocities = view->velocities + 3 * body->first_node;
    }
    if (view->room & WANT_FORCES)
        to->forces = view->forces + 3 * body->first_node;
    if (view->room & WANT_STRAINS) {
        to->strains = view->strains + body->first_spring;
        to->broken = topology->any_breaks ? view->broken + body->first_spring : NULL;
    }
    if (view->room & WANT_LISTS) {
        fill_lists(topology, body, view);
        to->springs = (const uint32_t(*)[2])view->springs + body->first_spring;
        to->faces = view->faces + 3 * body->first_face;
    }
}

taut_status moment_view_make(const taut_solver *solver, unsigned wanted, struct moment_view *view,
                             taut_error *error)
{
    const struct topology *topology = solver->topology;
    *view = (struct moment_view){
        .room = wanted,
        .body_count = topology->body_count,
        .node_count = topology->node_count,
        .spring_count = topology->spring_count,
        .face_count = topology->face_count,
    };
    if (!allocate_arrays(view)) {
        moment_view_free(view);
        return fail_memory(error, "the view of a moment");
    }
    for (size_t b = 0; b < topology->body_count; b++)
        fill_body(topology, b, view);
    view->snapshot.bodies = view->bodies;
    view->snapshot.body_count = view->body_count;
    view->snapshot.single = solver->precision == PRECISION_SINGLE;
    return TAUT_OK;
}

struct look {
    taut_solver *solver;
    bool want_forces;
    taut_energy *energy;
};

static void take_look(void *context, const struct worker *worker)
{
    struct look *look = context;
    look->solver->functions->look(look->solver->system, look->want_forces, look->energy, worker);
}

void solver_look(taut_solver *solver, bool want_forces, taut_energy *energy)
{
    struct look look = {solver, want_forces, energy};
    solver_work(solver, take_look, &look);
}

static void take_energy(const taut_solver *solver, const taut_energy *energy,
                        struct snapshot *snapshot)
{
    snapshot->kinetic = energy->kinetic;
    snapshot->elastic = energy->elastic;
    snapshot->gravity = energy->gravity;
    snapshot->gas = energy->gas;
    snapshot->contact = energy->contact;
    snapshot->total = energy->total;
    const struct work_account *work = solver->functions->work(solver->system);
    snapshot->has_work = work != NULL;
    if (work)
        snapshot->work = (struct snapshot_work){
            .damping = work->done[WORK_DAMPING],
            .drag = work->done[WORK_DRAG],
            .friction = work->done[WORK_FRICTION],
            .keep = work->done[WORK_KEEP],
            .projection = work->done[WORK_PROJECTION],
            .breaking = work->done[WORK_BREAKING],
            .wind = work->done[WORK_WIND],
            .drives = work->done[WORK_DRIVES],
            .inflation = work->done[WORK_INFLATION],
        };
}

void moment_view_take(taut_solver *solver, unsigned wanted, struct moment_view *view)
{
    const struct system_functions *call = solver->functions;
    wanted &= view->room;
    if (wanted & (WANT_ENERGY | WANT_FORCES)) {
        taut_energy energy;
        solver_look(solver, wanted & WANT_FORCES, &energy);
        take_energy(solver, &energy, &view->snapshot);
        for (size_t b = 0; b < view->body_count; b++)
            view->bodies[b].volume = call->volume(solver->system, b);
    }
    if (wanted & WANT_NODES)
        call->read_nodes(solver->system, 0, view->node_count, view->positions, view->velocities,
                         NULL);
    if (wanted & WANT_FORCES)
        call->read_nodes(solver->system, 0, view->node_count, NULL, NULL, view->forces);
    if (wanted & WANT_STRAINS)
        call->read_springs(solver->system, view->strains, view->broken);
    view->snapshot.step = taut_solver_step_count(solver);
    view->snapshot.time = taut_solver_time(solver);
}
