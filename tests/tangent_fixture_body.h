// The body of tangent_fixture_f32.c and _f64.c, which define TAUT_REAL_BITS.
#include "tangent_fixture.h"

#include <stdlib.h>

#include "forces/tangent.h"
#include "integrate/integrate.h"
#include "solver/internals.h"

struct work {
    struct system *system;
    struct tangent *tangent;
    struct product wanted;
    struct node_vectors in, out;
    real (*blocks)[6];
};

static void multiply(void *context, const struct worker *worker)
{
    struct work *work = context;
    real k = (real)work->wanted.stiffness, c = (real)work->wanted.damping;
    struct evaluation now = REAL_NAME(evaluation_now)(work->system);
    // Surfaces have a tangent at a stage, which the positions here are taken for.
    REAL_NAME(surface_contact_find)(work->system, now, worker);
    now.time += work->system->settings.dt;
    REAL_NAME(surface_contact_find)(work->system, now, worker);
    REAL_NAME(tangent_update)
    (work->tangent, work->wanted.definite ? TANGENT_DEFINITE : TANGENT_EXACT,
     REAL_NAME(evaluation_now)(work->system), worker);
    if (work->blocks)
        REAL_NAME(tangent_blocks)(work->tangent, k, c, work->blocks, worker);
    else
        REAL_NAME(tangent_apply)(work->tangent, k, c, work->in, work->out, worker);
}

static struct node_vectors vectors_of(size_t nodes)
{
    struct node_vectors v = {calloc(nodes, sizeof(real)), calloc(nodes, sizeof(real)),
                             calloc(nodes, sizeof(real))};
    assert_true(v.x && v.y && v.z);
    return v;
}

static void free_vectors(struct node_vectors v)
{
    free(v.x);
    free(v.y);
    free(v.z);
}

static void fill_vectors(struct work *work, size_t nodes, const double *in)
{
    for (size_t i = 0; i < nodes; i++) {
        bool moves = work->system->constants->inverse_mass[i] != 0;
        work->in.x[i] = moves ? (real)in[3 * i] : 0;
        work->in.y[i] = moves ? (real)in[3 * i + 1] : 0;
        work->in.z[i] = moves ? (real)in[3 * i + 2] : 0;
        work->out.x[i] = 77; // must be overwritten
    }
}

void REAL_NAME(tangent_product)(taut_solver *solver, struct product wanted, const double *in,
                                double *out)
{
    size_t nodes = (size_t)taut_solver_node_count(solver);
    struct work work = {.system = solver_system(solver), .wanted = wanted};
    taut_error error = {0};
    if (REAL_NAME(tangent_make)(work.system, &work.tangent, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    assert_true(REAL_NAME(tangent_bytes)(work.tangent) > 0);
    work.in = vectors_of(nodes);
    work.out = vectors_of(nodes);
    if (in)
        fill_vectors(&work, nodes, in);
    else
        work.blocks = calloc(nodes, sizeof *work.blocks);
    assert_true(in || work.blocks);
    solver_work(solver, multiply, &work);
    for (size_t i = 0; i < nodes && in; i++) {
        out[3 * i] = (double)work.out.x[i];
        out[3 * i + 1] = (double)work.out.y[i];
        out[3 * i + 2] = (double)work.out.z[i];
    }
    for (size_t i = 0; i < nodes && !in; i++)
        for (int part = 0; part < 6; part++)
            out[6 * i + (size_t)part] = (double)work.blocks[i][part];
    free_vectors(work.in);
    free_vectors(work.out);
    free(work.blocks);
    REAL_NAME(tangent_free)(work.tangent);
}
