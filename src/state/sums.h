// Sums whose bits no number of threads changes: over fixed chunks of SUM_CHUNK elements, in double,
// the chunks added in their order. Every sum of the program that spans elements is made here.
// Numeric.
#ifndef TAUT_STATE_SUMS_H
#define TAUT_STATE_SUMS_H

#include "state/system.h"

// Adds the elements of one chunk to sums, which are 0 at the start; a column for each thing summed.
typedef void (*chunk_sum)(const struct system *system, const void *argument, struct range range,
                          double sums[SUM_WIDTH]);

// Sums elements 0 .. count - 1. All workers together; each receives all totals. Ends with a
// barrier.
void REAL_NAME(sum_over_chunks)(struct system *system, size_t count, chunk_sum sum,
                                const void *argument, double total[SUM_WIDTH],
                                const struct worker *worker);

#endif
