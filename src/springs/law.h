// The law of a spring: when it is slack, its elastic energy, when it breaks and when it yields.
// These conditions are implemented here for scalar code and in law_body.h for vector registers, and
// nowhere else; the force itself is in the kernels of each storage format. Numeric.
#ifndef TAUT_SPRINGS_LAW_H
#define TAUT_SPRINGS_LAW_H

#include "state/constants.h"

// 1 for tension-only springs, -1 for compression-only springs, 0 for springs that do both.
static inline real spring_side(enum spring_law law)
{
    return law == LAW_TENSION_ONLY ? 1 : law == LAW_COMPRESSION_ONLY ? -1 : (real)0;
}

// Whether the spring exerts no force at this length.
static inline bool spring_is_slack(const struct spring_constants *material, double length,
                                   double rest)
{
    return (material->law == LAW_TENSION_ONLY && length <= rest) ||
           (material->law == LAW_COMPRESSION_ONLY && length >= rest);
}

// k (L - L0)^2 / 2, and 0 where the law is slack.
static inline double spring_energy(const struct spring_constants *material, double length,
                                   double rest)
{
    double stretch = length - rest;
    if (spring_is_slack(material, length, rest))
        return 0;
    return 0.5 * (double)material->stiffness * stretch * stretch;
}

// ---- Breaking and yielding

static inline bool spring_can_break(const struct spring_constants *material)
{
    return isfinite(material->break_at);
}

static inline bool spring_can_yield(const struct spring_constants *material)
{
    return isfinite(material->yield_at);
}

// A spring of length L is beyond its limits if L > high L0 or L < low L0, where L0 is its present
// rest length (`of_present`) or the rest length as built. -1 and INFINITY mean no limit.
struct strain_limits {
    bool of_present;
    real high, low;
};

// Springs break when they are stretched beyond break_at times the length they were built with.
// Where the law makes them slack they carry nothing that could break them.
static inline struct strain_limits break_limits(const struct spring_constants *material)
{
    const bool stretches = material->law != LAW_COMPRESSION_ONLY;
    return (struct strain_limits){.high = stretches ? material->break_at : (real)INFINITY,
                                  .low = -1};
}

// Springs yield when the elastic strain (L - L0) / L0 leaves +-yield_at. Where the law makes them
// slack they carry no stress and do not yield.
static inline struct strain_limits yield_limits(const struct spring_constants *material)
{
    bool stretches = material->law != LAW_COMPRESSION_ONLY;
    bool compresses = material->law != LAW_TENSION_ONLY && material->yield_at < 1;
    return (struct strain_limits){.of_present = true,
                                  .high = stretches ? 1 + material->yield_at : (real)INFINITY,
                                  .low = compresses ? 1 - material->yield_at : -1};
}

#endif
