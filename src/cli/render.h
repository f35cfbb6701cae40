// From a scene or a finished run to a picture: shared by where moments come from
// (render_footage.c), how they are drawn (render_draw.c) and what is told of it (render_report.c).
#ifndef TAUT_CLI_RENDER_H
#define TAUT_CLI_RENDER_H

#include "cli/batch.h"
#include "cli/render_plan.h"
#include "cli/session.h"
#include "output/finished_run.h"
#include "picture/canvas.h"
#include "picture/reel.h"

// Where moments come from.
struct footage {
    struct options options; // of the session; the texts in them are the command's
    struct session session;
    struct subject subject;
    struct subject_store store; // the moment that was taken last
    bool wants_strains;
    struct batch batch;
    double shown; // wall time of the last word about progress
    // Of a finished run.
    bool is_run;
    char *scene_path;
    char *name; // of the scene
    struct finished_body *bodies;
    struct finished_run run;
    float *strains; // of all its springs, and whether they are broken
    uint8_t *broken;
};

struct render {
    const struct options *options;
    const struct render_wish *wish;
    char *path; // of the picture
    struct footage footage;
    struct render_plan plan;
    struct reel reel;
    double *times;         // s, of the frames as they are
    vec3 low, high;        // the box that all bodies stay in
    double least, most;    // ends of the colour scale over all frames
    struct canvas *canvas; // NULL: nothing has been drawn
    int width, height;     // of the whole picture
};

// Reads the scene, or the run. An exit code, after saying what is wrong; footage_close after
// either.
int footage_open(const struct options *options, struct footage *footage);

struct render_span footage_span(const struct footage *footage);

// Takes the moment nearest to a time into footage->store; times may not fall until footage_rewind.
taut_status footage_take(struct footage *footage, double time, taut_error *error);

// Back to the beginning.
taut_status footage_rewind(struct footage *footage, taut_error *error);

void footage_close(struct footage *footage);

// Fails if a signal asks for the end.
taut_status render_check_signals(taut_error *error);

// Draws all of the plan into the file.
taut_status render_draw(struct render *render, taut_error *error);

void render_print_line(const struct render *render);
void render_print_json(const struct render *render);

#endif
