#include "view/redraw.h"

#include <time.h>

#include "base/clock.h"

// Seconds that this thread has had a core: others may want it too.
static double work_seconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return clock_seconds();
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct redraw redraw_make(bool software)
{
    return (struct redraw){.software = software, .frames_left = 3};
}

// The earliest moment for the next frame. A graphics card waits for the screen by itself.
static double next_frame(const struct redraw *redraw, bool held)
{
    const double period = redraw->software ? 1.0 / 60 : 1.0 / 125;
    double pause = redraw->software && !held ? 2 * redraw->cost : 0;
    return redraw->began + (pause > period ? pause : period);
}

void redraw_wait(const struct redraw *redraw, struct window *window, bool busy, bool held,
                 double due)
{
    const double idle = 0.25; // s
    double now = clock_seconds();
    double until = next_frame(redraw, held);
    if (!busy && redraw->frames_left == 0) {
        until = now + idle < due ? now + idle : due;
        window_wait(window, until - now);
        until = next_frame(redraw, held);
        now = clock_seconds();
    }
    // Events wake the sleeper; they wait in their queue until the frame is due.
    while (now < until) {
        window_wait(window, until - now);
        now = clock_seconds();
    }
    window_wait(window, 0);
}

bool redraw_draws(struct redraw *redraw, struct window *window, bool changed)
{
    enum { SETTLES_IN = 3 };
    if (window_is_touched(window) || changed)
        redraw->frames_left = SETTLES_IN;
    if (redraw->frames_left == 0)
        return false;
    redraw->frames_left--;
    return true;
}

void redraw_begin(struct redraw *redraw)
{
    redraw->began = clock_seconds();
    redraw->began_work = work_seconds();
}

void redraw_end(struct redraw *redraw, bool was_coarse)
{
    // Between the two the pixels stay as they are: a quarter of them costs more than a quarter.
    const double too_slow = 0.06, quick = 0.012; // s
    double cost = work_seconds() - redraw->began_work;
    // A single slow frame (a scene being opened) shall not slow those after it for long.
    redraw->cost = cost < redraw->cost ? cost : redraw->cost + (cost - redraw->cost) / 2;
    if (!redraw->software)
        return;
    if (!was_coarse && redraw->cost > too_slow)
        redraw->coarse = true;
    else if (was_coarse && redraw->cost < quick)
        redraw->coarse = false;
}
