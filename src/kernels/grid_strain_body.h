// Which springs of a grid are strained beyond their limits, for those that break or yield. The body
// of a kernel that is compiled for each instruction set; the thin file that includes this defines
// TAUT_WIDE_ISA and GRID_NAME.
#include "kernels/kernels.h"
#include "simd/wide_flags.h"

// Springs behind the last one may be another worker's, who may be changing them: not even read.
static inline wide_mask unbroken_first(const uint8_t *broken, long left)
{
    if (left >= WIDE_LANES)
        return wide_unflagged(broken);
    uint8_t flags[16] = {0};
    for (long lane = 0; lane < left; lane++)
        flags[lane] = broken[lane];
    return wide_both(wide_unflagged(flags), wide_lanes(0, left));
}

// The length as everywhere else, so that what is found here is exactly what breaks or yields.
static inline wide strand_length(const struct state *s, int64_t a, int64_t b)
{
    wide dx = wide_subtract(wide_load(s->x + a), wide_load(s->x + b));
    wide dy = wide_subtract(wide_load(s->y + a), wide_load(s->y + b));
    wide dz = wide_subtract(wide_load(s->z + a), wide_load(s->z + b));
    return wide_sqrt(
        wide_add(wide_add(wide_multiply(dx, dx), wide_multiply(dy, dy)), wide_multiply(dz, dz)));
}

uint64_t GRID_NAME(grid_beyond)(const struct state *s, const struct grid_strand *strand,
                                const struct strain_limits *limits)
{
    const bool moved = limits->of_present && s->rest_length;
    uint64_t beyond = 0;
    for (int i = 0; i < strand->count; i += WIDE_LANES) {
        long left = strand->count - i;
        wide length = strand_length(s, strand->a + i, strand->b + i);
        wide rest = moved ? wide_load_first(s->rest_length + strand->place + i, left)
                          : wide_set(strand->built);
        wide_mask valid = wide_lanes(0, left);
        if (s->broken)
            valid = unbroken_first(s->broken + strand->place + i, left);
        wide above = wide_subtract(length, wide_multiply(wide_set(limits->high), rest));
        wide below = wide_subtract(wide_multiply(wide_set(limits->low), rest), length);
        uint64_t lanes = wide_lanes_of(wide_both(valid, wide_positive(above))) |
                         wide_lanes_of(wide_both(valid, wide_positive(below)));
        beyond |= lanes << i;
    }
    return beyond;
}
