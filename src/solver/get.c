// Queries: counts and settings, energies, positions, the energy budget, and frames of the present
// state. Nothing here changes the run.
#include "solver/private.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/internals.h"

// ---- Settings and counts

double taut_solver_time(const taut_solver *solver)
{
    return solver_time_of(solver, taut_solver_step_count(solver));
}

double taut_solver_dt(const taut_solver *solver)
{
    return solver->dt;
}

uint64_t taut_solver_step_count(const taut_solver *solver)
{
    return solver->functions->steps(solver->system);
}

uint64_t taut_solver_steps_planned(const taut_solver *solver)
{
    return solver->steps_planned;
}

uint64_t taut_solver_node_count(const taut_solver *solver)
{
    return solver->topology->node_count;
}

uint64_t taut_solver_spring_count(const taut_solver *solver)
{
    return solver->topology->spring_count;
}

uint64_t taut_solver_face_count(const taut_solver *solver)
{
    return solver->topology->face_count;
}

uint64_t taut_solver_broken_count(const taut_solver *solver)
{
    const bool together = solver_begin_part(solver, PART_BROKEN, 0);
    const uint64_t count = solver->functions->broken_count(solver->system);
    if (together)
        solver_end_part(solver);
    return count;
}

int taut_solver_threads(const taut_solver *solver)
{
    return solver->threads;
}

size_t taut_solver_body_count(const taut_solver *solver)
{
    return solver->topology->body_count;
}

ptrdiff_t taut_solver_find_body(const taut_solver *solver, const char *name)
{
    for (size_t b = 0; b < solver->topology->body_count; b++)
        if (strcmp(solver->topology->bodies[b].name, name) == 0)
            return (ptrdiff_t)b;
    return -1;
}

// NULL if there is no body of that number.
static const struct topology_body *body_at(const taut_solver *solver, size_t body)
{
    return body < solver->topology->body_count ? &solver->topology->bodies[body] : NULL;
}

const char *taut_solver_body_name(const taut_solver *solver, size_t body)
{
    const struct topology_body *it = body_at(solver, body);
    return it ? it->name : NULL;
}

uint64_t taut_solver_body_node_count(const taut_solver *solver, size_t body)
{
    const struct topology_body *it = body_at(solver, body);
    return it ? it->node_count : 0;
}

double taut_solver_body_volume(taut_solver *solver, size_t body)
{
    taut_energy energy; // the evaluation also computes the volumes
    if (!body_at(solver, body))
        return 0;
    taut_solver_energy(solver, &energy, NULL);
    return solver->functions->volume(solver->system, body);
}

void taut_solver_get_positions(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = body_at(solver, body);
    if (it)
        solver_read_nodes(solver, it->first_node, it->node_count, values, NULL, NULL);
}

void taut_solver_get_velocities(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = body_at(solver, body);
    if (it)
        solver_read_nodes(solver, it->first_node, it->node_count, NULL, values, NULL);
}

const struct topology *solver_topology(const taut_solver *solver)
{
    return solver->topology;
}

void solver_count_plan(const taut_solver *solver, struct plan_statistics *bodies)
{
    plan_count_bodies(solver->topology, solver->plan, bodies);
}

enum precision solver_precision(const taut_solver *solver)
{
    return solver->precision;
}

enum integrator solver_integrator(const taut_solver *solver)
{
    return solver->integrator;
}

enum isa solver_isa(const taut_solver *solver)
{
    return solver->isa;
}

size_t solver_real_bytes(const taut_solver *solver)
{
    return solver->functions->real_bytes;
}

const struct dt_rule *solver_dt_rule(const taut_solver *solver)
{
    return &solver->dt_rule;
}

struct scale solver_scale(const taut_solver *solver)
{
    const bool together = solver_begin_part(solver, PART_SCALE, 0);
    const struct scale scale = solver->functions->scale(solver->system);
    if (together)
        solver_end_part(solver);
    return scale;
}

double solver_greatest_coordinate(const taut_solver *solver)
{
    if (!solver->only_part)
        solver_collect(solver);
    return solver_scale(solver).reach;
}

struct trace_arguments {
    taut_solver *solver;
    double trace;
};

static void find_trace(void *context, const struct worker *worker)
{
    struct trace_arguments *it = context;
    const double trace = it->solver->functions->stiffness_trace(it->solver->system, worker);
    if (worker->index == 0)
        it->trace = trace;
}

double solver_stiffness_trace(taut_solver *solver)
{
    struct trace_arguments arguments = {.solver = solver};
    if (!solver->only_part)
        solver_collect(solver);
    const bool together = solver_begin_part(solver, PART_TRACE, 0);
    solver_work(solver, find_trace, &arguments);
    if (together)
        solver_end_part(solver);
    return arguments.trace;
}

double solver_position_ratio(const taut_solver *solver)
{
    return solver->position_ratio;
}

double solver_setup_seconds(const taut_solver *solver)
{
    return solver->setup_seconds;
}

double solver_step_seconds(const taut_solver *solver)
{
    return solver->step_seconds;
}

uint64_t solver_step_received(const taut_solver *solver)
{
    return solver->step_received;
}

const struct stage_clock *solver_stage_clock(const taut_solver *solver)
{
    return solver->functions->clock(solver->system);
}

const char *solver_kernel_name(const taut_solver *solver)
{
    return solver->functions->kernel_name(solver->system);
}

int solver_force_evaluations(const taut_solver *solver)
{
    return solver->functions->evaluations(solver->system);
}

const struct energy_budget *solver_energy_budget(const taut_solver *solver)
{
    return solver->functions->work(solver->system);
}

const struct implicit_statistics *solver_implicit_statistics(const taut_solver *solver)
{
    return solver->functions->implicit(solver->system);
}

struct surface_cuts solver_surface_cuts(const taut_solver *solver)
{
    return solver->functions->surface_cuts(solver->system);
}

struct surface_counts solver_surface_counts(const taut_solver *solver)
{
    solver_begin_count(solver);
    return solver->functions->surface_counts(solver->system);
}

struct surface_stiffness solver_surface_stiffness(const taut_solver *solver, size_t body)
{
    return solver->functions->surface_stiffness(solver->system, body);
}

struct solver_relaxed solver_surface_relaxed(const taut_solver *solver)
{
    return solver->relaxed;
}

double solver_body_volume(const taut_solver *solver, size_t body)
{
    return solver->functions->volume(solver->system, body);
}

void solver_read_nodes(const taut_solver *solver, uint64_t first, uint64_t count, double *positions,
                       double *velocities, double *forces)
{
    if (solver_reads_parts(solver)) {
        double *const all[] = {positions, velocities, forces};
        for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i])
                solver_read_parts(solver, NODES_POSITIONS + i, first, count, all[i]);
        return;
    }
    solver_collect(solver);
    solver->functions->read_nodes(solver->system, first, count, positions, velocities, forces);
}

static uint32_t number_in_body(const struct topology *topology, const struct topology_body *body,
                               uint32_t node)
{
    return (uint32_t)(topology_builder_node(topology, node) - body->first_node);
}

void solver_read_own_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                          uint64_t count, uint32_t *nodes)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *it = &topology->bodies[body];
    const uint64_t all = it->first_spring + it->spring_count, begin = it->first_spring + first;
    for (uint64_t i = first; triangles && i < first + count; i++) {
        const struct face face = topology_body_face(topology, it, i);
        for (int corner = 0; corner < 3; corner++)
            *nodes++ = number_in_body(topology, it, face.nodes[corner]);
    }
    if (triangles)
        return;
    // Sorted springs, of few bodies, may be anywhere among those of theirs.
    const bool sorted = topology->sorted_count > 0 && it->direction_count == 0;
    uint64_t spring = sorted ? it->first_spring : begin;
    for (const uint64_t end = sorted ? all : begin + count; spring < end;) {
        const struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            const uint64_t number = topology_builder_spring(topology, spring + i);
            if (number < begin || number >= begin + count)
                continue;
            nodes[2 * (number - begin)] = number_in_body(topology, it, run.a + i);
            nodes[2 * (number - begin) + 1] = number_in_body(topology, it, run.b + i);
        }
        spring += run.count;
    }
}

void solver_read_list(const taut_solver *solver, size_t body, bool triangles, uint64_t first,
                      uint64_t count, uint32_t *nodes)
{
    if (!solver_read_absent_list(solver, body, triangles, first, count, nodes))
        solver_read_own_list(solver, body, triangles, first, count, nodes);
}

void solver_read_springs(const taut_solver *solver, double *strains, uint8_t *broken)
{
    solver_collect(solver);
    solver->functions->read_springs(solver->system, strains, broken);
}

uint64_t solver_bytes(const taut_solver *solver)
{
    struct held_part part;
    const bool held = solver_find_held(solver, &part);
    return sizeof *solver + topology_bytes(solver->topology) + plan_bytes(solver->plan) +
           solver->functions->bytes(solver->system, held ? &part : NULL);
}

uint64_t solver_first_step(const taut_solver *solver)
{
    return solver->steps_restored;
}

double solver_spring_updates(const taut_solver *solver)
{
    return (double)solver->topology->spring_count *
           (double)(solver->functions->steps(solver->system) - solver->steps_restored) *
           (double)solver->functions->evaluations(solver->system);
}

taut_kernel solver_kernel(const taut_solver *solver)
{
    return solver->kernel;
}

const char *kernel_choice_name(int kernel)
{
    static const char *const names[] = {[TAUT_KERNEL_AUTO] = "auto",
                                        [TAUT_KERNEL_REFERENCE] = "reference",
                                        [TAUT_KERNEL_PACKED] = "packed",
                                        [TAUT_KERNEL_GRID] = "grid",
                                        [TAUT_KERNEL_COLOURED] = "coloured"};
    bool known = kernel >= 0 && kernel < (int)(sizeof names / sizeof names[0]);
    return known ? names[kernel] : NULL;
}

const char *solver_body_kernel(const taut_solver *solver, size_t body)
{
    if (plan_grid_of_body(solver->plan, body))
        return "grid";
    switch (plan_off_grid_format(solver->plan)) {
    case PLAN_COLOURED:
        return "coloured";
    case PLAN_BLOCKS:
        return "blocks";
    default:
        return solver->functions->kernel_name(solver->system);
    }
}

// ---- Energies and hash

struct evaluate_arguments {
    taut_solver *solver;
    bool want_forces;
    taut_energy *energy;
};

static void evaluate(void *context, const struct worker *worker)
{
    struct evaluate_arguments *it = context;
    it->solver->functions->evaluate(it->solver->system, it->want_forces, it->energy, worker);
}

void solver_evaluate(taut_solver *solver, bool want_forces, taut_energy *energy)
{
    struct evaluate_arguments arguments = {solver, want_forces, energy};
    solver_begin_evaluation(solver, want_forces);
    const bool together = solver_begin_part(solver, PART_EVALUATE, want_forces);
    solver_work(solver, evaluate, &arguments);
    if (together)
        solver_end_part(solver);
}

taut_status taut_solver_energy(taut_solver *solver, taut_energy *energy, taut_error *error)
{
    solver_evaluate(solver, false, energy);
    return solver_is_whole(solver) ? TAUT_OK : fail_memory(error, "contact");
}

uint64_t taut_solver_hash(const taut_solver *solver)
{
    if (solver->only_part)
        return solver_hash_parts(solver);
    solver_collect(solver);
    return solver->functions->hash(solver->system);
}

// ---- Contacts

struct list_arguments {
    taut_solver *solver;
    struct contact_points points;
};

static void list_contacts(void *context, const struct worker *worker)
{
    struct list_arguments *it = context;
    it->solver->functions->contact_points(it->solver->system, &it->points, worker);
}

taut_status taut_solver_get_contact_points(taut_solver *solver, size_t capacity,
                                           taut_contact_point *points, uint64_t *count,
                                           taut_error *error)
{
    struct list_arguments all = {solver, {.items = points, .capacity = capacity}};
    solver_work(solver, list_contacts, &all);
    *count = all.points.count;
    return all.points.no_memory ? fail_memory(error, "the contact points") : TAUT_OK;
}

// ---- A frame of the present state

static void fill_lists(const struct topology *topology, const struct topology_body *body,
                       struct frame *frame)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            uint32_t *ends = frame->springs[topology_builder_spring(topology, spring + i)];
            ends[0] = number_in_body(topology, body, run.a + i);
            ends[1] = number_in_body(topology, body, run.b + i);
        }
        spring += run.count;
    }
    uint32_t *faces = frame->faces + 3 * body->first_face;
    for (uint64_t i = 0; i < body->face_count; i++) {
        struct face face = topology_body_face(topology, body, i);
        for (int corner = 0; corner < body->face_arity; corner++)
            faces[i * (uint64_t)body->face_arity + (uint64_t)corner] =
                number_in_body(topology, body, face.nodes[corner]);
    }
}

// Whether the state of some spring does not follow from positions alone: it can break or yield.
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

static void fill_body(const struct topology *topology, size_t index, struct frame *frame)
{
    const struct topology_body *body = &topology->bodies[index];
    struct frame_body *to = &frame->bodies[index];
    *to = (struct frame_body){
        .name = body->name,
        .first_node = body->first_node,
        .node_count = body->node_count,
        .first_spring = body->first_spring,
        .spring_count = body->spring_count,
        .face_count = body->face_count,
        .face_arity = body->face_arity,
        .springs_change = springs_change(topology, body),
    };
    if (body->type == BODY_CLOTH) {
        to->sheet[0] = body->grid[0];
        to->sheet[1] = body->grid[1];
    }
    if (frame->allocated & FRAME_LISTS) {
        fill_lists(topology, body, frame);
        to->springs = (const uint32_t(*)[2])frame->springs + body->first_spring;
        to->faces = frame->faces + 3 * body->first_face;
    }
}

taut_status solver_make_frame(const taut_solver *solver, unsigned fields, struct frame *frame,
                              taut_error *error)
{
    const struct topology *topology = solver->topology;
    const struct frame_shape shape = {
        .node_count = topology->node_count,
        .spring_count = topology->spring_count,
        .face_count = topology->face_count,
        .body_count = topology->body_count,
        .collider_count = topology->collider_count,
        .drawn_count = topology->spring_count,
    };
    taut_status status = frame_make(&shape, fields | FRAME_BODIES, frame, error);
    if (status != TAUT_OK)
        return status;
    for (size_t b = 0; b < topology->body_count; b++)
        fill_body(topology, b, frame);
    frame->fields = frame->allocated & (FRAME_BODIES | FRAME_LISTS);
    frame->single = solver->precision == PRECISION_SINGLE;
    return TAUT_OK;
}

static void read_energy(taut_solver *solver, bool want_forces, struct frame *frame)
{
    solver_evaluate(solver, want_forces, &frame->energy);
    const struct energy_budget *budget = solver_energy_budget(solver);
    frame->has_contact = solver->topology->has_contact;
    frame->has_work = budget != NULL;
    if (budget)
        memcpy(frame->work, budget->done, sizeof frame->work);
}

struct read_arguments {
    const taut_solver *solver;
    struct frame *frame;
};

static void read_drawn_positions(void *context, const struct worker *worker)
{
    const struct read_arguments *it = context;
    enum { BATCH = 512 };
    double batch[3 * BATCH];
    struct range share = worker_share(worker, (size_t)it->frame->shape.node_count, 16);
    for (size_t first = share.first; first < share.end; first += BATCH) {
        size_t count = share.end - first < BATCH ? share.end - first : BATCH;
        solver_read_nodes(it->solver, first, count, batch, NULL, NULL);
        for (size_t i = 0; i < 3 * count; i++)
            it->frame->drawn_positions[3 * first + i] = (float)batch[i];
    }
}

static void read_colliders(const taut_solver *solver, struct frame *frame)
{
    for (size_t c = 0; c < frame->shape.collider_count; c++) {
        frame->colliders[c] = (struct frame_collider){0};
        if (solver->topology->colliders[c].type == COLLIDER_MESH) {
            const vec3 translate = solver_mesh_translate(solver, c);
            frame->colliders[c].translate[0] = translate.x;
            frame->colliders[c].translate[1] = translate.y;
            frame->colliders[c].translate[2] = translate.z;
        }
        if (solver->topology->colliders[c].type != COLLIDER_SPHERE)
            continue;
        struct sphere_state sphere = solver_sphere(solver, c);
        frame->colliders[c] = (struct frame_collider){
            .centre = {(float)sphere.centre.x, (float)sphere.centre.y, (float)sphere.centre.z},
            .radius = (float)sphere.radius};
    }
}

// Reads the contacts into a frame, which has none without memory.
static bool read_contacts(taut_solver *solver, struct frame *frame)
{
    const size_t capacity = frame->shape.contact_capacity;
    struct list_arguments all = {solver, {.capacity = capacity, .spread = true}};
    frame->contact_count = 0;
    all.points.items = memory_allocate(NULL, capacity, sizeof *all.points.items);
    if (!all.points.items)
        return false;
    solver_work(solver, list_contacts, &all);
    const bool listed = !all.points.no_memory;
    if (listed) {
        frame->all_contacts = all.points.count;
        frame->contact_count =
            (size_t)((all.points.count + all.points.every - 1) / all.points.every);
    }
    for (size_t i = 0; i < frame->contact_count; i++) {
        const taut_contact_point *from = &all.points.items[i];
        struct frame_contact *to = &frame->contacts[i];
        for (int axis = 0; axis < 3; axis++) {
            to->point[axis] = (float)from->point[axis];
            to->normal[axis] = (float)from->normal[axis];
        }
        to->force = (float)from->force;
        to->friction = (uint32_t)from->friction;
    }
    memory_release(NULL, all.points.items, capacity, sizeof *all.points.items);
    return listed;
}

static void read_frame_header(const taut_solver *solver, struct frame *frame)
{
    frame->step = taut_solver_step_count(solver);
    frame->time = taut_solver_time(solver);
    frame->single = solver->precision == PRECISION_SINGLE;
    frame_set_wind(frame, &solver->topology->environment.wind);
}

void solver_read_frame(taut_solver *solver, unsigned fields, struct frame *frame)
{
    const uint64_t nodes = frame->shape.node_count;
    const unsigned constant = frame->fields & (FRAME_BODIES | FRAME_LISTS);
    const bool want_forces = fields & FRAME_FORCES; // also for a piece, which another frame has
    fields &= frame->allocated;
    if (!solver->topology->any_breaks)
        fields &= ~(unsigned)(FRAME_BROKEN | FRAME_DRAWN_BROKEN);
    if (fields & FRAME_ENERGY || want_forces)
        read_energy(solver, want_forces, frame);
    if (frame->volumes && fields & (FRAME_ENERGY | FRAME_FORCES | FRAME_VOLUMES))
        for (size_t b = 0; b < frame->shape.body_count; b++)
            frame->volumes[b] = solver_body_volume(solver, b);
    if (fields & (FRAME_POSITIONS | FRAME_VELOCITIES | FRAME_FORCES))
        solver_read_nodes(solver, 0, nodes, fields & FRAME_POSITIONS ? frame->positions : NULL,
                          fields & FRAME_VELOCITIES ? frame->velocities : NULL,
                          fields & FRAME_FORCES ? frame->forces : NULL);
    if (fields & FRAME_DRAWN_POSITIONS)
        solver_work(solver, read_drawn_positions, &(struct read_arguments){solver, frame});
    if (fields & FRAME_STRAINS)
        solver_read_springs(solver, frame->strains, fields & FRAME_BROKEN ? frame->broken : NULL);
    if (fields & FRAME_COLLIDERS)
        read_colliders(solver, frame);
    if (fields & FRAME_CONTACTS && !read_contacts(solver, frame))
        fields &= ~(unsigned)FRAME_CONTACTS;
    read_frame_header(solver, frame);
    frame->has_mouse_spring = false;
    frame->fields = constant | fields;
    if (fields & FRAME_DRAWN_SPRINGS)
        frame_select_drawn_springs(frame);
}

void solver_read_frame_node(const taut_solver *solver, uint64_t node, struct frame *frame)
{
    read_frame_header(solver, frame);
    solver_read_nodes(solver, node, 1, frame->positions + 3 * node, frame->velocities + 3 * node,
                      NULL);
    frame->fields &= FRAME_BODIES | FRAME_LISTS;
}

// ---- For tests and benchmarks of single stages

struct system *solver_system(const taut_solver *solver)
{
    return solver->system;
}

const struct plan *solver_plan(const taut_solver *solver)
{
    return solver->plan;
}

struct topology *solver_topology_for_tests(taut_solver *solver)
{
    return solver->topology;
}

struct plan *solver_plan_for_tests(taut_solver *solver)
{
    return solver->plan;
}

double solver_critical_up_to(taut_solver *solver, double most, const struct worker *worker)
{
    return solver->functions->critical_up_to(solver->system, most, worker);
}

void solver_change_dt(taut_solver *solver, double dt, const struct worker *worker)
{
    solver->functions->change_dt(solver->system, dt, worker);
}
