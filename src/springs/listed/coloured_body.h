// The forces of springs in a coloured block (plan_coloured.h): a register of springs that share no
// node gathers the records of its ends, computes, and adds to the forces of both, so every spring
// is computed once. The arithmetic and the order of sums are those of the plain loop over the same
// block (reference.c), with the same bits. Compiled for each instruction set by kernels/table.h.
#include "kernels/kernels.h"
#include "simd/wide.h"
#include "simd/wide3.h"
#include "springs/law_body.h"
#include "springs/listed/reference.h"

// The data that all springs of a block share.
struct coloured_view {
    const struct spring_constants *materials;
    const uint32_t *material; // of each spring of the plan; NULL: all have one_material
    uint32_t one_material;
    const real *rest;      // of each spring of the plan
    const uint8_t *broken; // or NULL
    const real *records;   // positions, and velocities where the block is damped
    real *forces;          // records of 4
};

// The materials of the last register, which are mostly also those of the next one.
struct coloured_law {
    uint32_t number; // of the material; UINT32_MAX: several
    struct wide_law law;
};

// Updates the materials for springs [i, i + left); lanes after them get the material of spring i.
WIDE_INLINE void find_law(const struct coloured_view *v, uint64_t i, long left,
                          struct coloured_law *known)
{
    uint32_t padded[WIDE_LANES];
    const uint32_t *lanes = padded;
    uint32_t first = v->material ? v->material[i] : v->one_material, differs = 0;
    if (v->material && left >= WIDE_LANES) {
        lanes = v->material + i;
        for (int lane = 0; lane < WIDE_LANES; lane++)
            differs |= lanes[lane] ^ first;
    } else if (v->material) {
        for (int lane = 0; lane < WIDE_LANES; lane++) {
            padded[lane] = lane < left ? v->material[i + (uint64_t)lane] : first;
            differs |= padded[lane] ^ first;
        }
    }
    if (differs) {
        known->law = wide_law_mixed(v->materials, lanes);
        known->number = UINT32_MAX;
    } else if (known->number != first) {
        known->law = wide_law_uniform(&v->materials[first]);
        known->number = first;
    }
}

// The forces on the first ends of springs [i, i + left); a and b are the records of their ends,
// which may be any records in lanes after the last spring. Broken and slack springs have no force.
WIDE_INLINE struct wide3 coloured_spring_forces(const struct coloured_view *v, uint64_t i,
                                                const uint16_t *a, const uint16_t *b, long left,
                                                const struct wide_law *law, bool damped)
{
    struct wide3 x, v_a, other, v_b;
    if (damped) {
        wide_records_8(v->records, a, &x.x, &x.y, &x.z, &v_a.x, &v_a.y, &v_a.z);
        wide_records_8(v->records, b, &other.x, &other.y, &other.z, &v_b.x, &v_b.y, &v_b.z);
    } else {
        wide_records_4(v->records, a, &x.x, &x.y, &x.z);
        wide_records_4(v->records, b, &other.x, &other.y, &other.z);
        v_a = v_b = wide3_zero();
    }
    const struct wide3 d = wide3_subtract(x, other);
    const wide square = wide3_dot(d, d), length = wide_sqrt(square);
    const wide rest =
        left >= WIDE_LANES ? wide_load(v->rest + i) : wide_load_first(v->rest + i, left);
    const wide stretch = wide_subtract(length, rest);

    // -k (L - L0) / L - c (w.d) / L^2, times d; at L = 0 there is no direction.
    wide along = wide_divide(wide_multiply(law->stiffness, wide_subtract(rest, length)), length);
    const struct wide3 w = wide3_subtract(v_a, v_b);
    if (damped)
        along =
            wide_subtract(along, wide_divide(wide_multiply(law->along, wide3_dot(w, d)), square));
    along = wide_masked(wide_positive(square), along);
    struct wide3 f = wide3_scale(along, d);
    if (damped && law->crosses)
        f = wide3_subtract(f, wide3_scale(law->across, w));
    if (law->slack)
        f = wide3_masked(wide_not_slack(law->side, law->open, stretch), f);
    if (v->broken)
        f = wide3_masked(wide_unbroken(v->broken + i, left), f);
    return f;
}

// The last springs of a group, which do not fill a register: their forces are added one by one.
static inline void add_last_springs(const struct coloured_view *v, uint64_t i, const uint16_t *a,
                                    const uint16_t *b, long left, struct coloured_law *known,
                                    bool damped)
{
    uint16_t ends[2][WIDE_LANES];
    for (int lane = 0; lane < WIDE_LANES; lane++) {
        ends[0][lane] = lane < left ? a[lane] : a[0];
        ends[1][lane] = lane < left ? b[lane] : b[0];
    }
    find_law(v, i, left, known);
    struct wide3 f = coloured_spring_forces(v, i, ends[0], ends[1], left, &known->law, damped);
    real lanes[3][WIDE_LANES];
    wide_store(lanes[0], f.x);
    wide_store(lanes[1], f.y);
    wide_store(lanes[2], f.z);
    for (long lane = 0; lane < left; lane++)
        for (int component = 0; component < 3; component++) {
            v->forces[a[lane] + component] += lanes[component][lane];
            v->forces[b[lane] + component] -= lanes[component][lane];
        }
}

WIDE_INLINE void add_groups(const struct coloured_view *v, const struct plan_coloured *plan,
                            const struct coloured_block *block, bool damped)
{
    struct coloured_law known = {.number = UINT32_MAX};
    const uint64_t *start = plan->group_start + block->first_group;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint64_t i = start[g];
        const uint64_t end = start[g + 1];
        for (; i + WIDE_LANES <= end; i += WIDE_LANES) {
            const uint16_t *a = plan->ends[0] + i, *b = plan->ends[1] + i;
            find_law(v, i, WIDE_LANES, &known);
            struct wide3 f = coloured_spring_forces(v, i, a, b, WIDE_LANES, &known.law, damped);
            wide_records_add(v->forces, a, f.x, f.y, f.z);
            wide_records_subtract(v->forces, b, f.x, f.y, f.z);
        }
        if (i < end)
            add_last_springs(v, i, plan->ends[0] + i, plan->ends[1] + i, (long)(end - i), &known,
                             damped);
    }
}

WIDE_INLINE void fill_block_records(const struct state *s, const uint32_t *nodes, uint32_t count,
                                    bool damped, real *records, real *forces)
{
    const size_t width = damped ? 8 : 4;
    for (uint32_t i = 0; i < count; i++) {
        const size_t node = nodes[i];
        real *record = records + width * i, *force = forces + 4 * (size_t)i;
        record[0] = s->x[node];
        record[1] = s->y[node];
        record[2] = s->z[node];
        record[3] = 0;
        if (damped) {
            record[4] = s->vx[node];
            record[5] = s->vy[node];
            record[6] = s->vz[node];
            record[7] = 0;
        }
        force[0] = s->fx[node];
        force[1] = s->fy[node];
        force[2] = s->fz[node];
        force[3] = 0;
    }
}

static void coloured_forces(const struct system *system, const void *unused,
                            struct plan_block block)
{
    _Alignas(64) real records[8 * COLOURED_LOCAL_MAX];
    _Alignas(64) real forces[4 * COLOURED_LOCAL_MAX];
    const struct plan_coloured *plan = &system->plan->coloured;
    const struct coloured_block *made = &plan->blocks[block.number];
    const struct constants *constants = system->constants;
    struct state *s = system->state;

    if (made->local_count == 0) {
        REAL_NAME(reference_springs)(system, unused, block);
        return;
    }

    const uint32_t *nodes = plan->locals + made->first_local;
    const struct coloured_view v = {
        .materials = constants->material,
        .material = constants->spring_material,
        .one_material = constants->one_material,
        .rest = s->rest_length ? s->rest_length : constants->rest_length,
        .broken = s->broken,
        .records = records,
        .forces = forces,
    };

    if (made->damped) {
        fill_block_records(s, nodes, made->local_count, true, records, forces);
        add_groups(&v, plan, made, true);
    } else {
        fill_block_records(s, nodes, made->local_count, false, records, forces);
        add_groups(&v, plan, made, false);
    }

    for (uint32_t i = 0; i < made->local_count; i++) {
        s->fx[nodes[i]] = forces[4 * i];
        s->fy[nodes[i]] = forces[4 * i + 1];
        s->fz[nodes[i]] = forces[4 * i + 2];
    }
}
