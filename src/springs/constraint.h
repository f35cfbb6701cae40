// Springs as the small steps of xpbd solve them (integrate/xpbd.c): one after the other, each
// changing the velocities of its ends at once so that the spring, at the end of the substep h,
// pulls with the force that belongs to its length there (Macklin, Mueller and Chentanez 2016;
// Macklin et al., "Small steps in physics simulation", 2019). Numeric: compiled for float and for
// double.
//
// With d = x_a - x_b + h w at the end of the substep, w = v_a - v_b, L = |d|, and the impulse times
// h that the spring has given so far as the multiplier lambda, a spring of compliance 1/k and
// damping c asks for
//
//   change of lambda = -(k h^2 (L - L0) + c h^2 (w.d)/L + lambda) / ((k h^2 + c h)(1/m_a + 1/m_b) +
//   1)
//
// which is equation 26 of the first paper times k h^2, so that k = 0 and c alone are no exceptions.
// A rigid constraint has no compliance: (L - L0) / (1/m_a + 1/m_b). The ends get change / (h m L)
// times d, a plus and b minus. Until an iteration more is done, lambda is 0 and is not stored.
//
// A rigid constraint removes in one substep, by a velocity of (L - L0) / h, what its length is
// wrong by. Rounding of the positions alone makes that u / h with u the spacing of their numbers,
// and constraints pass these velocities on to each other, with an energy that grows as 1 / h^2. So
// of the error e = |x_a - x_b| - L0 at the substep's start the part that rounding explains, up to r
// = epsilon (|x_a| + |y_a| + |z_a| + L0), is left as it is: the constraint then only keeps its
// length. In single precision the kinetic energy of a falling rope of 40 links after 1000 steps of
// 4e-6 s with 40 substeps each was 46 times what it should be; with this it is 1.13 times that.
#ifndef TAUT_SPRINGS_CONSTRAINT_H
#define TAUT_SPRINGS_CONSTRAINT_H

#include "springs/law.h"
#include "state/state.h"

// What a material makes of that in a substep of h seconds.
struct constraint_law {
    real step;     // h
    real elastic;  // k h^2; 1 where rigid
    real damping;  // c h^2, of the axial part
    real weight;   // k h^2 + c h, what the inverse masses count with; 1 where rigid
    real give;     // 1; 0 where rigid
    real across;   // c h of the full law: what lies across the spring is damped once a substep
    real rounding; // of rigid constraints: epsilon; else 0
    bool one_sided;
    real side; // 1 where only pulling, -1 where only pushing
};

static inline struct constraint_law constraint_law_of(const struct spring_constants *material,
                                                      double step)
{
    double k = (double)material->stiffness * step * step, c = (double)material->damping * step;
    bool rigid = material->law == LAW_RIGID;
    return (struct constraint_law){
        .step = (real)step,
        .elastic = rigid ? 1 : (real)k,
        .damping = rigid ? 0 : (real)(c * step),
        .weight = rigid ? 1 : (real)(k + c),
        .give = rigid ? 0 : 1,
        .across = material->damping_law == DAMPING_FULL ? (real)c : 0,
        .rounding = rigid ? REAL_EPSILON : 0,
        .one_sided = spring_side(material->law) != 0,
        .side = material->law == LAW_COMPRESSION_ONLY ? -1 : 1,
    };
}

// Springs of one direction of a grid that start in one row: from nodes a + i to b + i, i < count.
struct constraint_row {
    const struct state *state;
    const real *inverse_mass;
    struct constraint_law law;
    int64_t a, b;
    long count;
    int along; // b - a where both ends lie in one row, else 0
    real rest_length;
    const real *rest_lengths; // of springs that yield, else NULL
    const uint8_t *broken;    // of springs that break, else NULL
    real *multipliers;        // NULL: one iteration, which needs none
    bool first;               // iteration of the substep
};

// What the plain loop over blocks of springs wants to know.
struct constraint_pass {
    double step;
    bool first;
};

#endif
