#include "play/pace.h"

#include <math.h>

enum { SAMPLES = sizeof((struct pace){0}.samples) / sizeof(struct pace_sample) };

static const double LAG = 0.1;            // s, that are made up for
static const double SAMPLE_EVERY = 0.04;  // s
static const double MEASURED_OVER = 1.0;  // s
static const double MEASURED_LEAST = 0.1; // s, of which something can be said

void pace_begin(struct pace *pace, double now, double time)
{
    pace->since_wall = now;
    pace->since_time = time;
}

void pace_forget(struct pace *pace)
{
    pace->count = 0;
    pace->reached_speed = pace->reached_updates = 0;
}

uint64_t pace_due(struct pace *pace, double now, double time, double dt)
{
    if (isinf(pace->speed))
        return UINT64_MAX;
    double late = pace->since_time + pace->speed * (now - pace->since_wall) - time;
    double most = fmax(pace->speed * LAG, dt);
    if (late > most) {
        pace->since_wall = now;
        pace->since_time = time + most;
        late = most;
    }
    // The rounding of sums of dt must not cost a step in a frame.
    return late > 0 ? (uint64_t)(late / dt + 1e-6) : 0;
}

void pace_count(struct pace *pace, double simulated, double updates)
{
    pace->simulated += simulated;
    pace->updates += updates;
}

static struct pace_sample *sample(struct pace *pace, size_t index)
{
    return &pace->samples[(pace->first + index) % SAMPLES];
}

void pace_measure(struct pace *pace, double now)
{
    if (pace->count > 0 && now - sample(pace, pace->count - 1)->wall < SAMPLE_EVERY)
        return;
    while (pace->count == SAMPLES ||
           (pace->count > 2 && now - sample(pace, 1)->wall > MEASURED_OVER)) {
        pace->first = (pace->first + 1) % SAMPLES;
        pace->count--;
    }
    *sample(pace, pace->count++) = (struct pace_sample){now, pace->simulated, pace->updates};
    const struct pace_sample *from = sample(pace, 0);
    double seconds = now - from->wall;
    if (seconds >= MEASURED_LEAST) {
        pace->reached_speed = (pace->simulated - from->simulated) / seconds;
        pace->reached_updates = (pace->updates - from->updates) / seconds;
    }
}
