// Springs as constraints of xpbd (integrate/xpbd.c), solved one after another: each changes the
// velocities of its ends at once, so that at the end of the substep of h seconds the spring exerts
// the force that belongs to its length there (Macklin, Mueller and Chentanez 2016; Macklin et al.,
// "Small steps in physics simulation", 2019). This header has the constants of a material and the
// arguments of the loops, which are in grid/constraint_body.h and listed/reference.c. Numeric:
// compiled for float and for double.
//
// With d = x_a - x_b + h w at the end of the substep, w = v_a - v_b, L = |d|, and the multiplier
// lambda, which is h times the impulse applied to the spring so far, a spring of compliance 1/k and
// damping c requires
//
//   change of lambda = -(k h^2 (L - L0) + c h^2 (w.d)/L + lambda) / D,
//   D = (k h^2 + c h) (1/m_a + 1/m_b) + 1.
//
// This is equation 26 of the first paper times k h^2, so that k = 0 and pure damping need no
// special case. For a rigid constraint, which has no compliance, the change is -(L - L0) / (1/m_a +
// 1/m_b). The velocity of a changes by (change of lambda) / (h m_a L) times d, and that of b by the
// opposite with m_b. With one iteration per substep lambda is always 0 and is not stored.
//
// A rigid constraint corrects the whole error of its length in one substep, by a velocity of (L -
// L0) / h. Rounding of the positions alone causes an error u, the spacing of floating-point numbers
// there, and so a velocity u / h, which constraints pass on to each other: the energy of this noise
// grows as 1 / h^2. Therefore the part of the error e = |x_a - x_b| - L0 at the start of the
// substep that rounding explains, at most r = epsilon (|x_a| + |y_a| + |z_a| + L0), is not
// corrected. Without this the kinetic energy of a falling rope of 40 links in single precision,
// after 1000 steps of 4e-6 s with 40 substeps each, was 46 times the correct one; with it 1.13
// times.
#ifndef TAUT_SPRINGS_CONSTRAINT_H
#define TAUT_SPRINGS_CONSTRAINT_H

#include "springs/law.h"
#include "state/state.h"

// The constants of a material in a substep of h seconds.
struct constraint_law {
    real step;      // h
    real elastic;   // k h^2; 1 if rigid
    real damping;   // c h^2, of the axial part; 0 if rigid
    real weight;    // k h^2 + c h, the factor of the inverse masses; 1 if rigid
    real compliant; // 1, the last term of D; 0 if rigid
    real across;    // c h of the full law, whose transverse part is applied once per substep
    real rounding;  // epsilon if rigid, otherwise 0
    bool one_sided;
    real side; // if one-sided: 1 for tension only, -1 for compression only; otherwise 1
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
        .compliant = rigid ? 0 : 1,
        .across = material->damping_law == DAMPING_FULL ? (real)c : 0,
        .rounding = rigid ? REAL_EPSILON : 0,
        .one_sided = spring_side(material->law) != 0,
        .side = material->law == LAW_COMPRESSION_ONLY ? -1 : 1,
    };
}

// Springs of one direction of a grid that start in one row: spring i joins nodes a + i and b + i.
struct constraint_row {
    const struct state *state;
    const real *inverse_mass;
    struct constraint_law law;
    int64_t a, b;
    long count;
    int along; // b - a if both ends lie in one row, otherwise 0
    real rest_length;
    const real *rest_lengths; // of springs that can yield, otherwise NULL
    const uint8_t *broken;    // of springs that can break, otherwise NULL
    real *multipliers;        // NULL if a substep has one iteration
    bool first;               // first iteration of the substep
};

// The argument of reference_constraints.
struct constraint_pass {
    double step;
    bool first;
};

#endif
