// The frames that taut render draws: of a scene that is simulated now, or of a finished run that is
// read from its files.
#include "cli/frame_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/terminal.h"

// More springs than this cannot be distinguished in any picture: in larger scenes every n-th is
// drawn. The colour of a surface, however, is a mean over all springs at its nodes.
enum { SPRINGS_MAX = 2000000, COLOUR_SPRINGS_MAX = 100000000 };

// ---- Opening

static const char *last_part(const char *path, size_t *length)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *length = end - begin;
    return path + begin;
}

static taut_status prepare_frames(const struct render_request *request, const char *path,
                                  struct frame_source *source, taut_error *error)
{
    bool coloured = colouring_is_of_springs(request->colouring);
    const struct subject_options wanted = {.springs_max =
                                               coloured ? COLOUR_SPRINGS_MAX : SPRINGS_MAX};
    taut_status status =
        subject_make(source->reader.session.solver, &wanted, &source->subject, error);
    // Broken flags are read together with the strains.
    bool strains = coloured || solver_topology(source->reader.session.solver)->any_breaks;
    bool contacts = request->shown & ~request->hidden & LAYER_CONTACTS;
    unsigned fields = strains ? SUBJECT_STRAINS : 0;
    fields |= contacts && !source->reader.is_run ? SUBJECT_CONTACTS : 0;
    if (status == TAUT_OK)
        status = subject_make_frame(&source->subject, fields, &source->frame, error);
    if (status == TAUT_OK && contacts && source->reader.is_run)
        complain("render: the files of a run have no contacts; 'taut render %s/scene.yaml' "
                 "simulates it again and shows them",
                 path);
    source->fields = source->frame.allocated;
    return status;
}

static taut_status find_name(const char *path, struct frame_source *source, taut_error *error)
{
    size_t length = 0;
    const char *name =
        source->reader.is_run ? source->reader.run.name : source->reader.session.scene->name;
    if (!name)
        name = last_part(path, &length);
    source->name = length > 0 ? text_format("%.*s", (int)length, name) : text_format("%s", name);
    return source->name ? TAUT_OK : fail_memory(error, "the name of a picture");
}

int frame_source_open(const struct options *options, struct frame_source *source)
{
    *source = (struct frame_source){.name = NULL};
    taut_error error = {0};
    int code = frame_reader_open(options, "render", NULL, &source->reader);
    if (code != EXIT_CODE_DONE)
        return code;
    taut_status status = find_name(options->scene, source, &error);
    if (status == TAUT_OK)
        status = prepare_frames(&options->render, options->scene, source, &error);
    if (status != TAUT_OK)
        complain("render: %s", error.text);
    return exit_code_of(status);
}

void frame_source_close(struct frame_source *source)
{
    frame_free(&source->frame);
    subject_free(&source->subject);
    frame_reader_close(&source->reader);
    free(source->name);
    *source = (struct frame_source){0};
}

struct render_span frame_source_span(const struct frame_source *source)
{
    const struct finished_run *run = &source->reader.run;
    if (source->reader.is_run)
        return (struct render_span){run->times[run->frame_count - 1], run->times, run->frame_count};
    return (struct render_span){.end = solver_planned_time(source->reader.session.solver)};
}

// ---- Reading

// Strains that a frame lacks follow from positions, for springs that neither break nor yield.
static float strain_from_positions(const struct subject *subject, const float *positions,
                                   uint64_t spring)
{
    const float *a = positions + 3 * (size_t)subject->springs[spring][0];
    const float *b = positions + 3 * (size_t)subject->springs[spring][1];
    float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    float rest = subject->rest_lengths[spring];
    return rest > 0.0f ? (sqrtf(x * x + y * y + z * z) - rest) / rest : 0.0f;
}

static void copy_strains(const struct frame_source *source, struct frame *frame)
{
    frame_select_drawn_springs(frame);
    for (uint64_t i = 0; i < frame->shape.drawn_count; i++)
        if (isnan(frame->drawn_strains[i]))
            frame->drawn_strains[i] =
                strain_from_positions(&source->subject, frame->drawn_positions, i);
}

// Colliders and wind are not in the files; they follow from the scene.
static void add_colliders_and_wind(const struct frame_source *source, struct frame *frame)
{
    const struct subject *subject = &source->subject;
    for (size_t c = 0; c < subject->collider_count; c++) {
        const struct scene_collider *collider = &subject->colliders[c];
        frame->colliders[c] = (struct frame_collider){
            .translate = {collider->translate.x, collider->translate.y, collider->translate.z}};
        if (collider->type != COLLIDER_SPHERE)
            continue;
        vec3 centre = vec3_add(collider->centre, vec3_scale(frame->time, collider->velocity));
        frame->colliders[c] =
            (struct frame_collider){.centre = {(float)centre.x, (float)centre.y, (float)centre.z},
                                    .radius = (float)collider->radius};
    }
    frame->fields |= FRAME_COLLIDERS;
    frame_set_wind(frame, &source->reader.session.scene->environment.wind);
}

taut_status frame_source_read(struct frame_source *source, double time, taut_error *error)
{
    struct frame *frame = &source->frame;
    taut_status status = frame_reader_read(&source->reader, time, source->fields, frame, error);
    if (status != TAUT_OK || !source->reader.is_run)
        return status;
    if (frame_has(frame, FRAME_SPRINGS))
        copy_strains(source, frame);
    add_colliders_and_wind(source, frame);
    return TAUT_OK;
}

taut_status frame_source_rewind(struct frame_source *source, taut_error *error)
{
    return frame_reader_rewind(&source->reader, error);
}

taut_status frame_source_interrupted(taut_error *error)
{
    return frame_reader_interrupted(error);
}
