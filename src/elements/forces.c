// The forces of elements: block by block by the kernels of the instruction set, or one by one where
// the plan is the plain reference (kernels/kernels.h), with which the kernels are compared.
#include "elements/parts.h"

#include "base/sort.h"
#include "springs/springs.h"
#include "state/reading.h"

static void add_to_node(struct state *s, uint32_t node, vec3 force)
{
    s->fx[node] += (real)force.x;
    s->fy[node] += (real)force.y;
    s->fz[node] += (real)force.z;
}

static void add_triangle(const struct system *system, const struct element *element)
{
    const struct triangle triangle = REAL_NAME(element_triangle)(system, element, true);
    double tensions[3];
    triangle_damped_tensions(&triangle, tensions);
    for (int i = 0; i < 3; i++)
        add_to_node(system->state, element->nodes[i],
                    vec3_scale(-2, triangle_corner(i, tensions, triangle.edges)));
}

static void add_element(const struct system *system, void *unused, const struct element *element)
{
    (void)unused;
    struct state *s = system->state;
    if (element->kind == ELEMENT_TRIANGLE) {
        add_triangle(system, element);
        return;
    }
    if (element_is_linear(element)) {
        const signed char *weights = REAL_NAME(element_weights)(element->kind);
        vec3 sum = {0, 0, 0};
        for (int i = 0; i < element->count; i++) {
            const vec3 x = node_position(s, element->nodes[i]);
            const vec3 v = node_velocity(s, element->nodes[i]);
            sum = vec3_add(sum, vec3_scale(weights[i], vec3_add(x, vec3_scale(element->time, v))));
        }
        for (int i = 0; i < element->count; i++)
            add_to_node(s, element->nodes[i], vec3_scale(-weights[i] * element->stiffness, sum));
        return;
    }
    const struct cell cell = REAL_NAME(element_cell)(s, element);
    bool linear;
    const double force = cell_force(element, cell.measure, &linear) +
                         element->time * fabs(element->stiffness) * cell.rate;
    for (int i = 0; i < element->count; i++)
        add_to_node(s, element->nodes[i], vec3_scale(-force, cell.gradient[i]));
}

// Adds a block of a lattice: those of its layers that this rank computes, which are consecutive.
static void add_solid(struct system *system, const struct elements_body *body,
                      const int64_t block[3], bool powers)
{
    double sums[ELEMENT_SOLID_LAYERS] = {0};
    const int64_t first = block[2] * ELEMENT_SOLID_LAYERS, left = body->grid[2] - first;
    const int64_t count = left < ELEMENT_SOLID_LAYERS ? left : ELEMENT_SOLID_LAYERS;
    int64_t from = 0, to;
    while (from < count &&
           !elements_part_is_computed(system, element_part(body, block[0], block[1], first + from)))
        from++;
    for (to = from; to < count && elements_part_is_computed(
                                      system, element_part(body, block[0], block[1], first + to));)
        to++;
    const struct range layers = {(size_t)(first + from), (size_t)(first + to)};
    if (from < to)
        system->kernels->element_solid(system, body, block, layers, powers ? sums + from : NULL);
    for (int64_t k = 0; k < count; k++)
        system->elements->powers[element_part(body, block[0], block[1], first + k)] = sums[k];
}

static void add_block(struct system *system, size_t number, bool swept, bool powers)
{
    struct element_set *elements = system->elements;
    const struct elements_body *body = &elements->bodies[find_interval(
        &elements->bodies->first_block, sizeof *elements->bodies, elements->body_count, number)];
    const int64_t inside = (int64_t)(number - body->first_block);
    const int64_t block[3] = {inside % body->blocks[0], inside / body->blocks[0] % body->blocks[1],
                              inside / (body->blocks[0] * body->blocks[1])};
    if (elements_are_solid(body)) {
        add_solid(system, body, block, powers && body->damped);
        return;
    }
    const size_t part = element_part(body, block[0], block[1], 0);
    elements->powers[part] = 0;
    if ((swept || !body->swept) && elements_part_is_computed(system, part))
        elements->powers[part] = system->kernels->element_sheet(system, body, block, powers);
}

// A block of triangles.
static void add_triangles(const struct system *system, const void *argument,
                          struct plan_block block)
{
    struct element_set *elements = system->elements;
    const bool *powers = argument;
    const struct range range = {(size_t)block.first, (size_t)(block.first + block.count)};
    const size_t number = elements->part_count + block.number;
    if (elements_part_is_computed(system, number))
        elements->powers[number] = system->kernels->element_triangles(system, range, *powers);
}

// A chunk of nodes that bend.
static void add_bending(struct system *system, size_t chunk, bool powers)
{
    struct element_set *elements = system->elements;
    const struct element_bending *bending = &elements->bending;
    struct state *s = system->state;
    const struct node_vectors x = {s->x, s->y, s->z}, v = {s->vx, s->vy, s->vz};
    const struct range nodes = bending_chunk(bending, chunk);
    const size_t number = elements->part_count + elements->triangles.set.block_count + chunk;
    double power = 0;
    if (!elements_part_is_computed(system, number))
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        if (bending->folds.count > 0)
            add_to_node(s, (uint32_t)node, REAL_NAME(folds_force)(&bending->folds, node));
        if (bending->starts[node] == bending->starts[node + 1])
            continue;
        vec3 sum = REAL_NAME(bending_row)(bending, node, x);
        const double time = (double)bending->times[node];
        if (time > 0) {
            const vec3 rate = vec3_scale(time, REAL_NAME(bending_row)(bending, node, v));
            sum = vec3_add(sum, rate);
            power += powers ? vec3_dot(rate, node_velocity(s, node)) : 0;
        }
        add_to_node(s, (uint32_t)node, vec3_scale(-1, sum));
    }
    elements->powers[number] = power;
}

void REAL_NAME(elements_add)(struct system *system, bool swept, bool powers,
                             const struct worker *worker)
{
    struct element_set *elements = system->elements;
    struct range range;
    if (!elements || (elements->all_swept && !swept))
        return;
    if (!system->kernels->element_sheet) {
        const struct range all = {0, (size_t)system->state->nodes};
        REAL_NAME(elements_scatter)(system, all, false, add_element, NULL, worker);
    } else {
        while (worker_claim(worker, elements->block_count, 1, &range))
            add_block(system, range.first, swept, powers);
        if (elements->triangles.count > 0) {
            worker_barrier(worker);
            REAL_NAME(run_coloured)
            (system, &elements->triangles.set, add_triangles, &powers, worker);
        }
    }
    if (elements->bending.folds.count > 0) // after a barrier: they come with triangles
        REAL_NAME(folds_pull)
    (system,
     powers
         ? elements->powers + element_power_count(elements) - folds_chunks(&elements->bending.folds)
         : NULL,
     worker);
    if (elements->bending.nodes > 0) // after a barrier, too
        while (worker_claim(worker, bending_chunks(&elements->bending), 1, &range))
            add_bending(system, range.first, powers);
    stage_end(&system->clock, STAGE_ELEMENTS, worker);
}

double REAL_NAME(elements_measured_power)(const struct system *system)
{
    double power = 0;
    const struct element_set *elements = system->elements;
    for (size_t part = 0; elements && part < element_power_count(elements); part++)
        power += elements->powers[part];
    return power;
}
