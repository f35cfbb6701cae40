// The tangent of wind and gas (tangent.h): the contribution of each face to a product, and the
// gradient of the volume.
#include "faces/tangent.h"

#include "base/memory.h"
#include "faces/face.h"
#include "faces/faces.h"
#include "state/reading.h"

static bool takes_part(const struct face_tangent *tangent, size_t body)
{
    return tangent->any_wind || tangent->system->topology->bodies[body].pressure.present;
}

static int corners_of(const uint32_t nodes[3])
{
    return nodes[2] == FACE_EDGE ? 2 : 3;
}

static bool has_corner_in(struct range nodes, const uint32_t corners[3])
{
    bool any = false;
    for (int corner = 0; corner < corners_of(corners); corner++)
        any |= range_has(nodes, corners[corner]);
    return any;
}

// The nodes whose faces are listed: all, or, on a rank that holds only its part, those of items
// with rows of its own, which reach up to the end of its last chunk (springs/shares.h).
static struct range find_listed(const struct system *system)
{
    const size_t nodes = (size_t)system->state->nodes;
    const struct range known = system->known_nodes;
    if (known.end - known.first == nodes)
        return known;
    const size_t more = SUM_CHUNK + TANGENT_ITEM_NODES;
    return (struct range){known.first > TANGENT_ITEM_NODES ? known.first - TANGENT_ITEM_NODES : 0,
                          nodes - known.end > more ? known.end + more : nodes};
}

// Called for each face that is listed, in order.
typedef void visit_face(struct face_tangent *tangent, size_t body, const struct face *face);

static void visit_faces(struct face_tangent *tangent, visit_face *visit)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        for (uint64_t i = 0; takes_part(tangent, b) && i < body->face_count; i++) {
            const struct face face = topology_body_face(topology, body, i);
            if (has_corner_in(tangent->listed, face.nodes))
                visit(tangent, b, &face);
        }
    }
}

static void count_face(struct face_tangent *tangent, size_t body, const struct face *face)
{
    (void)body;
    tangent->faces.count++;
    for (int corner = 0; corner < corners_of(face->nodes); corner++)
        tangent->faces.corners += range_has(tangent->listed, face->nodes[corner]);
}

static void list_face(struct face_tangent *tangent, size_t body, const struct face *face)
{
    struct face_rows *faces = &tangent->faces;
    for (int corner = 0; corner < 3; corner++)
        faces->nodes[faces->count][corner] = face->nodes[corner];
    faces->body[faces->count++] = (uint32_t)body;
}

static bool allocate_faces(struct face_tangent *tangent)
{
    struct face_rows *faces = &tangent->faces;
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = (size_t)faces->count;
    faces->nodes = memory_allocate(allocator, count, sizeof *faces->nodes);
    faces->body = memory_allocate(allocator, count, sizeof *faces->body);
    faces->drag = memory_allocate(allocator, count, sizeof *faces->drag);
    faces->force = memory_allocate(allocator, count, sizeof *faces->force);
    faces->first = memory_allocate(allocator, tangent->nodes + 1, sizeof *faces->first);
    faces->at = memory_allocate(allocator, (size_t)faces->corners, sizeof *faces->at);
    if (!faces->nodes || !faces->body || !faces->drag || !faces->force || !faces->first ||
        !faces->at)
        return false;
    if (!tangent->any_gas)
        return true;
    real **gradient[3] = {&tangent->gradient.x, &tangent->gradient.y, &tangent->gradient.z};
    for (int axis = 0; axis < 3; axis++) {
        *gradient[axis] = memory_allocate(allocator, tangent->nodes, sizeof(real));
        if (!*gradient[axis])
            return false;
    }
    return true;
}

static void list_faces_of_nodes(struct face_tangent *tangent)
{
    struct face_rows *faces = &tangent->faces;
    const struct range listed = tangent->listed;
    for (uint64_t i = 0; i < faces->count; i++)
        for (int corner = 0; corner < corners_of(faces->nodes[i]); corner++)
            if (range_has(listed, faces->nodes[i][corner]))
                faces->first[faces->nodes[i][corner]]++;
    uint64_t sum = 0;
    for (size_t node = listed.first; node < listed.end; node++)
        sum = faces->first[node] += sum;
    faces->first[listed.end] = sum;
    for (uint64_t i = faces->count; i-- > 0;)
        for (int corner = 0; corner < corners_of(faces->nodes[i]); corner++)
            if (range_has(listed, faces->nodes[i][corner]))
                faces->at[--faces->first[faces->nodes[i][corner]]] = (uint32_t)i;
}

taut_status REAL_NAME(face_tangent_make)(struct system *system, struct face_tangent *tangent,
                                         taut_error *error)
{
    *tangent = (struct face_tangent){.system = system, .nodes = (size_t)system->state->nodes};
    tangent->rows = (struct range){0, tangent->nodes};
    tangent->listed = find_listed(system);
    const struct topology *topology = system->topology;
    struct face_rows *faces = &tangent->faces;
    tangent->any_wind = topology_wind_damps_faces(topology);
    tangent->gas =
        memory_allocate(tangent->system->allocator, topology->body_count, sizeof *tangent->gas);
    if (!tangent->gas)
        return fail_memory(error, "the tangent of faces");
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        tangent->gas[b].present = body->pressure.present;
        tangent->any_gas |= body->pressure.present;
    }
    visit_faces(tangent, count_face);
    if (faces->count == 0)
        return TAUT_OK;
    if (!allocate_faces(tangent))
        return fail_memory(error, "the tangent of faces");
    faces->count = 0;
    visit_faces(tangent, list_face);
    list_faces_of_nodes(tangent);
    return TAUT_OK;
}

void REAL_NAME(face_tangent_free)(struct face_tangent *tangent)
{
    if (!tangent->system)
        return;
    struct face_rows *faces = &tangent->faces;
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = (size_t)faces->count;
    memory_release(allocator, faces->nodes, count, sizeof *faces->nodes);
    memory_release(allocator, faces->body, count, sizeof *faces->body);
    memory_release(allocator, faces->drag, count, sizeof *faces->drag);
    memory_release(allocator, faces->force, count, sizeof *faces->force);
    memory_release(allocator, faces->first, tangent->nodes + 1, sizeof *faces->first);
    memory_release(allocator, faces->at, (size_t)faces->corners, sizeof *faces->at);
    memory_release(allocator, tangent->gradient.x, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gradient.y, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gradient.z, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gas, tangent->system->topology->body_count,
                   sizeof *tangent->gas);
}

uint64_t REAL_NAME(face_tangent_bytes)(const struct face_tangent *tangent)
{
    const struct face_rows *faces = &tangent->faces;
    uint64_t bytes = tangent->system->topology->body_count * sizeof *tangent->gas;
    if (faces->count == 0)
        return bytes;
    bytes += faces->count * (sizeof *faces->nodes + sizeof *faces->body + sizeof *faces->drag +
                             sizeof *faces->force);
    bytes += (tangent->nodes + 1) * sizeof *faces->first + faces->corners * sizeof *faces->at;
    return bytes + (tangent->any_gas ? 3 * tangent->nodes * sizeof(real) : 0);
}

// ---- Gas

static void update_gas(struct face_tangent *tangent, struct evaluation evaluation)
{
    const struct system *system = tangent->system;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        double volume = system->state->volume[b];
        if (!gas->present)
            continue;
        tangent->gas[b].pressure = tangent->gas[b].slope = 0;
        if (!(volume > 0))
            continue;
        double amount = REAL_NAME(gas_amount)(system, b, evaluation.gas_step);
        double pressure =
            REAL_NAME(gas_pressure)(gas, amount, volume, system->state->volume_built[b]);
        tangent->gas[b].pressure = (real)pressure;
        tangent->gas[b].slope = (real)(gas->gamma * (pressure + gas->atmosphere) / volume);
    }
}

// dV/dx of a node: the sum of its shares of A n of its faces.
static void update_gradients(struct face_tangent *tangent, struct range nodes)
{
    const struct face_rows *faces = &tangent->faces;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        real x = 0, y = 0, z = 0;
        for (uint64_t i = faces->first[node]; i < faces->first[node + 1]; i++) {
            if (!tangent->gas[faces->body[faces->at[i]]].present)
                continue;
            struct face_shape face = face_shape(tangent->system->state, faces->nodes[faces->at[i]]);
            x += face.sx / (real)face.corners;
            y += face.sy / (real)face.corners;
            z += face.sz / (real)face.corners;
        }
        tangent->gradient.x[node] = x;
        tangent->gradient.y[node] = y;
        tangent->gradient.z[node] = z;
    }
}

static void gas_update(struct face_tangent *tangent, struct evaluation evaluation,
                       const struct worker *worker)
{
    struct system *system = tangent->system;
    const struct fault found = system->fault; // an evaluation of the tangent does not end a run
    REAL_NAME(volumes_measure)(system, evaluation.time, false, worker);
    if (worker->index == 0) {
        system->fault = found;
        update_gas(tangent, evaluation);
    }
    update_gradients(tangent, node_share(tangent->system, worker));
}

// The arguments of the sum over a body's nodes.
struct compression {
    const struct face_tangent *tangent;
    struct node_vectors in;
    size_t first_node;
};

// In eight partial sums, whose additions are independent.
static void sum_compression(const struct system *system, const void *argument, struct range range,
                            double sums[SUM_WIDTH])
{
    (void)system;
    enum { PARTS = 8 };
    const struct compression *it = argument;
    const struct node_vectors *g = &it->tangent->gradient;
    const size_t first = it->first_node + range.first, count = range.end - range.first;
    const real *gx = g->x + first, *gy = g->y + first, *gz = g->z + first;
    const real *x = it->in.x + first, *y = it->in.y + first, *z = it->in.z + first;
    double parts[PARTS] = {0};
    for (size_t i = 0; i < count / PARTS * PARTS; i += PARTS)
        for (size_t k = 0; k < PARTS; k++)
            parts[k] += (double)gx[i + k] * (double)x[i + k] +
                        (double)gy[i + k] * (double)y[i + k] + (double)gz[i + k] * (double)z[i + k];
    for (size_t i = count / PARTS * PARTS; i < count; i++)
        parts[i % PARTS] += (double)gx[i] * (double)x[i] + (double)gy[i] * (double)y[i] +
                            (double)gz[i] * (double)z[i];
    for (int k = 0; k < PARTS; k++)
        sums[0] += parts[k];
}

static void find_compression(struct face_tangent *tangent, struct node_vectors in,
                             const struct worker *worker)
{
    struct system *system = tangent->system;
    if (!tangent->any_gas)
        return;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        if (!tangent->gas[b].present)
            continue;
        struct compression compression = {tangent, in, (size_t)body->first_node};
        double total[SUM_WIDTH];
        REAL_NAME(sum_over_chunks)
        (system, (size_t)body->node_count, sum_compression, &compression, total, worker);
        if (worker->index == 0)
            tangent->gas[b].compression = (real)total[0];
    }
    worker_barrier(worker);
}

static void add_times(real *restrict to, real by, const real *restrict from, size_t first,
                      size_t end)
{
    for (size_t i = first; i < end; i++)
        to[i] += by * from[i];
}

static void gas_apply(const struct face_tangent *tangent, real stiffness, struct node_vectors out,
                      struct range nodes)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t b = 0; tangent->any_gas && b < topology->body_count; b++) {
        const struct tangent_gas *gas = &tangent->gas[b];
        if (!gas->present)
            continue;
        size_t first = (size_t)topology->bodies[b].first_node;
        size_t end = first + (size_t)topology->bodies[b].node_count;
        first = first > nodes.first ? first : nodes.first;
        end = end < nodes.end ? end : nodes.end;
        real by = stiffness * gas->slope * gas->compression;
        add_times(out.x, by, tangent->gradient.x, first, end);
        add_times(out.y, by, tangent->gradient.y, first, end);
        add_times(out.z, by, tangent->gradient.z, first, end);
    }
}

// ---- Wind

// F = f A (r.n) n / corners on each corner, with r the wind minus the mean velocity of the corners;
// hence C = f S S' / (A corners^2) with S = A n, and for |r.n| (r.n) an additional factor 2 |r.n|,
// its derivative.
static real face_drag(const struct state *s, const struct wind_now *now,
                      const struct face_shape *face)
{
    if (!(face->area > 0))
        return 0;
    real corners = (real)face->corners;
    real drag = now->factor / (face->area * corners * corners);
    if (now->law != WIND_QUADRATIC)
        return drag;
    real speed = 0;
    for (int corner = 0; corner < face->corners; corner++) {
        uint32_t node = face->nodes[corner];
        speed += (now->wx - s->vx[node]) * face->sx + (now->wy - s->vy[node]) * face->sy +
                 (now->wz - s->vz[node]) * face->sz;
    }
    return 2 * drag * real_abs(speed / (face->area * corners));
}

void REAL_NAME(face_tangent_update)(struct face_tangent *tangent, struct evaluation evaluation,
                                    const struct worker *worker)
{
    struct system *system = tangent->system;
    struct face_rows *faces = &tangent->faces;
    if (faces->count == 0)
        return;
    if (tangent->any_wind) {
        struct wind_now now = REAL_NAME(wind_at)(system->topology, evaluation.time);
        struct range share = worker_share(worker, (size_t)faces->count, 16);
        for (size_t i = share.first; i < share.end; i++) {
            struct face_shape face = face_shape(system->state, faces->nodes[i]);
            faces->drag[i] = face_drag(system->state, &now, &face);
        }
    }
    if (tangent->any_gas)
        gas_update(tangent, evaluation, worker);
    worker_barrier(worker);
}

// How A n changes when the corners move by `in`.
static void shape_change(struct node_vectors in, const uint32_t nodes[3], const struct state *s,
                         real change[3])
{
    uint32_t a = nodes[0], b = nodes[1], c = nodes[2];
    real px = in.x[b] - in.x[a], py = in.y[b] - in.y[a];
    if (c == FACE_EDGE) {
        change[0] = py;
        change[1] = -px;
        change[2] = 0;
        return;
    }
    real pz = in.z[b] - in.z[a];
    real qx = in.x[c] - in.x[a], qy = in.y[c] - in.y[a], qz = in.z[c] - in.z[a];
    real ux = s->x[b] - s->x[a], uy = s->y[b] - s->y[a], uz = s->z[b] - s->z[a];
    real wx = s->x[c] - s->x[a], wy = s->y[c] - s->y[a], wz = s->z[c] - s->z[a];
    change[0] = ((py * wz - pz * wy) + (uy * qz - uz * qy)) / 2;
    change[1] = ((pz * wx - px * wz) + (uz * qx - ux * qz)) / 2;
    change[2] = ((px * wy - py * wx) + (ux * qy - uy * qx)) / 2;
}

static void add_drag(struct node_vectors in, const struct face_shape *face, real drag,
                     real force[3])
{
    real along = 0;
    for (int corner = 0; corner < face->corners; corner++) {
        uint32_t node = face->nodes[corner];
        along += in.x[node] * face->sx + in.y[node] * face->sy + in.z[node] * face->sz;
    }
    force[0] += drag * along * face->sx;
    force[1] += drag * along * face->sy;
    force[2] += drag * along * face->sz;
}

static bool acts_by_face(const struct face_tangent *tangent)
{
    return tangent->faces.count > 0 && (tangent->any_wind || tangent->kind == TANGENT_EXACT);
}

static void face_forces(struct face_tangent *tangent, real stiffness, real damping,
                        struct node_vectors in, const struct worker *worker)
{
    const struct state *s = tangent->system->state;
    struct face_rows *faces = &tangent->faces;
    if (!acts_by_face(tangent))
        return;
    struct range share = worker_share(worker, (size_t)faces->count, 16);
    for (size_t i = share.first; i < share.end; i++) {
        real force[3] = {0, 0, 0};
        if (!has_corner_in(tangent->rows, faces->nodes[i]))
            continue;
        const struct tangent_gas *gas = &tangent->gas[faces->body[i]];
        if (gas->present && tangent->kind == TANGENT_EXACT) {
            real change[3], by = -stiffness * gas->pressure / (real)corners_of(faces->nodes[i]);
            shape_change(in, faces->nodes[i], s, change);
            for (int axis = 0; axis < 3; axis++)
                force[axis] = by * change[axis];
        }
        if (tangent->any_wind) {
            struct face_shape face = face_shape(s, faces->nodes[i]);
            add_drag(in, &face, damping * faces->drag[i], force);
        }
        for (int axis = 0; axis < 3; axis++)
            faces->force[i][axis] = force[axis];
    }
    worker_barrier(worker);
}

static void faces_apply(const struct face_tangent *tangent, struct node_vectors out,
                        struct range nodes)
{
    const struct face_rows *faces = &tangent->faces;
    if (!acts_by_face(tangent))
        return;
    for (size_t node = nodes.first; node < nodes.end; node++)
        for (uint64_t i = faces->first[node]; i < faces->first[node + 1]; i++) {
            const real *force = faces->force[faces->at[i]];
            out.x[node] += force[0];
            out.y[node] += force[1];
            out.z[node] += force[2];
        }
}

void REAL_NAME(face_tangent_prepare)(struct face_tangent *tangent, real stiffness, real damping,
                                     struct node_vectors in, const struct worker *worker)
{
    face_forces(tangent, stiffness, damping, in, worker);
    find_compression(tangent, in, worker);
}

void REAL_NAME(face_tangent_apply)(const struct face_tangent *tangent, real stiffness,
                                   struct node_vectors out, struct range nodes)
{
    faces_apply(tangent, out, nodes);
    gas_apply(tangent, stiffness, out, nodes);
}

// block += by v v'
static void block_add_square(real block[6], real by, real x, real y, real z)
{
    block[0] += by * x * x;
    block[1] += by * y * y;
    block[2] += by * z * z;
    block[3] += by * x * y;
    block[4] += by * x * z;
    block[5] += by * y * z;
}

// The derivative of a node's gradient by its own position is 0 if faces enclose the node.
void REAL_NAME(face_tangent_blocks)(const struct face_tangent *tangent, real stiffness,
                                    real damping, real (*blocks)[6], struct range nodes)
{
    const struct face_rows *faces = &tangent->faces;
    if (faces->count == 0)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        real slope = 0;
        for (uint64_t i = faces->first[node]; i < faces->first[node + 1]; i++) {
            uint32_t face = faces->at[i];
            struct face_shape shape = face_shape(tangent->system->state, faces->nodes[face]);
            if (tangent->any_wind)
                block_add_square(blocks[node], damping * faces->drag[face], shape.sx, shape.sy,
                                 shape.sz);
            if (tangent->gas[faces->body[face]].present)
                slope = tangent->gas[faces->body[face]].slope;
        }
        if (tangent->any_gas)
            block_add_square(blocks[node], stiffness * slope, tangent->gradient.x[node],
                             tangent->gradient.y[node], tangent->gradient.z[node]);
    }
}
