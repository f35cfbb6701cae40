// The forces of elements: block by block by the kernels of the instruction set, or one by one where
// the plan is the plain reference (kernels/kernels.h), with which the kernels are compared.
#include "elements/elements.h"

#include "base/sort.h"
#include "state/reading.h"

static void add_to_node(struct state *s, uint32_t node, vec3 force)
{
    s->fx[node] += (real)force.x;
    s->fy[node] += (real)force.y;
    s->fz[node] += (real)force.z;
}

static void add_element(const struct system *system, void *unused, const struct element *element)
{
    (void)unused;
    struct state *s = system->state;
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

static void add_block(struct system *system, size_t number, bool powers)
{
    struct element_set *elements = system->elements;
    const struct elements_body *body = &elements->bodies[find_interval(
        &elements->bodies->first_block, sizeof *elements->bodies, elements->body_count, number)];
    const int64_t inside = (int64_t)(number - body->first_block);
    const int64_t block[3] = {inside % body->blocks[0], inside / body->blocks[0] % body->blocks[1],
                              inside / (body->blocks[0] * body->blocks[1])};
    const bool is_lattice = body->constants[ELEMENT_VOLUME].stiffness != 0;
    elements->powers[number] =
        (is_lattice ? system->kernels->element_solid
                    : system->kernels->element_sheet)(system, body, block, powers);
}

void REAL_NAME(elements_add)(struct system *system, bool powers, const struct worker *worker)
{
    if (!system->elements)
        return;
    if (!system->kernels->element_sheet) {
        REAL_NAME(elements_scatter)(system, add_element, NULL, worker);
    } else {
        struct range range;
        while (worker_claim(worker, system->elements->block_count, 1, &range))
            add_block(system, range.first, powers);
    }
    stage_end(&system->clock, STAGE_ELEMENTS, worker);
}

double REAL_NAME(elements_measured_power)(const struct system *system)
{
    double power = 0;
    for (size_t block = 0; system->elements && block < system->elements->block_count; block++)
        power += system->elements->powers[block];
    return power;
}
