// Wind and gas in a tangent. What acts through a face gives the same to each of its corners: it is
// computed face by face, and then every node adds up what its own faces have for it, in their
// order.
#include "forces/tangent_parts.h"

#include "base/memory.h"
#include "kernels/face.h"

// Whether the wind pulls at what moves.
static bool wind_drags(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    return wind->present && wind->relative && wind->law != WIND_NODE;
}

static bool takes_part(const struct tangent *tangent, size_t body)
{
    return tangent->any_wind || tangent->system->topology->bodies[body].pressure.present;
}

static int corners_of(const uint32_t nodes[3])
{
    return nodes[2] == FACE_EDGE ? 2 : 3;
}

static bool allocate_faces(struct tangent *tangent)
{
    struct face_rows *faces = &tangent->faces;
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = (size_t)faces->count;
    faces->nodes = memory_allocate(allocator, count, sizeof *faces->nodes);
    faces->body = memory_allocate(allocator, count, sizeof *faces->body);
    faces->drag = memory_allocate(allocator, count, sizeof *faces->drag);
    faces->push = memory_allocate(allocator, count, sizeof *faces->push);
    faces->first = memory_allocate(allocator, tangent->nodes + 1, sizeof *faces->first);
    faces->at = memory_allocate(allocator, (size_t)faces->places, sizeof *faces->at);
    if (!faces->nodes || !faces->body || !faces->drag || !faces->push || !faces->first ||
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

static void list_faces(struct tangent *tangent)
{
    const struct topology *topology = tangent->system->topology;
    struct face_rows *faces = &tangent->faces;
    uint64_t count = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        for (uint64_t i = 0; takes_part(tangent, b) && i < body->face_count; i++) {
            struct face face = topology_body_face(topology, body, i);
            for (int corner = 0; corner < 3; corner++)
                faces->nodes[count][corner] = face.nodes[corner];
            faces->body[count++] = (uint32_t)b;
        }
    }
}

static void list_faces_of_nodes(struct tangent *tangent)
{
    struct face_rows *faces = &tangent->faces;
    for (uint64_t i = 0; i < faces->count; i++)
        for (int corner = 0; corner < corners_of(faces->nodes[i]); corner++)
            faces->first[faces->nodes[i][corner]]++;
    uint64_t sum = 0;
    for (size_t node = 0; node < tangent->nodes; node++)
        sum = faces->first[node] += sum;
    faces->first[tangent->nodes] = sum;
    for (uint64_t i = faces->count; i-- > 0;)
        for (int corner = 0; corner < corners_of(faces->nodes[i]); corner++)
            faces->at[--faces->first[faces->nodes[i][corner]]] = (uint32_t)i;
}

taut_status REAL_NAME(tangent_faces_make)(struct tangent *tangent, taut_error *error)
{
    const struct topology *topology = tangent->system->topology;
    struct face_rows *faces = &tangent->faces;
    tangent->any_wind = wind_drags(topology);
    tangent->gas =
        memory_allocate(tangent->system->allocator, topology->body_count, sizeof *tangent->gas);
    if (!tangent->gas)
        return fail_memory(error, "the tangent of faces");
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        tangent->gas[b].present = body->pressure.present;
        tangent->any_gas |= body->pressure.present;
        if (takes_part(tangent, b)) {
            faces->count += body->face_count;
            faces->places += body->face_count * (uint64_t)body->face_arity;
        }
    }
    if (faces->count == 0)
        return TAUT_OK;
    if (!allocate_faces(tangent))
        return fail_memory(error, "the tangent of faces");
    list_faces(tangent);
    list_faces_of_nodes(tangent);
    return TAUT_OK;
}

void REAL_NAME(tangent_faces_free)(struct tangent *tangent)
{
    struct face_rows *faces = &tangent->faces;
    const taut_allocator *allocator = tangent->system->allocator;
    size_t count = (size_t)faces->count;
    memory_release(allocator, faces->nodes, count, sizeof *faces->nodes);
    memory_release(allocator, faces->body, count, sizeof *faces->body);
    memory_release(allocator, faces->drag, count, sizeof *faces->drag);
    memory_release(allocator, faces->push, count, sizeof *faces->push);
    memory_release(allocator, faces->first, tangent->nodes + 1, sizeof *faces->first);
    memory_release(allocator, faces->at, (size_t)faces->places, sizeof *faces->at);
    memory_release(allocator, tangent->gradient.x, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gradient.y, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gradient.z, tangent->nodes, sizeof(real));
    memory_release(allocator, tangent->gas, tangent->system->topology->body_count,
                   sizeof *tangent->gas);
}

uint64_t REAL_NAME(tangent_faces_bytes)(const struct tangent *tangent)
{
    const struct face_rows *faces = &tangent->faces;
    uint64_t bytes = tangent->system->topology->body_count * sizeof *tangent->gas;
    if (faces->count == 0)
        return bytes;
    bytes += faces->count * (sizeof *faces->nodes + sizeof *faces->body + sizeof *faces->drag +
                             sizeof *faces->push);
    bytes += (tangent->nodes + 1) * sizeof *faces->first + faces->places * sizeof *faces->at;
    return bytes + (tangent->any_gas ? 3 * tangent->nodes * sizeof(real) : 0);
}

// F = f A (r.n) n / corners on each corner, r the wind less the mean of the corners' velocities;
// so C = f S S' / (A corners^2) with S = A n, and of |r.n| (r.n) the derivative, 2 |r.n|, besides.
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

void REAL_NAME(tangent_faces_update)(struct tangent *tangent, struct moment moment,
                                     const struct worker *worker)
{
    struct system *system = tangent->system;
    struct face_rows *faces = &tangent->faces;
    if (faces->count == 0)
        return;
    if (tangent->any_wind) {
        struct wind_now now = REAL_NAME(wind_at)(system->topology, moment.time);
        struct range share = worker_share(worker, (size_t)faces->count, 16);
        for (size_t i = share.first; i < share.end; i++) {
            struct face_shape face = face_shape(system->state, faces->nodes[i]);
            faces->drag[i] = face_drag(system->state, &now, &face);
        }
    }
    if (tangent->any_gas)
        REAL_NAME(tangent_gas_update)(tangent, moment, worker);
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

static void add_drag(struct node_vectors in, const struct face_shape *face, real drag, real push[3])
{
    real along = 0;
    for (int corner = 0; corner < face->corners; corner++) {
        uint32_t node = face->nodes[corner];
        along += in.x[node] * face->sx + in.y[node] * face->sy + in.z[node] * face->sz;
    }
    push[0] += drag * along * face->sx;
    push[1] += drag * along * face->sy;
    push[2] += drag * along * face->sz;
}

static bool pushes(const struct tangent *tangent)
{
    return tangent->faces.count > 0 && (tangent->any_wind || tangent->kind == TANGENT_EXACT);
}

void REAL_NAME(tangent_faces_push)(struct tangent *tangent, real stiffness, real damping,
                                   struct node_vectors in, const struct worker *worker)
{
    const struct state *s = tangent->system->state;
    struct face_rows *faces = &tangent->faces;
    if (!pushes(tangent))
        return;
    struct range share = worker_share(worker, (size_t)faces->count, 16);
    for (size_t i = share.first; i < share.end; i++) {
        real push[3] = {0, 0, 0};
        const struct tangent_gas *gas = &tangent->gas[faces->body[i]];
        if (gas->present && tangent->kind == TANGENT_EXACT) {
            real change[3], by = -stiffness * gas->pressure / (real)corners_of(faces->nodes[i]);
            shape_change(in, faces->nodes[i], s, change);
            for (int axis = 0; axis < 3; axis++)
                push[axis] = by * change[axis];
        }
        if (tangent->any_wind) {
            struct face_shape face = face_shape(s, faces->nodes[i]);
            add_drag(in, &face, damping * faces->drag[i], push);
        }
        for (int axis = 0; axis < 3; axis++)
            faces->push[i][axis] = push[axis];
    }
    worker_barrier(worker);
}

void REAL_NAME(tangent_faces_apply)(const struct tangent *tangent, struct node_vectors out,
                                    struct range nodes)
{
    const struct face_rows *faces = &tangent->faces;
    if (!pushes(tangent))
        return;
    for (size_t node = nodes.first; node < nodes.end; node++)
        for (uint64_t i = faces->first[node]; i < faces->first[node + 1]; i++) {
            const real *push = faces->push[faces->at[i]];
            out.x[node] += push[0];
            out.y[node] += push[1];
            out.z[node] += push[2];
        }
}

// v v', times `by`.
static void block_add_square(real block[6], real by, real x, real y, real z)
{
    block[0] += by * x * x;
    block[1] += by * y * y;
    block[2] += by * z * z;
    block[3] += by * x * y;
    block[4] += by * x * z;
    block[5] += by * y * z;
}

// The derivative of a node's gradient by its own place is 0 where faces close round it.
void REAL_NAME(tangent_faces_blocks)(const struct tangent *tangent, real stiffness, real damping,
                                     real (*blocks)[6], struct range nodes)
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
