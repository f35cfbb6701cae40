// The order in which a picture is drawn (draw_scene), and the data that its parts share: box,
// camera and light of a picture, the tables in graphics memory, and shadows. Visible objects are
// drawn by surfaces.c, springs.c, solids.c and legend.c.
#include "picture/renderer.h"

#include "picture/contacts.h"
#include "picture/context.h"
#include "picture/legend.h"
#include "picture/shaders.h"
#include "picture/solids.h"
#include "picture/springs.h"
#include "picture/surfaces.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

// ---- The context of a picture

static void grow(struct render_context *context, vec3 low, vec3 high)
{
    context->low = vec3_make(fmin(context->low.x, low.x), fmin(context->low.y, low.y),
                             fmin(context->low.z, low.z));
    context->high = vec3_make(fmax(context->high.x, high.x), fmax(context->high.y, high.y),
                              fmax(context->high.z, high.z));
}

static void grow_by_nodes(struct render_context *context)
{
    const float *at = context->frame->drawn_positions;
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (uint64_t node = 0; node < context->subject->node_count; node++, at += 3) {
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    grow(context, vec3_make(low[0], low[1], low[2]), vec3_make(high[0], high[1], high[2]));
}

static void grow_by_spheres(struct render_context *context)
{
    for (size_t i = 0; context->frame->colliders && i < context->subject->collider_count; i++) {
        const struct frame_collider *sphere = &context->frame->colliders[i];
        if (!(sphere->radius > 0.0f))
            continue;
        vec3 centre = vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]);
        vec3 radius = vec3_make(sphere->radius, sphere->radius, sphere->radius);
        grow(context, vec3_subtract(centre, radius), vec3_add(centre, radius));
    }
}

static void grow_by_meshes(struct render_context *context)
{
    for (size_t m = 0; m < context->subject->mesh_count; m++) {
        vec3 low, high;
        const struct collider_pose pose = subject_mesh_pose(context->subject, m, context->frame);
        subject_mesh_box(context->subject, m, &pose, &low, &high);
        grow(context, low, high);
    }
}

static void grow_by_rooms(struct render_context *context)
{
    for (size_t i = 0; i < context->subject->collider_count; i++) {
        const struct scene_collider *collider = &context->subject->colliders[i];
        if (collider->type == COLLIDER_ROOM)
            grow(context, collider->min, collider->max);
    }
}

static void store_vector(float to[4], vec3 from, double last)
{
    to[0] = (float)from.x;
    to[1] = (float)from.y;
    to[2] = (float)from.z;
    to[3] = (float)last;
}

static void multiply(const float a[16], const float b[16], float product[16])
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            float sum = 0.0f;
            for (int i = 0; i < 4; i++)
                sum += a[4 * i + row] * b[4 * column + i];
            product[4 * column + row] = sum;
        }
}

static void fill_background(struct render_context *context)
{
    static const float light_sky[4] = {0.965f, 0.973f, 0.980f, 1.0f};
    static const float light_floor[4] = {0.855f, 0.878f, 0.902f, 1.0f};
    static const float dark_sky[4] = {0.150f, 0.165f, 0.185f, 1.0f};
    static const float dark_floor[4] = {0.075f, 0.083f, 0.095f, 1.0f};
    bool dark = context->options->dark;
    memcpy(context->block.sky, dark ? dark_sky : light_sky, sizeof light_sky);
    memcpy(context->block.floor_tint, dark ? dark_floor : light_floor, sizeof light_floor);
}

static void fill_camera(struct render_context *context)
{
    const struct camera *camera = context->camera;
    struct frame_block *block = &context->block;
    vec3 right, top, forward;
    camera_axes(camera, &right, &top, &forward);
    store_vector(block->eye, camera_eye(camera), camera->field > 0.0 ? 1.0 : 0.0);
    store_vector(block->forward, forward, 0.0);
    store_vector(block->right, right, 0.0);
    store_vector(block->top, top, 0.0);
    block->viewport[0] = (float)camera->width;
    block->viewport[1] = (float)camera->height;
    block->viewport[2] = 1.0f / (float)camera->width;
    block->viewport[3] = 1.0f / (float)camera->height;
    block->pixel[0] = (float)(camera_pixel_size(camera, camera->distance) /
                              (camera->field > 0.0 ? camera->distance : 1.0));
    float view[16], projection[16];
    vec3 margin = vec3_scale(1.5, vec3_make(context->size, context->size, context->size));
    camera_matrices(camera, vec3_subtract(context->low, margin), vec3_add(context->high, margin),
                    view, projection);
    multiply(projection, view, block->world_to_clip);

    // The light comes from above, a little from the left and from the eye: shadows fall beside the
    // objects, and surfaces that face the camera are lit.
    vec3 up = vec3_make(context->subject->up[0], context->subject->up[1], context->subject->up[2]);
    vec3 light = vec3_add(vec3_scale(context->subject->flat ? 0.5 : 0.95, up),
                          vec3_add(vec3_scale(-0.50, right), vec3_scale(-0.65, forward)));
    store_vector(block->light, vec3_scale(1.0 / vec3_length(light), light), 0.0);
    store_vector(block->up, up, 0.0);
}

// Computes the box of a frame, the direction of the light and the values of the uniform block.
static void context_begin(struct render_context *context, const struct subject *subject,
                          const struct frame *frame, const struct camera *camera,
                          const struct render_options *options, unsigned framebuffer)
{
    *context = (struct render_context){
        .subject = subject,
        .frame = frame,
        .camera = camera,
        .options = options,
        .layers = options->layers ? options->layers : renderer_layers_for(subject, options),
        .framebuffer = framebuffer,
        .low = {INFINITY, INFINITY, INFINITY},
        .high = {-INFINITY, -INFINITY, -INFINITY}};
    grow_by_nodes(context);
    grow_by_spheres(context);
    grow_by_meshes(context);
    context->casters_low = context->low;
    context->casters_high = context->high;
    grow_by_rooms(context);
    context->size = vec3_length(vec3_subtract(context->high, context->low));
    if (!(context->size > 0.0))
        context->size = 1.0;
    context->reach = camera_pixel_size(camera, camera->distance) * camera->height;
    store_vector(context->block.scene, vec3_scale(0.5, vec3_add(context->low, context->high)),
                 context->size);
    fill_background(context);
    fill_camera(context);
}

// ---- Tables in graphics memory

static GLuint maps_make(void)
{
    uint8_t texels[MAP_COUNT][3 * MAP_LENGTH];
    for (int map = 0; map < MAP_COUNT; map++)
        colour_map_fill((enum colour_map)map, texels[map]);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, MAP_LENGTH, MAP_COUNT, 0, GL_RGB, GL_UNSIGNED_BYTE,
                 texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

static void tables_make(struct tables *tables)
{
    *tables = (struct tables){.positions = gl_table_make(GL_R32F),
                              .ends = gl_table_make(GL_RG32UI),
                              .kinds = gl_table_make(GL_R8UI),
                              .values = gl_table_make(GL_R32F),
                              .maps = maps_make()};
}

static taut_status tables_set(struct tables *tables, const struct subject *subject,
                              taut_error *error)
{
    uint64_t count = subject->spring_count;
    taut_status status = gl_table_fill(&tables->ends, subject->springs, count,
                                       sizeof *subject->springs, GL_STATIC_DRAW, error);
    if (status == TAUT_OK)
        status = gl_table_fill(&tables->kinds, subject->kinds, count, sizeof *subject->kinds,
                               GL_STATIC_DRAW, error);
    return status;
}

static taut_status tables_fill(struct tables *tables, const struct subject *subject,
                               const struct frame *frame, const struct values *values,
                               taut_error *error)
{
    taut_status status =
        gl_table_fill(&tables->positions, frame->drawn_positions, 3 * subject->node_count,
                      sizeof(float), GL_STREAM_DRAW, error);
    if (status == TAUT_OK && values->of_springs)
        status = gl_table_fill(&tables->values, values->springs, values->spring_count,
                               sizeof(float), GL_STREAM_DRAW, error);
    return status;
}

static void tables_free(struct tables *tables)
{
    gl_table_free(&tables->positions);
    gl_table_free(&tables->ends);
    gl_table_free(&tables->kinds);
    gl_table_free(&tables->values);
    glDeleteTextures(1, &tables->maps);
    *tables = (struct tables){0};
}

void tables_bind(const struct tables *tables, const struct values *values, GLuint program)
{
    gl_table_bind(&tables->positions, UNIT_POSITIONS);
    gl_table_bind(&tables->ends, UNIT_ENDS);
    gl_table_bind(&tables->values, UNIT_VALUES);
    gl_table_bind(&tables->kinds, UNIT_KINDS);
    gl_texture_bind(tables->maps, UNIT_MAP);
    double range = values->most - values->least;
    glUniform3f(glGetUniformLocation(program, "scale"), (float)values->least,
                (float)(range > 0.0 ? 1.0 / range : 0.0),
                ((float)values->map + 0.5f) / (float)MAP_COUNT);
}

// ---- Shadows: a depth map as seen from the light, and the fraction of it that is covered, blurred

struct shadow {
    GLuint program, vertices;
    GLuint depths, depths_target;
    GLuint covered[2], covered_target[2]; // blurred in one direction, then in both
};

enum { DEPTHS_SIZE = 1024, COVERED_SIZE = 256 };

static void set_filter(GLenum filter, GLenum wrap)
{
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)wrap);
}

static bool depths_make(struct shadow *shadow)
{
    static const float lit[] = {1.0f, 1.0f, 1.0f, 1.0f};
    glGenTextures(1, &shadow->depths);
    glBindTexture(GL_TEXTURE_2D, shadow->depths);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, DEPTHS_SIZE, DEPTHS_SIZE, 0,
                 GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, NULL);
    set_filter(GL_LINEAR, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, lit);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    glGenFramebuffers(1, &shadow->depths_target);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->depths_target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, shadow->depths, 0);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool covered_make(struct shadow *shadow, int which)
{
    static const float nothing[] = {0.0f, 0.0f, 0.0f, 0.0f};
    glBindTexture(GL_TEXTURE_2D, shadow->covered[which]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, COVERED_SIZE, COVERED_SIZE, 0, GL_RED, GL_UNSIGNED_BYTE,
                 NULL);
    set_filter(GL_LINEAR, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, nothing);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->covered_target[which]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           shadow->covered[which], 0);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static taut_status shadow_make(struct shadow *shadow, taut_error *error)
{
    *shadow = (struct shadow){0};
    GLint before;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
    glGenVertexArrays(1, &shadow->vertices);
    glGenTextures(2, shadow->covered);
    glGenFramebuffers(2, shadow->covered_target);
    bool complete = depths_make(shadow) && covered_make(shadow, 0) && covered_make(shadow, 1);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    if (!complete)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "'%s' cannot draw shadows",
                    (const char *)glGetString(GL_RENDERER));
    return gl_program_make("blur", "", shader_blur, &shadow->program, error);
}

static void shadow_free(struct shadow *shadow)
{
    glDeleteProgram(shadow->program);
    glDeleteVertexArrays(1, &shadow->vertices);
    glDeleteTextures(1, &shadow->depths);
    glDeleteTextures(2, shadow->covered);
    glDeleteFramebuffers(1, &shadow->depths_target);
    glDeleteFramebuffers(2, shadow->covered_target);
    *shadow = (struct shadow){0};
}

// The view of the light: a parallel projection of the box of everything that casts shadows.

// A row of a matrix that maps the range from `least` to `most` along an axis to -1 and 1.
static void set_row(float matrix[16], int row, vec3 axis, double least, double most)
{
    double scale = 2.0 / (most - least);
    matrix[row] = (float)(scale * axis.x);
    matrix[4 + row] = (float)(scale * axis.y);
    matrix[8 + row] = (float)(scale * axis.z);
    matrix[12 + row] = (float)(-scale * 0.5 * (least + most));
}

static void extent_along(const struct render_context *context, vec3 axis, double *least,
                         double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (unsigned i = 0; i < 8; i++) {
        vec3 corner = vec3_make(i & 1 ? context->casters_high.x : context->casters_low.x,
                                i & 2 ? context->casters_high.y : context->casters_low.y,
                                i & 4 ? context->casters_high.z : context->casters_low.z);
        *least = fmin(*least, vec3_dot(corner, axis));
        *most = fmax(*most, vec3_dot(corner, axis));
    }
    double margin = 0.08 * (*most - *least) + 0.01 * context->size;
    *least -= margin;
    *most += margin;
}

// Sets the light's view in a context: `world_to_shadow` and the darkness of shadows. `seen` is the
// uniform block for drawing the objects that cast shadows.
static void shadow_aim(struct render_context *context, struct frame_block *seen)
{
    const float *from = context->block.light;
    vec3 light = vec3_make(from[0], from[1], from[2]);
    vec3 other = fabs(light.y) < 0.9 ? vec3_make(0, 1, 0) : vec3_make(1, 0, 0);
    vec3 right = vec3_cross(other, light);
    right = vec3_scale(1.0 / vec3_length(right), right);
    const vec3 axes[3] = {right, vec3_cross(light, right), vec3_scale(-1.0, light)};
    *seen = context->block;
    memset(seen->world_to_clip, 0, sizeof seen->world_to_clip);
    for (int row = 0; row < 3; row++) {
        double least, most;
        extent_along(context, axes[row], &least, &most);
        set_row(seen->world_to_clip, row, axes[row], least, most);
    }
    seen->world_to_clip[15] = 1.0f;
    seen->eye[3] = 0.0f;
    seen->light[3] = 0.0f;
    seen->viewport[0] = seen->viewport[1] = (float)DEPTHS_SIZE;
    seen->viewport[2] = seen->viewport[3] = 1.0f / (float)DEPTHS_SIZE;

    // The same, mapped to the range from 0 to 1.
    for (int i = 0; i < 16; i++) {
        bool is_row = i % 4 < 3;
        context->block.world_to_shadow[i] =
            is_row ? 0.5f * seen->world_to_clip[i] + (i >= 12 ? 0.5f : 0.0f)
                   : seen->world_to_clip[i];
    }
    context->block.light[3] = context->options->dark ? 0.55f : 0.38f;
}

// Everything drawn between shadow_begin and shadow_end casts shadows.
static void shadow_begin(const struct shadow *shadow)
{
    gl_texture_bind(0, UNIT_SHADOW);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->depths_target);
    glViewport(0, 0, DEPTHS_SIZE, DEPTHS_SIZE);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_BLEND);
    glDisable(GL_CULL_FACE);
    glDepthMask(GL_TRUE);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_CLAMP);
}

static void blur(const struct shadow *shadow, int to, bool from_map, float x, float y)
{
    gl_texture_bind(from_map ? 0 : shadow->covered[0], UNIT_COVERAGE);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->covered_target[to]);
    gl_set_int(shadow->program, "from_map", from_map);
    glUniform2f(glGetUniformLocation(shadow->program, "direction"), x, y);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void shadow_end(const struct shadow *shadow)
{
    const float step = 1.0f / (float)COVERED_SIZE;
    glDisable(GL_DEPTH_CLAMP);
    glDisable(GL_DEPTH_TEST);
    glViewport(0, 0, COVERED_SIZE, COVERED_SIZE);
    glUseProgram(shadow->program);
    glBindVertexArray(shadow->vertices);
    gl_texture_bind(shadow->depths, UNIT_SHADOW);
    blur(shadow, 0, true, step, 0.0f);
    blur(shadow, 1, false, 0.0f, step);
    glBindVertexArray(0);
}

static void shadow_bind(const struct shadow *shadow)
{
    gl_texture_bind(shadow->depths, UNIT_SHADOW);
    gl_texture_bind(shadow->covered[1], UNIT_COVERAGE);
}

// ---- The renderer

struct renderer {
    const struct subject *subject;
    struct tables tables;
    struct values values;
    GLuint block;               // the uniform buffer `frame`
    GLuint background, nothing; // a program, and an empty vertex array
    struct shadow shadow;
    struct solids solids;
    struct colliders colliders;
    struct faces faces;
    struct outlines outlines;
    struct springs springs;
    struct contacts contacts;
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

// ---- Creation

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
        status = contacts_make(&renderer->contacts, error);
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
    contacts_free(&renderer->contacts);
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
        colliders_set(&renderer->colliders, subject);
    if (status == TAUT_OK)
        status = marks_set(&renderer->marks, subject, error);
    if (status == TAUT_OK)
        status = gl_check("a scene", error);
    if (status == TAUT_OK)
        renderer->subject = subject;
    return status;
}

// ---- Drawing

static taut_status fill(struct renderer *renderer, const struct render_context *context,
                        taut_error *error)
{
    bool faces = context->layers & LAYER_FACES;
    values_compute(&renderer->values, context->subject, context->frame, context->options, faces,
                   context->layers & LAYER_SPRINGS, springs_every(context));
    taut_status status =
        tables_fill(&renderer->tables, context->subject, context->frame, &renderer->values, error);
    if (status == TAUT_OK && faces)
        status = faces_fill(&renderer->faces, context, &renderer->values, &renderer->tables, error);
    return status;
}

static void use_block(const struct renderer *renderer, const struct frame_block *block)
{
    glBindBuffer(GL_UNIFORM_BUFFER, renderer->block);
    glBufferData(GL_UNIFORM_BUFFER, sizeof *block, block, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, renderer->block);
}

// Surfaces, springs of bodies without surfaces, spheres and mesh colliders.
static void cast_shadows(const struct renderer *renderer, struct render_context *context)
{
    struct frame_block seen;
    shadow_aim(context, &seen);
    use_block(renderer, &seen);
    shadow_begin(&renderer->shadow);
    if (context->layers & LAYER_FACES)
        faces_draw(&renderer->faces, context, &renderer->values, &renderer->tables);
    if (context->layers & LAYER_SPRINGS && !(context->layers & LAYER_FACES))
        springs_draw(&renderer->springs, context, &renderer->values, &renderer->tables, 1.5);
    if (context->layers & LAYER_COLLIDERS) {
        colliders_draw_spheres(&renderer->solids, context);
        colliders_draw_meshes(&renderer->colliders, &renderer->solids, context);
    }
    shadow_end(&renderer->shadow);
}

static void draw_background(const struct renderer *renderer, const struct render_context *context)
{
    glBindFramebuffer(GL_FRAMEBUFFER, context->framebuffer);
    glViewport(0, 0, context->camera->width, context->camera->height);
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

// Draws from back to front where depths do not decide.
static void draw_scene(const struct renderer *renderer, const struct render_context *context)
{
    const struct tables *tables = &renderer->tables;
    const struct values *values = &renderer->values;
    unsigned layers = context->layers;
    draw_background(renderer, context);
    shadow_bind(&renderer->shadow);
    colliders_draw_planes(&renderer->colliders, context);
    if (layers & LAYER_COLLIDERS) {
        colliders_draw_spheres(&renderer->solids, context);
        colliders_draw_meshes(&renderer->colliders, &renderer->solids, context);
    }
    if (layers & LAYER_FACES) {
        outlines_draw(&renderer->outlines, context, tables);
        faces_draw(&renderer->faces, context, values, tables);
    }
    if (layers & LAYER_SPRINGS)
        springs_draw(&renderer->springs, context, values, tables, 1.0);
    if (layers & LAYER_SPRINGS)
        arrows_draw_strings(&renderer->solids, context);
    if (layers & LAYER_NODES)
        marks_draw_nodes(&renderer->marks, context, tables);
    if (layers & LAYER_PINS)
        marks_draw_pins(&renderer->marks, context, tables);
    if (layers & LAYER_CONTACTS)
        contacts_draw(&renderer->contacts, context);
    arrows_draw_mouse_spring(&renderer->solids, context);
    colliders_draw_veils(&renderer->colliders, context);
    if (arrows_have_wind(context))
        arrows_draw_wind(&renderer->solids, context);
}

// Restores the state of OpenGL that code after the renderer expects.
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

taut_status renderer_draw(struct renderer *renderer, const struct frame *frame,
                          const struct camera *camera, const struct render_options *options,
                          unsigned framebuffer, taut_error *error)
{
    if (!renderer->subject)
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no subject to draw");
    struct render_context context;
    context_begin(&context, renderer->subject, frame, camera, options, framebuffer);
    taut_status status = fill(renderer, &context, error);
    if (status != TAUT_OK)
        return status;
    if (!context.subject->flat)
        cast_shadows(renderer, &context);
    use_block(renderer, &context.block);
    draw_scene(renderer, &context);
    status = legend_draw(&renderer->legend, &context, &renderer->values, error);
    end_picture();
    return status == TAUT_OK ? gl_check("a picture", error) : status;
}

void renderer_scale(const struct renderer *renderer, double *least, double *most)
{
    *least = renderer->values.least;
    *most = renderer->values.most;
}
