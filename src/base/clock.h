// Wall time for measuring how long things take.
#ifndef TAUT_BASE_CLOCK_H
#define TAUT_BASE_CLOCK_H

// Seconds since a fixed but unknown moment. Monotonic: setting the machine's clock does not move
// it, so that differences are durations. Resolution of nanoseconds.
double clock_seconds(void);

#endif
