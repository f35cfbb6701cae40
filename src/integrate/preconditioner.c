// The preconditioner of the implicit integrators: block-tridiagonal solves along lines of stiff
// springs, which springs/tangent.h finds, and the inverse of a 3 x 3 block for every other node.
// The products and vectors of the iteration are left to conjugate_gradient.c.
#include "integrate/preconditioner.h"

#include <string.h>

#include "base/memory.h"
#include "springs/shares.h"

taut_status REAL_NAME(preconditioner_make)(struct system *system, const struct tangent *tangent,
                                           const real *mass, struct preconditioner *made,
                                           taut_error *error)
{
    *made = (struct preconditioner){.system = system, .nodes = system->state->nodes, .mass = mass};
    made->inverse =
        memory_allocate(system->allocator, groups_of(made->nodes), sizeof *made->inverse);
    if (!made->inverse)
        return fail_memory(error, "the implicit integrator");
    system_spare(system, made->inverse, groups_of(made->nodes) * sizeof *made->inverse, 0,
                 sizeof made->inverse->nodes[0]);
    return REAL_NAME(spring_lines_make)(REAL_NAME(tangent_springs)(tangent), &made->lines, error);
}

void REAL_NAME(preconditioner_free)(const struct system *system, struct preconditioner *made)
{
    REAL_NAME(spring_lines_free)(made->lines);
    memory_release(system->allocator, made->inverse, groups_of(made->nodes), sizeof *made->inverse);
}

taut_status REAL_NAME(preconditioner_refresh)(const struct tangent *tangent,
                                              struct preconditioner *it, taut_error *error)
{
    struct spring_lines *lines;
    taut_status status =
        REAL_NAME(spring_lines_make)(REAL_NAME(tangent_springs)(tangent), &lines, error);
    if (status != TAUT_OK)
        return status;
    REAL_NAME(spring_lines_free)(it->lines);
    it->lines = lines;
    return TAUT_OK;
}

uint64_t REAL_NAME(preconditioner_bytes)(const struct preconditioner *it)
{
    return groups_of(it->nodes) * sizeof *it->inverse + REAL_NAME(spring_lines_bytes)(it->lines);
}

// The inverse of a symmetric block plus `mass` on its diagonal, by cofactors. It is positive
// definite: the mass is positive, and the tangent's part is positive semidefinite.
static void invert_block(real block[6], double mass)
{
    double xx = (double)block[0] + mass, yy = (double)block[1] + mass, zz = (double)block[2] + mass;
    double xy = (double)block[3], xz = (double)block[4], yz = (double)block[5];
    double cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
    double scale = 1 / (xx * cxx + xy * cxy + xz * cxz);
    block[0] = (real)(scale * cxx);
    block[1] = (real)(scale * (xx * zz - xz * xz));
    block[2] = (real)(scale * (xx * yy - xy * xy));
    block[3] = (real)(scale * cxy);
    block[4] = (real)(scale * cxz);
    block[5] = (real)(scale * (xy * xz - xx * yz));
}

// The blocks of a group's nodes, stored node after node, become their inverses, which are stored
// entry after entry.
static void invert_group(union block_group *group, const real *mass)
{
    real turned[6][LANES];
    for (size_t lane = 0; lane < LANES; lane++) {
        real *block = group->nodes[lane];
        if (mass[lane] > 0)
            invert_block(block, (double)mass[lane]);
        for (size_t k = 0; k < 6; k++)
            turned[k][lane] = mass[lane] > 0 ? block[k] : 0;
    }
    memcpy(group->entries, turned, sizeof turned);
}

void REAL_NAME(preconditioner_update)(struct preconditioner *it, struct tangent *tangent,
                                      real stiffness, real damping, const struct worker *worker)
{
    REAL_NAME(tangent_blocks)(tangent, stiffness, damping, it->inverse->nodes, worker);
    if (it->lines) {
        const struct line_matrix matrix = {it->inverse->nodes, it->mass, stiffness, damping};
        REAL_NAME(spring_lines_update)(it->lines, &matrix, worker);
    }
    const struct range share = group_share(REAL_NAME(shares_rows)(it->system), worker);
    for (size_t g = share.first; g < share.end; g++)
        invert_group(&it->inverse[g], it->mass + g * LANES);
    worker_barrier(worker);
}

void REAL_NAME(preconditioner_apply)(const struct preconditioner *it, struct node_vectors r,
                                     struct node_vectors z, const struct worker *worker)
{
    const struct range share = group_share(REAL_NAME(shares_rows)(it->system), worker);
    bool by_node = !it->lines || !REAL_NAME(spring_lines_cover)(it->lines);
    for (size_t g = share.first; by_node && g < share.end; g++) {
        struct group from = load(&r, g), to = {{{0}}};
        precondition(&it->inverse[g], (const real(*)[LANES])from.v, to.v);
        store(&z, g, &to);
    }
    if (by_node)
        worker_barrier(worker);
    if (it->lines)
        REAL_NAME(spring_lines_apply)(it->lines, r, z, worker);
}
