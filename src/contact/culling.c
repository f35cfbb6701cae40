// Culling of nodes that touch nothing (culling.h). Numeric.
#include "contact/culling.h"

// ---- Bounding boxes

double REAL_NAME(contact_greatest_length)(const struct system *system, const real *x, const real *y,
                                          const real *z, struct range nodes)
{
    const struct block_box box = box_of(system, x, y, z, nodes);
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        double size = max_of(fabs(box.least[axis]), fabs(box.most[axis]));
        square += size * size;
    }
    return sqrt(square);
}

// ---- Clear boxes

void REAL_NAME(make_clear)(const struct system *system, enum collider_response response,
                           double time, const struct block_box *box, struct clear_box *clear)
{
    const struct topology *topology = system->topology;
    double clearance = HUGE_VAL;
    clear->known = false;
    for (size_t c = 0; c < topology->collider_count; c++) {
        if (topology->colliders[c].response != response)
            continue;
        const struct surface surface = surface_at(system, c, time);
        if (!(vec3_length(surface.velocity) == 0))
            return;
        clearance = fmin(clearance, REAL_NAME(surface_clearance)(&surface, box));
    }
    if (!(clearance > 0))
        return;

    // Part of the clearance is reserved for slack: the displacement of nodes in a step.
    const double grows = 0.4 * clearance;
    const vec3 origin = system->state->origin;
    const double from[3] = {origin.x, origin.y, origin.z};
    struct block_box grown = {.reach = 0};
    clear->slack = 0.5 * clearance;
    for (int axis = 0; axis < 3; axis++) {
        clear->least[axis] = (real)(box->least[axis] - from[axis] - grows);
        clear->most[axis] = (real)(box->most[axis] - from[axis] + grows);
        grown.least[axis] = from[axis] + (double)clear->least[axis];
        grown.most[axis] = from[axis] + (double)clear->most[axis];
        grown.reach = max_of(grown.reach, max_of(fabs(grown.least[axis]), fabs(grown.most[axis])));
    }
    bool known = block_slack(&grown) <= clear->slack && box->least[0] <= box->most[0];
    for (size_t c = 0; c < topology->collider_count && known; c++) {
        if (topology->colliders[c].response != response)
            continue;
        const struct surface surface = surface_at(system, c, time);
        known = !REAL_NAME(surface_is_near_box)(&surface, &grown, clear->slack);
    }
    clear->known = known;
}

void REAL_NAME(colliders_changed)(struct system *system)
{
    for (size_t block = 0; block < system->contacts.blocks; block++)
        for (int response = 0; response < 2; response++)
            system->contacts.clear[block][response].known = false;
}

// ---- Nodes that may touch

bool REAL_NAME(find_near)(const struct system *system, const struct surface *surface,
                          const struct block_box *box, double slack, struct range nodes,
                          uint64_t near[BLOCK_WORDS])
{
    const struct near_shape shape =
        REAL_NAME(surface_near_shape)(surface, box, slack, system->state->origin);
    uint64_t any = 0;
    for (int word = 0; word < BLOCK_WORDS; word++) {
        size_t first = nodes.first + 64 * (size_t)word;
        size_t count = first >= nodes.end ? 0 : nodes.end - first < 64 ? nodes.end - first : 64;
        near[word] = 0;
        if (count > 0)
            near[word] = system->kernels->nodes_near(system->state, first, (int)count, &shape);
        any |= near[word];
    }
    return any != 0;
}

bool REAL_NAME(contacts_within)(const struct system *system, enum collider_response response,
                                double time, struct range nodes, double slack,
                                uint64_t near[CONTACT_BLOCK / 64])
{
    const struct node_box found = find_node_box(system, nodes);
    struct clear_box *clear = clear_box_of(system, nodes, response);
    bool any = false;
    for (int word = 0; word < BLOCK_WORDS; word++)
        near[word] = 0;
    if (is_clear(clear, &found, slack))
        return false;
    const struct block_box box = block_box_of_nodes(system, &found);
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        struct surface surface;
        uint64_t of_this[BLOCK_WORDS];
        if (!find_near_collider(system, c, response, time, &box, slack, nodes, &surface, of_this))
            continue;
        any = true;
        for (int word = 0; word < BLOCK_WORDS; word++)
            near[word] |= of_this[word];
    }
    if (!any)
        REAL_NAME(make_clear)(system, response, time, &box, clear);
    return any;
}
