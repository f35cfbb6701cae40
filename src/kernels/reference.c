// The plain kernels, one element at a time, written to be read beside the equations
// (docs/numerics.md).
#include "kernels/face.h"
#include "kernels/kernels.h"

static bool is_slack(const struct spring_constants *material, real length, real rest)
{
    return (material->law == LAW_TENSION_ONLY && length <= rest) ||
           (material->law == LAW_COMPRESSION_ONLY && length >= rest);
}

// F_a = -k (L - L0) u - c (w.u) u   (axial)   or   -k (L - L0) u - c w   (full);  F_b = -F_a.
// At L = 0 there is no direction u: no elastic and no axial damping force.
static void springs(const struct system *system, const void *unused, struct plan_block block)
{
    (void)unused;
    const struct constants *constants = system->constants;
    struct state *s = system->state;
    const real *rest_lengths = s->rest_length ? s->rest_length : constants->rest_length;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        if (s->broken && s->broken[i])
            continue;
        const struct spring_constants *material =
            &constants->material[spring_material_number(constants, i)];
        uint32_t a = constants->spring_nodes[i][0], b = constants->spring_nodes[i][1];
        real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
        real square = dx * dx + dy * dy + dz * dz;
        real length = real_sqrt(square);
        real rest = rest_lengths[i];
        if (is_slack(material, length, rest))
            continue;
        real wx = s->vx[a] - s->vx[b], wy = s->vy[a] - s->vy[b], wz = s->vz[a] - s->vz[b];
        real along = 0; // force on a is along * d + across * w
        if (length > 0)
            along = -material->stiffness * (length - rest) / length;
        real across = 0;
        if (material->damping_law == DAMPING_FULL)
            across = -material->damping;
        else if (square > 0)
            along -= material->damping * (wx * dx + wy * dy + wz * dz) / square;
        real fx = along * dx + across * wx;
        real fy = along * dy + across * wy;
        real fz = along * dz + across * wz;
        s->fx[a] += fx;
        s->fy[a] += fy;
        s->fz[a] += fz;
        s->fx[b] -= fx;
        s->fy[b] -= fy;
        s->fz[b] -= fz;
    }
}

static void normals(const struct system *system, const void *unused, struct plan_block block)
{
    (void)unused;
    struct state *s = system->state;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        if (!(face.area > 0))
            continue;
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            s->nx[node] += face.sx / face.area;
            s->ny[node] += face.sy / face.area;
            s->nz[node] += face.sz / face.area;
        }
    }
}

struct relative_wind {
    real x, y, z;
};

// The wind less the mean velocity of the corners. The differences are taken before the mean, so
// that a face that moves with the wind feels exactly none of it.
static struct relative_wind relative_wind(const struct state *s, const struct wind_now *now,
                                          const struct face_shape *face, real share)
{
    if (!now->relative)
        return (struct relative_wind){now->wx, now->wy, now->wz};
    struct relative_wind sum = {0, 0, 0};
    for (int corner = 0; corner < face->corners; corner++) {
        uint32_t node = face->nodes[corner];
        sum.x += now->wx - s->vx[node];
        sum.y += now->wy - s->vy[node];
        sum.z += now->wz - s->vz[node];
    }
    return (struct relative_wind){sum.x * share, sum.y * share, sum.z * share};
}

// F = c A (r.n) n   (face)   or   rho C_d / 2 A |r.n| (r.n) n   (quadratic), r the wind relative to
// the mean velocity of the corners; an equal share to each corner, of which pinned ones take none.
static void wind(const struct system *system, const void *argument, struct plan_block block)
{
    const struct wind_now *now = argument;
    struct state *s = system->state;
    const real *free_node = system->constants->inverse_mass;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        if (!(face.area > 0))
            continue;
        real share = (real)1 / (real)face.corners;
        struct relative_wind r = relative_wind(s, now, &face, share);
        real normal_speed = (r.x * face.sx + r.y * face.sy + r.z * face.sz) / face.area;
        real scale = now->factor * normal_speed * share; // times A n = (sx, sy, sz)
        if (now->law == WIND_QUADRATIC)
            scale *= real_abs(normal_speed);
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            if (free_node[node] == 0)
                continue;
            s->fx[node] += scale * face.sx;
            s->fy[node] += scale * face.sy;
            s->fz[node] += scale * face.sz;
        }
    }
}

// F = P A n, an equal share to each corner (Matyka 2.21; in a plane P l n).
static void pressure(const struct system *system, const void *unused, struct plan_block block)
{
    (void)unused;
    struct state *s = system->state;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        uint32_t body = system->constants->face_body[i];
        real p = (real)s->pressure[body];
        if (p == 0 || plan_rings_of_body(system->plan, body))
            continue;
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        real share = p / (real)face.corners;
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            s->fx[node] += share * face.sx;
            s->fy[node] += share * face.sy;
            s->fz[node] += share * face.sz;
        }
    }
}

static void finish_component(const struct system *system, const struct finish_range *range,
                             const real *v, real *f, double gravity)
{
    const real g = (real)gravity, drag = (real)system->topology->environment.air_drag;
    const uint64_t end = (uint64_t)range->first + (uint64_t)range->count;
    for (uint64_t i = (uint64_t)range->first; i < end;) {
        struct node_masses masses = topology_masses(system->topology, i, end);
        for (; i < masses.end; i++)
            f[i] += (real)mass_in(&masses, i) * g - drag * v[i];
    }
}

// F += m g - c v (physics.md, 1 and 2; NeHe lesson 40). The reference has no grids and moves nodes
// in a loop of its own.
static void finish(const struct system *system, const struct finish_range *range,
                   enum sweep_finish finish)
{
    (void)finish;
    const struct state *s = system->state;
    const vec3 g = system->topology->environment.gravity;
    finish_component(system, range, s->vx, s->fx, g.x);
    finish_component(system, range, s->vy, s->fy, g.y);
    finish_component(system, range, s->vz, s->fz, g.z);
}

const struct kernels REAL_NAME(kernels_reference) = {
    .name = "reference",
    .springs = springs,
    .links = REAL_NAME(links_plain),
    .normals = normals,
    .wind = wind,
    .pressure = pressure,
    .grid_finish = finish,
    .node_sums = REAL_NAME(node_sums_base),
    .node_box = REAL_NAME(node_box_base),
    .nodes_near = REAL_NAME(nodes_near_base),
};

// The elements of blocks are computed by the plain loops on every instruction set; grids have
// kernels.
const struct kernels *REAL_NAME(kernels_for)(enum isa isa)
{
#define TABLE(isa)                                                                                 \
    {                                                                                              \
        "packed", springs, REAL_NAME(links_plain), REAL_NAME(grid_links_##isa),                    \
            REAL_NAME(packed_##isa), REAL_NAME(packed_volume_##isa), normals, wind, pressure,      \
            REAL_NAME(grid_pass_##isa), REAL_NAME(grid_finish_##isa), REAL_NAME(grid_cloth_##isa), \
            REAL_NAME(grid_power_##isa), REAL_NAME(grid_beyond_##isa), REAL_NAME(face_grid_##isa), \
            REAL_NAME(face_carry_##isa), REAL_NAME(ring_tile_##isa), REAL_NAME(ring_push_##isa),   \
            REAL_NAME(node_sums_##isa), REAL_NAME(node_box_##isa), REAL_NAME(nodes_near_##isa),    \
            REAL_NAME(tangent_grid_##isa), REAL_NAME(tangent_packed_##isa),                        \
            REAL_NAME(line_solve_##isa)                                                            \
    }
    static const struct kernels tables[ISA_COUNT] = {
        [ISA_BASE] = TABLE(base),
#if defined(__x86_64__)
        [ISA_V3] = TABLE(v3),
        [ISA_V4] = TABLE(v4),
#endif
    };
    return &tables[isa];
}
