#include "cli/render_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture/strip.h"

// Without --speed a film takes as long as what it shows, unless that is less or more than these;
// then it takes FILM_SECONDS.
static const double FILM_SHORTEST = 1, FILM_LONGEST = 60, FILM_SECONDS = 8;
static const double FILM_FPS = 30, GIF_FPS = 25;

bool render_is_film(enum render_sort sort)
{
    return sort == RENDER_MP4 || sort == RENDER_GIF;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

taut_status render_sort_of(const struct render_wish *wish, const char *path, enum render_sort *sort,
                           taut_error *error)
{
    bool several = wish->time_count > 1 || wish->frames > 1;
    if (ends_with(path, ".png"))
        *sort = several ? RENDER_STRIP : RENDER_PICTURE;
    else if (ends_with(path, ".mp4"))
        *sort = RENDER_MP4;
    else if (ends_with(path, ".gif"))
        *sort = RENDER_GIF;
    else
        return fail(
            error, TAUT_ERROR_ARGUMENT,
            "the name of the output '%s' should end in .png (a picture or a strip), .mp4 or "
            ".gif (a film)",
            path);
    // Half a pixel of colour cannot be stored, and padding would give another size than was asked.
    if (*sort == RENDER_MP4 && (wish->width % 2 != 0 || wish->height % 2 != 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "an .mp4 film has an even width and height (H.264 stores one colour for 2 x 2 "
                    "pixels), not %dx%d: take %dx%d, or let the output end in .gif, which takes "
                    "any size",
                    wish->width, wish->height, wish->width + wish->width % 2,
                    wish->height + wish->height % 2);
    if (!render_is_film(*sort) && (wish->fps > 0 || wish->speed > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--fps and --speed are of films: let the output end in .mp4 or .gif");
    if (*sort != RENDER_STRIP && wish->columns > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--columns is of strips: give several times with --time, or --frames");
    if (render_is_film(*sort) && wish->time_count == 1)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a film has two times, where it begins and where it ends: --time FROM,TO");
    if (wish->frames > 0 && wish->time_count != 0 && wish->time_count != 2)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--frames are spread between two times: --time FROM,TO, or none");
    if (wish->frames > 0 && wish->speed > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--frames and --speed are two ways to say the same: give one");
    if (*sort == RENDER_STRIP && wish->frames > RENDER_TIMES_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT, "a strip has at most %d frames", RENDER_TIMES_MAX);
    return TAUT_OK;
}

static taut_status check_times(const struct render_wish *wish, double end, taut_error *error)
{
    double last = wish->time_count > 0 ? wish->times[wish->time_count - 1] : 0;
    if (last > end * (1 + 1e-9))
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no t = %g s: it ends at %g s", last, end);
    return TAUT_OK;
}

// A finished run's own rate, where films are shown at such a rate.
static double rate_of(const struct render_span *span)
{
    if (span->time_count < 2 || !(span->times[span->time_count - 1] > span->times[0]))
        return 0;
    double rate =
        (double)(span->time_count - 1) / (span->times[span->time_count - 1] - span->times[0]);
    return rate >= 10 && rate <= 60 ? round(rate * 100) / 100 : 0;
}

static void choose_rates(const struct render_wish *wish, const struct render_span *span,
                         double seconds, struct render_plan *plan)
{
    double own = span->times ? rate_of(span) : 0;
    double usual = own > 0 ? own : plan->sort == RENDER_GIF ? GIF_FPS : FILM_FPS;
    plan->fps = wish->fps > 0 ? wish->fps : usual;
    bool suits = seconds >= FILM_SHORTEST && seconds <= FILM_LONGEST;
    plan->speed = wish->speed > 0 ? wish->speed : suits ? 1 : seconds / FILM_SECONDS;
    if (wish->frames > 1)
        plan->speed = seconds * plan->fps / (double)(wish->frames - 1);
}

static taut_status list_times(struct render_plan *plan, const double *times, size_t count,
                              double from, double step, double end, taut_error *error)
{
    plan->times = calloc(count, sizeof *plan->times);
    if (!plan->times)
        return fail_memory(error, "the times of a film");
    plan->count = count;
    for (size_t i = 0; i < count; i++)
        plan->times[i] = times ? times[i] : fmin(from + step * (double)i, end);
    return TAUT_OK;
}

static taut_status plan_times(const struct render_wish *wish, const struct render_span *span,
                              struct render_plan *plan, taut_error *error)
{
    double from = wish->time_count == 2 ? wish->times[0] : 0;
    double to = wish->time_count == 2 ? wish->times[1] : span->end;
    if (render_is_film(plan->sort))
        choose_rates(wish, span, to - from, plan);
    if (wish->frames > 1)
        return list_times(plan, NULL, wish->frames, from, (to - from) / (double)(wish->frames - 1),
                          to, error);
    if (!render_is_film(plan->sort))
        return wish->time_count > 0
                   ? list_times(plan, wish->times, (size_t)wish->time_count, 0, 0, 0, error)
                   : list_times(plan, NULL, 1, span->end, 0, span->end, error);
    double step = plan->speed / plan->fps;
    double count = step > 0 ? floor((to - from) / step * (1 + 1e-9)) + 1 : 1;
    if (count > RENDER_FRAMES_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the film would have %.0f frames, more than %d: give a higher --speed, or "
                    "--time FROM,TO",
                    count, RENDER_FRAMES_MAX);
    return list_times(plan, NULL, (size_t)count, from, step, to, error);
}

taut_status render_plan_make(const struct render_wish *wish, const char *path,
                             const struct render_span *span, struct render_plan *plan,
                             taut_error *error)
{
    *plan = (struct render_plan){0};
    taut_status status = render_sort_of(wish, path, &plan->sort, error);
    if (status == TAUT_OK)
        status = check_times(wish, span->end, error);
    if (status == TAUT_OK)
        status = plan_times(wish, span, plan, error);
    if (status != TAUT_OK)
        return status;
    bool strip = plan->sort == RENDER_STRIP;
    plan->width = wish->width > 0 ? wish->width : strip ? 480 : 1280;
    plan->height = wish->height > 0 ? wish->height : strip ? 360 : 720;
    plan->columns = wish->columns > 0 ? wish->columns : strip_columns((int)plan->count);
    return TAUT_OK;
}

void render_plan_free(struct render_plan *plan)
{
    free(plan->times);
    *plan = (struct render_plan){0};
}
