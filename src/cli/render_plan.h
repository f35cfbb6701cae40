// Which picture, strip or film is drawn, and at which times.
#ifndef TAUT_CLI_RENDER_PLAN_H
#define TAUT_CLI_RENDER_PLAN_H

#include "base/status.h"
#include "cli/options.h"

enum render_kind { RENDER_PICTURE, RENDER_STRIP, RENDER_MP4, RENDER_GIF };

// The duration of what is drawn, and the times of its frames.
struct render_span {
    double end;          // s
    const double *times; // of a finished run's frames, ascending; NULL: frames at any time
    size_t time_count;
};

struct render_plan {
    enum render_kind kind;
    double *times; // s, ascending
    size_t count;
    int width, height; // of each frame
    int columns;       // of a strip
    double fps, speed; // of a film
};

// Follows the options; TAUT_ERROR_ARGUMENT if they contradict each other or the span, or if the
// suffix is not .png, .mp4 or .gif. Call render_plan_free after success.
taut_status render_plan_make(const struct render_request *request, const char *path,
                             const struct render_span *span, struct render_plan *plan,
                             taut_error *error);

// Depends only on the request and the path, so that it is known before a scene is read.
taut_status render_kind_of(const struct render_request *request, const char *path,
                           enum render_kind *kind, taut_error *error);

bool render_is_film(enum render_kind kind);

void render_plan_free(struct render_plan *plan);

#endif
