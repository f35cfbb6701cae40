// Planes, spheres and rooms with `response: contact` at the stages of an implicit step: the rows of
// their contacts (surface_tangent.h), whose fourth node stands for the collider.
//
// As between surfaces, a stage is evaluated at a guess, at which a node may be inside of a shape,
// or beyond it. Below a distance of 0 the barrier goes on as a linear spring, which pushes what is
// inside a plane or a wall back, and a triangle out of a sphere along the line from its centre.
// What has passed through a sphere since the start of the step is found by the point that was
// nearest to the centre there, and pushed back in the direction in which it was.
#include "contact/culling.h"
#include "contact/shape_contact.h"
#include "contact/surface_tangent.h"
#include "state/reading.h"

// ---- Rows

// Nodes that a shape pushes along a direction, with weights that add up to 1.
struct pushed {
    size_t body, collider;
    int count;
    uint32_t nodes[3];
    double weights[3];
    vec3 direction;
    double distance;
};

static bool add_row(const struct system *system, struct row_list *rows, const struct pushed *it)
{
    const struct barrier barrier = shape_barrier(system, it->body);
    const real distance = (real)it->distance;
    struct surface_row row = {
        .direction = {(real)it->direction.x, (real)it->direction.y, (real)it->direction.z},
        .force = barrier_force(&barrier, distance),
        .stiffness = barrier_curvature(&barrier, distance),
        .crossed = it->distance < 0,
    };
    for (int i = 0; i < 3; i++) {
        row.nodes[i] = it->nodes[i < it->count ? i : 0];
        row.weights[i] = i < it->count ? (real)it->weights[i] : 0;
    }
    row.nodes[3] = row_node_of_shape(system, it->collider);
    row.weights[3] = -1;
    return REAL_NAME(surface_row_add)(rows, &row);
}

// ---- Spheres

// A sphere at the start of the step and at the stage.
struct sphere_motion {
    size_t collider;
    struct surface start, now;
    vec3 moved;
};

static struct sphere_motion sphere_motion(const struct system *system, size_t collider)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const struct surface start = surface_at(system, collider, shapes->start_time),
                         now = surface_at(system, collider, shapes->time);
    return (struct sphere_motion){collider, start, now, vec3_subtract(now.centre, start.centre)};
}

static vec3 nearest_to_centre(const vec3 at[3], int count, double weights[3])
{
    const vec3 centre = {0, 0, 0};
    if (count > 1)
        return nearest_of_part(centre, at, count, weights);
    weights[0] = 1;
    return at[0];
}

static vec3 weighted(const vec3 at[3], const double weights[3], int count)
{
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++)
        sum = vec3_add(sum, vec3_scale(weights[i], at[i]));
    return sum;
}

// Whether a part has passed through a sphere: the point that was nearest at the start is on the
// other side of the centre, at the height `height` along the direction `out` of the start, and
// where straight paths bring that point to the plane through the centre the part is in the sphere.
// Positions are from the centre.
static bool passes_through(const vec3 start[3], const vec3 now[3], int count, vec3 out,
                           double height, double radius)
{
    const double before = vec3_length(out);
    vec3 between[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double weights[3];
    if (!(height < 0))
        return false;
    const double part = before / (before - height);
    for (int i = 0; i < count; i++)
        between[i] = vec3_add(vec3_scale(1 - part, start[i]), vec3_scale(part, now[i]));
    return vec3_length(nearest_to_centre(between, count, weights)) < radius;
}

// A node, an edge or a triangle.
static bool add_part(const struct system *system, struct row_list *rows,
                     const struct sphere_motion *sphere, struct pushed *it)
{
    const double reach = (double)shape_barrier(system, it->body).reach;
    const double radius = sphere->now.radius;
    vec3 start[3], now[3];
    double most = 0, start_weights[3];
    for (int i = 0; i < it->count; i++) {
        start[i] = vec3_subtract(shape_start(system, it->nodes[i]), sphere->start.centre);
        now[i] = vec3_subtract(node_position(system->state, it->nodes[i]), sphere->now.centre);
        most = fmax(most, vec3_length(vec3_subtract(now[i], start[i])));
    }
    const vec3 out = nearest_to_centre(now, it->count, it->weights);
    const double length = vec3_length(out);
    it->distance = length - radius;
    it->direction = vec3_scale(length > 0 ? 1 / length : 0, out);
    // Without a motion of at least the radius nothing passes the centre.
    if (most > radius) {
        const vec3 before = nearest_to_centre(start, it->count, start_weights);
        const double away = vec3_length(before);
        const vec3 direction = vec3_scale(away > 0 ? 1 / away : 0, before);
        const double height = vec3_dot(direction, weighted(now, start_weights, it->count));
        if (passes_through(start, now, it->count, before, height, radius)) {
            for (int i = 0; i < it->count; i++)
                it->weights[i] = start_weights[i];
            it->distance = height - radius;
            it->direction = direction;
        }
    }
    const bool acts = it->distance < reach && vec3_dot(it->direction, it->direction) > 0;
    return !acts || add_row(system, rows, it);
}

// A box from the centre at the start, which contains nodes there and at the stage.
static void include_motion(struct block_box *box, const struct block_box *now, vec3 moved)
{
    box_include(box, vec3_subtract(vec3_make(now->least[0], now->least[1], now->least[2]), moved));
    box_include(box, vec3_subtract(vec3_make(now->most[0], now->most[1], now->most[2]), moved));
}

static bool find_nodes_at_sphere(const struct system *system, struct row_list *rows,
                                 const struct shape_chunk *chunk, size_t number, size_t collider)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const struct sphere_motion sphere = sphere_motion(system, collider);
    struct block_box box = no_box();
    include_motion(&box, &shapes->start_boxes[number], vec3_make(0, 0, 0));
    include_motion(&box, &shapes->boxes[number], sphere.moved);
    if (!REAL_NAME(surface_is_near_box)(&sphere.start, &box,
                                        (double)shape_barrier(system, chunk->body).reach))
        return true;
    for (size_t node = chunk->nodes.first; node < chunk->nodes.end; node++) {
        struct pushed it = {.body = chunk->body, .collider = collider, .count = 1};
        it.nodes[0] = (uint32_t)node;
        if (!add_part(system, rows, &sphere, &it))
            return false;
    }
    return true;
}

// The triangles or edges of a block.
static bool find_in_block(const struct system *system, struct row_list *rows, size_t b)
{
    const struct surface_contact *contact = system->surface_contact;
    const struct shape_contact *shapes = contact->shapes;
    const struct surfaces *surfaces = &contact->surfaces;
    const struct surface_block *block = &surfaces->blocks[b];
    const size_t bodies = system->topology->body_count;
    for (size_t k = 0; k < shapes->sphere_count && block->body < bodies; k++) {
        struct block_box box = no_box();
        if (!shapes->body_near[k * bodies + block->body])
            continue;
        const struct sphere_motion sphere = sphere_motion(system, shapes->spheres[k]);
        for (uint32_t i = 0; i < block->nodes; i++) {
            const uint32_t node = surfaces->nodes[block->first_node + i];
            box_include(&box, shape_start(system, node));
            box_include(&box, vec3_subtract(node_position(system->state, node), sphere.moved));
        }
        if (!REAL_NAME(surface_is_near_box)(&sphere.start, &box,
                                            (double)shape_barrier(system, block->body).reach))
            continue;
        for (size_t part = 0; part < block_parts(block); part++) {
            struct pushed it = {.body = block->body, .collider = sphere.collider};
            int local[3];
            it.count = part_nodes(surfaces, block, part, local);
            for (int i = 0; i < it.count; i++)
                it.nodes[i] = surfaces->nodes[block->first_node + (uint32_t)local[i]];
            if (!add_part(system, rows, &sphere, &it))
                return false;
        }
    }
    return true;
}

// ---- Planes and rooms

static bool find_nodes_at_walls(const struct system *system, struct row_list *rows,
                                const struct shape_chunk *chunk, size_t number, size_t collider)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const struct block_box *box = &shapes->boxes[number];
    const struct surface surface = surface_at(system, collider, shapes->time);
    const double reach = (double)shape_barrier(system, chunk->body).reach;
    uint64_t near[BLOCK_WORDS];
    if (!REAL_NAME(surface_is_near_box)(&surface, box, reach) ||
        !REAL_NAME(find_near)(system, &surface, box, reach, chunk->nodes, near))
        return true;
    for (int word = 0; word < BLOCK_WORDS; word++)
        for (uint64_t left = near[word]; left != 0; left &= left - 1) {
            const size_t node = chunk->nodes.first + 64 * (size_t)word + (size_t)lowest_bit(left);
            struct contact contacts[6];
            const int count =
                surface_contacts(&surface, node_position(system->state, node), reach, contacts);
            for (int i = 0; i < count; i++) {
                struct pushed it = {.body = chunk->body,
                                    .collider = collider,
                                    .count = 1,
                                    .weights = {1},
                                    .direction = contacts[i].normal,
                                    .distance = -contacts[i].depth};
                it.nodes[0] = (uint32_t)node;
                if (!add_row(system, rows, &it))
                    return false;
            }
        }
    return true;
}

// ---- A stage

void REAL_NAME(shape_stage_begin)(struct system *system, double time, const struct worker *worker)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    if (shapes->assumed) { // friction acts where the forces do that are not of rows
        REAL_NAME(shape_contact_find)(system, time, false, worker);
    } else {
        worker_barrier(worker); // all have finished with the last evaluation
        if (worker->index == 0)
            shapes->time = time;
        const struct range share = worker_share(worker, shapes->chunk_count, 1);
        for (size_t i = share.first; i < share.end; i++)
            shapes->boxes[i] = box_of_nodes(system, shapes->chunks[i].nodes);
        worker_barrier(worker);
    }
    if (worker->index == 0)
        (void)REAL_NAME(shape_bodies_find)(system, time);
    worker_barrier(worker);
}

static struct range share_of(size_t count, size_t part)
{
    return (struct range){count * part / SHAPE_LISTS, count * (part + 1) / SHAPE_LISTS};
}

bool REAL_NAME(shape_rows_find)(struct system *system, size_t part, struct row_list *rows)
{
    const struct surface_contact *it = system->surface_contact;
    const struct shape_contact *shapes = it->shapes;
    const struct range chunks = share_of(shapes->chunk_count, part),
                       blocks = share_of(it->surfaces.block_count, part);
    rows->count = rows->entries = 0;
    for (size_t i = chunks.first; i < chunks.end; i++)
        for (size_t c = 0; c < shapes->count; c++) {
            const size_t collider = shapes->colliders[c];
            const bool sphere = system->topology->colliders[collider].type == COLLIDER_SPHERE;
            const struct shape_chunk *chunk = &shapes->chunks[i];
            if (sphere && !shapes->bare[chunk->body])
                continue;
            if (!(sphere ? find_nodes_at_sphere : find_nodes_at_walls)(system, rows, chunk, i,
                                                                       collider))
                return false;
        }
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (!find_in_block(system, rows, b))
            return false;
    return REAL_NAME(shape_friction_rows)(system, part, chunks, blocks, rows);
}
