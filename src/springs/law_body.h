// The materials and conditions of law.h for a register of springs. Included by kernel bodies, which
// are compiled for each instruction set.
#ifndef TAUT_SPRINGS_LAW_BODY_H
#define TAUT_SPRINGS_LAW_BODY_H

#include "springs/law.h"
#include "simd/wide.h"

// The materials of a register of springs. `side` is as spring_side returns it, and `open` is 1 -
// |side|.
struct wide_law {
    wide stiffness, along, across; // along: damping of the axial law; across: of the full law
    wide side, open;
    bool slack, crosses; // some spring may be slack; some spring has full damping
};

WIDE_INLINE struct wide_law wide_law_uniform(const struct spring_constants *material)
{
    bool full = material->damping_law == DAMPING_FULL;
    real side = spring_side(material->law);
    return (struct wide_law){
        .stiffness = wide_set(material->stiffness),
        .along = wide_set(full ? 0 : material->damping),
        .across = wide_set(full ? material->damping : 0),
        .side = wide_set(side),
        .open = wide_set(1 - side * side),
        .slack = side != 0,
        .crosses = full,
    };
}

static inline struct wide_law wide_law_mixed(const struct spring_constants *materials,
                                             const uint32_t *lanes)
{
    real value[5][WIDE_LANES];
    struct wide_law law = {.slack = false, .crosses = false};
    for (int l = 0; l < WIDE_LANES; l++) {
        const struct spring_constants *material = &materials[lanes[l]];
        bool full = material->damping_law == DAMPING_FULL;
        real side = spring_side(material->law);
        value[0][l] = material->stiffness;
        value[1][l] = full ? 0 : material->damping;
        value[2][l] = full ? material->damping : 0;
        value[3][l] = side;
        value[4][l] = 1 - side * side;
        law.slack |= side != 0;
        law.crosses |= full;
    }
    law.stiffness = wide_load(value[0]);
    law.along = wide_load(value[1]);
    law.across = wide_load(value[2]);
    law.side = wide_load(value[3]);
    law.open = wide_load(value[4]);
    return law;
}

// Lanes whose spring is not slack. `side` is as spring_side returns it, `open` is 1 - |side|.
WIDE_INLINE wide_mask wide_not_slack(wide side, wide open, wide stretch)
{
    return wide_positive(wide_add(wide_multiply(side, stretch), open));
}

// Those of the first `left` lanes whose spring is not broken. The flags after them are not read,
// since another worker may be writing them.
static inline wide_mask wide_unbroken(const uint8_t *broken, long left)
{
    if (left >= WIDE_LANES)
        return wide_mask_zero_bytes(broken);
    uint8_t flags[16] = {0};
    for (long lane = 0; lane < left; lane++)
        flags[lane] = broken[lane];
    return wide_mask_and(wide_mask_zero_bytes(flags), wide_lane_range(0, left));
}

// Lanes whose length is above `high` times `rest`, or below `low` times `rest`.
WIDE_INLINE wide_mask wide_above_limit(const struct strain_limits *limits, wide length, wide rest)
{
    return wide_positive(wide_subtract(length, wide_multiply(wide_set(limits->high), rest)));
}

WIDE_INLINE wide_mask wide_below_limit(const struct strain_limits *limits, wide length, wide rest)
{
    return wide_positive(wide_subtract(wide_multiply(wide_set(limits->low), rest), length));
}

#endif
