// Determines from the options which frames taut render draws, and into which kind of file. Nothing
// is opened or drawn here.
#include "cli/render_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture/image.h"

// Without --speed a film runs in real time if its duration is within these limits; otherwise it
// lasts FILM_SECONDS.
static const double FILM_SHORTEST = 1, FILM_LONGEST = 60, FILM_SECONDS = 8;
static const double FILM_FPS = 30, GIF_FPS = 25;

bool render_is_film(enum render_kind kind)
{
    return kind == RENDER_MP4 || kind == RENDER_GIF;
}

taut_status render_kind_of(const struct render_request *request, const char *path,
                           enum render_kind *kind, taut_error *error)
{
    bool several = request->time_count > 1 || request->frames > 1;

    // The suffix determines the kind.
    if (text_ends_with(path, ".png"))
        *kind = several ? RENDER_STRIP : RENDER_PICTURE;
    else if (text_ends_with(path, ".mp4"))
        *kind = RENDER_MP4;
    else if (text_ends_with(path, ".gif"))
        *kind = RENDER_GIF;
    else
        return fail(
            error, TAUT_ERROR_ARGUMENT,
            "the name of the output '%s' should end in .png (a picture or a strip), .mp4 or "
            ".gif (a video)",
            path);

    // H.264 cannot store half a pixel of colour, and padding would change the requested size.
    if (*kind == RENDER_MP4 && (request->width % 2 != 0 || request->height % 2 != 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "an .mp4 video has an even width and height (H.264 stores one colour for 2 x 2 "
                    "pixels), not %dx%d: use %dx%d, or an output that ends in .gif, which may "
                    "have any size",
                    request->width, request->height, request->width + request->width % 2,
                    request->height + request->height % 2);

    // Options for another kind.
    if (!render_is_film(*kind) && (request->fps > 0 || request->speed > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--fps and --speed are for videos: let the output end in .mp4 or .gif");
    if (*kind != RENDER_STRIP && request->columns > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--columns is only for strips: give several times with --time, or --frames");

    // Times that contradict each other.
    if (render_is_film(*kind) && request->time_count == 1)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a video has two times, its beginning and its end: --time FROM,TO");
    if (request->frames > 0 && request->time_count != 0 && request->time_count != 2)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--frames are spread between two times: --time FROM,TO, or none");
    if (request->frames > 0 && request->speed > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "--frames and --speed exclude each other: give one");
    if (*kind == RENDER_STRIP && request->frames > RENDER_TIMES_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT, "a strip has at most %d frames", RENDER_TIMES_MAX);
    return TAUT_OK;
}

static taut_status check_times(const struct render_request *request, double end, taut_error *error)
{
    double last = request->time_count > 0 ? request->times[request->time_count - 1] : 0;
    if (last > end * (1 + 1e-9))
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no t = %g s: it ends at %g s", last, end);
    return TAUT_OK;
}

// The frame rate of a finished run, if it is one at which films are shown; otherwise 0.
static double rate_of(const struct render_span *span)
{
    if (span->time_count < 2 || !(span->times[span->time_count - 1] > span->times[0]))
        return 0;
    double rate =
        (double)(span->time_count - 1) / (span->times[span->time_count - 1] - span->times[0]);
    return rate >= 10 && rate <= 60 ? round(rate * 100) / 100 : 0;
}

static void choose_rates(const struct render_request *request, const struct render_span *span,
                         double seconds, struct render_plan *plan)
{
    double own = span->times ? rate_of(span) : 0;
    double usual = own > 0 ? own : plan->kind == RENDER_GIF ? GIF_FPS : FILM_FPS;
    plan->fps = request->fps > 0 ? request->fps : usual;
    bool suits = seconds >= FILM_SHORTEST && seconds <= FILM_LONGEST;
    plan->speed = request->speed > 0 ? request->speed : suits ? 1 : seconds / FILM_SECONDS;
    if (request->frames > 1)
        plan->speed = seconds * plan->fps / (double)(request->frames - 1);
}

static taut_status list_times(struct render_plan *plan, const double *times, size_t count,
                              double from, double step, double end, taut_error *error)
{
    plan->times = calloc(count, sizeof *plan->times);
    if (!plan->times)
        return fail_memory(error, "the times of a video");
    plan->count = count;
    for (size_t i = 0; i < count; i++)
        plan->times[i] = times ? times[i] : fmin(from + step * (double)i, end);
    return TAUT_OK;
}

static taut_status plan_times(const struct render_request *request, const struct render_span *span,
                              struct render_plan *plan, taut_error *error)
{
    double from = request->time_count == 2 ? request->times[0] : 0;
    double to = request->time_count == 2 ? request->times[1] : span->end;
    if (render_is_film(plan->kind))
        choose_rates(request, span, to - from, plan);
    if (request->frames > 1)
        return list_times(plan, NULL, request->frames, from,
                          (to - from) / (double)(request->frames - 1), to, error);
    if (!render_is_film(plan->kind))
        return request->time_count > 0
                   ? list_times(plan, request->times, (size_t)request->time_count, 0, 0, 0, error)
                   : list_times(plan, NULL, 1, span->end, 0, span->end, error);
    double step = plan->speed / plan->fps;
    double count = step > 0 ? floor((to - from) / step * (1 + 1e-9)) + 1 : 1;
    if (count > RENDER_FRAMES_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the video would have %.0f frames, more than %d: give a higher --speed, or "
                    "--time FROM,TO",
                    count, RENDER_FRAMES_MAX);
    return list_times(plan, NULL, (size_t)count, from, step, to, error);
}

taut_status render_plan_make(const struct render_request *request, const char *path,
                             const struct render_span *span, struct render_plan *plan,
                             taut_error *error)
{
    *plan = (struct render_plan){0};
    taut_status status = render_kind_of(request, path, &plan->kind, error);
    if (status == TAUT_OK)
        status = check_times(request, span->end, error);
    if (status == TAUT_OK)
        status = plan_times(request, span, plan, error);
    if (status != TAUT_OK)
        return status;
    bool strip = plan->kind == RENDER_STRIP;
    plan->width = request->width > 0 ? request->width : strip ? 480 : 1280;
    plan->height = request->height > 0 ? request->height : strip ? 360 : 720;
    plan->columns = request->columns > 0 ? request->columns : strip_columns((int)plan->count);
    return TAUT_OK;
}

void render_plan_free(struct render_plan *plan)
{
    free(plan->times);
    *plan = (struct render_plan){0};
}
