#include "picture/renderer.h"

#include "picture/arrows.h"
#include "picture/colliders.h"
#include "picture/faces.h"
#include "picture/legend.h"
#include "picture/marks.h"
#include "picture/outlines.h"
#include "picture/shaders.h"
#include "picture/shadow.h"
#include "picture/springs.h"

#include <stdlib.h>

struct renderer {
    const struct subject *subject;
    struct tables tables;
    struct values values;
    GLuint block;               // the uniform buffer `frame`
    GLuint background, nothing; // a program, and a vertex array without arrays
    struct shadow shadow;
    struct solids solids;
    struct colliders colliders;
    struct faces faces;
    struct outlines outlines;
    struct springs springs;
    struct marks marks;
    struct legend legend;
};

void render_options_default(struct render_options *options)
{
    *options = (struct render_options){.colouring = COLOURING_PLAIN};
}

unsigned renderer_layers_for(const struct subject *subject, const struct render_options *options)
{
    enum { NODES_SEEN = 400 };
    bool triangles = false;
    for (size_t b = 0; b < subject->body_count; b++)
        triangles |= subject->bodies[b].face_arity == 3 && subject->bodies[b].face_count > 0;
    unsigned layers =
        LAYER_FACES | LAYER_PINS | LAYER_COLLIDERS | LAYER_WIND | LAYER_GROUND | LAYER_LEGEND;
    if (!triangles || options->colouring == COLOURING_KIND)
        layers |= LAYER_SPRINGS;
    if (!triangles && subject->node_count <= NODES_SEEN)
        layers |= LAYER_NODES;
    return layers;
}

// ---- Making.

static taut_status require_version(taut_error *error)
{
    if (epoxy_is_desktop_gl() && epoxy_gl_version() >= 33)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED, "drawing needs OpenGL 3.3; '%s' has %s",
                (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
}

static taut_status parts_make(struct renderer *renderer, taut_error *error)
{
    glGenBuffers(1, &renderer->block);
    glGenVertexArrays(1, &renderer->nothing);
    tables_make(&renderer->tables);
    taut_status status =
        gl_program_make("background", "", shader_background, &renderer->background, error);
    if (status == TAUT_OK)
        status = shadow_make(&renderer->shadow, error);
    if (status == TAUT_OK)
        status = solids_make(&renderer->solids, error);
    if (status == TAUT_OK)
        status = colliders_make(&renderer->colliders, error);
    if (status == TAUT_OK)
        status = faces_make(&renderer->faces, error);
    if (status == TAUT_OK)
        status = outlines_make(&renderer->outlines, error);
    if (status == TAUT_OK)
        status = springs_make(&renderer->springs, error);
    if (status == TAUT_OK)
        status = marks_make(&renderer->marks, error);
    if (status == TAUT_OK)
        status = legend_make(&renderer->legend, error);
    return status == TAUT_OK ? gl_check("what pictures need", error) : status;
}

taut_status renderer_make(struct renderer **renderer, taut_error *error)
{
    *renderer = NULL;
    taut_status status = require_version(error);
    if (status != TAUT_OK)
        return status;
    struct renderer *made = calloc(1, sizeof *made);
    if (!made)
        return fail_memory(error, "a renderer");
    status = parts_make(made, error);
    if (status != TAUT_OK) {
        renderer_free(made);
        return status;
    }
    *renderer = made;
    return TAUT_OK;
}

void renderer_free(struct renderer *renderer)
{
    if (!renderer)
        return;
    values_free(&renderer->values);
    legend_free(&renderer->legend);
    marks_free(&renderer->marks);
    springs_free(&renderer->springs);
    outlines_free(&renderer->outlines);
    faces_free(&renderer->faces);
    colliders_free(&renderer->colliders);
    solids_free(&renderer->solids);
    shadow_free(&renderer->shadow);
    tables_free(&renderer->tables);
    glDeleteProgram(renderer->background);
    glDeleteVertexArrays(1, &renderer->nothing);
    glDeleteBuffers(1, &renderer->block);
    free(renderer);
}

taut_status renderer_set_subject(struct renderer *renderer, const struct subject *subject,
                                 taut_error *error)
{
    renderer->subject = NULL;
    values_free(&renderer->values);
    taut_status status = values_make(subject, &renderer->values, error);
    if (status == TAUT_OK)
        status = tables_set(&renderer->tables, subject, error);
    if (status == TAUT_OK)
        status = faces_set(&renderer->faces, subject, error);
    if (status == TAUT_OK)
        status = outlines_set(&renderer->outlines, subject, error);
    if (status == TAUT_OK)
        status = marks_set(&renderer->marks, subject, error);
    if (status == TAUT_OK)
        status = gl_check("a scene", error);
    if (status == TAUT_OK)
        renderer->subject = subject;
    return status;
}

// ---- Drawing.

static taut_status fill(struct renderer *renderer, const struct frame *frame, taut_error *error)
{
    bool faces = frame->layers & LAYER_FACES;
    values_take(&renderer->values, frame->subject, frame->moment, frame->options, faces,
                frame->layers & LAYER_SPRINGS, springs_every(frame));
    taut_status status =
        tables_fill(&renderer->tables, frame->subject, frame->moment, &renderer->values, error);
    if (status == TAUT_OK && faces)
        status = faces_fill(&renderer->faces, frame, &renderer->values, &renderer->tables, error);
    return status;
}

static void use_block(const struct renderer *renderer, const struct frame_block *block)
{
    glBindBuffer(GL_UNIFORM_BUFFER, renderer->block);
    glBufferData(GL_UNIFORM_BUFFER, sizeof *block, block, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, renderer->block);
}

// Surfaces, springs where there are no surfaces, and spheres.
static void cast_shadows(const struct renderer *renderer, struct frame *frame)
{
    struct frame_block seen;
    shadow_aim(frame, &seen);
    use_block(renderer, &seen);
    shadow_begin(&renderer->shadow);
    if (frame->layers & LAYER_FACES)
        faces_draw(&renderer->faces, frame, &renderer->values, &renderer->tables);
    if (frame->layers & LAYER_SPRINGS && !(frame->layers & LAYER_FACES))
        springs_draw(&renderer->springs, frame, &renderer->values, &renderer->tables, 1.5);
    if (frame->layers & LAYER_COLLIDERS)
        colliders_draw_spheres(&renderer->solids, frame);
    shadow_end(&renderer->shadow);
}

static void draw_background(const struct renderer *renderer, const struct frame *frame)
{
    glBindFramebuffer(GL_FRAMEBUFFER, frame->framebuffer);
    glViewport(0, 0, frame->camera->width, frame->camera->height);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDepthMask(GL_TRUE);
    glStencilMask(~0u);
    glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glUseProgram(renderer->background);
    glBindVertexArray(renderer->nothing);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
}

// From behind to before, where depths do not decide.
static void draw_scene(const struct renderer *renderer, const struct frame *frame)
{
    const struct tables *tables = &renderer->tables;
    const struct values *values = &renderer->values;
    unsigned layers = frame->layers;
    draw_background(renderer, frame);
    shadow_bind(&renderer->shadow);
    colliders_draw_planes(&renderer->colliders, frame);
    if (layers & LAYER_COLLIDERS)
        colliders_draw_spheres(&renderer->solids, frame);
    if (layers & LAYER_FACES) {
        outlines_draw(&renderer->outlines, frame, tables);
        faces_draw(&renderer->faces, frame, values, tables);
    }
    if (layers & LAYER_SPRINGS)
        springs_draw(&renderer->springs, frame, values, tables, 1.0);
    if (layers & LAYER_SPRINGS)
        arrows_draw_threads(&renderer->solids, frame);
    if (layers & LAYER_NODES)
        marks_draw_nodes(&renderer->marks, frame, tables);
    if (layers & LAYER_PINS)
        marks_draw_pins(&renderer->marks, frame, tables);
    arrows_draw_pulls(&renderer->solids, frame);
    colliders_draw_veils(&renderer->colliders, frame);
    if (arrows_have_wind(frame))
        arrows_draw_wind(&renderer->solids, frame);
}

// As whoever draws after us expects it.
static void end_picture(void)
{
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_BLEND);
    glBindVertexArray(0);
    glUseProgram(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    for (int unit = UNIT_COUNT - 1; unit >= 0; unit--) {
        gl_texture_bind(0, unit);
        glBindTexture(GL_TEXTURE_BUFFER, 0);
    }
}

taut_status renderer_draw(struct renderer *renderer, const struct subject_moment *moment,
                          const struct camera *camera, const struct render_options *options,
                          unsigned framebuffer, taut_error *error)
{
    if (!renderer->subject)
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no subject to draw");
    struct frame frame;
    frame_begin(&frame, renderer->subject, moment, camera, options, framebuffer);
    taut_status status = fill(renderer, &frame, error);
    if (status != TAUT_OK)
        return status;
    if (!frame.subject->flat)
        cast_shadows(renderer, &frame);
    use_block(renderer, &frame.block);
    draw_scene(renderer, &frame);
    status = legend_draw(&renderer->legend, &frame, &renderer->values, error);
    end_picture();
    return status == TAUT_OK ? gl_check("a picture", error) : status;
}

void renderer_scale(const struct renderer *renderer, double *least, double *most)
{
    *least = renderer->values.least;
    *most = renderer->values.most;
}
