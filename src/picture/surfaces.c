// Draws faces with their normals, and the areas of plane bodies (surfaces.h).
#include "picture/surfaces.h"

#include "picture/shaders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Normals

static void cross_of(const float a[3], const float b[3], float product[3])
{
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

static void from_to(const float *positions, uint64_t from, uint64_t to, float difference[3])
{
    for (int axis = 0; axis < 3; axis++)
        difference[axis] = positions[3 * to + axis] - positions[3 * from + axis];
}

// The sum of the normals of the faces at each node of a body of triangles, weighted by their areas;
// not of unit length. `normals` and `positions` have all nodes of the subject.
static void normals_of_faces(const struct subject *subject, const struct subject_body *body,
                             const float *positions, float *normals)
{
    memset(normals + 3 * body->first_node, 0, 3 * (size_t)body->node_count * sizeof *normals);
    for (uint64_t i = 0; i < body->face_count; i++) {
        const uint32_t *face = subject->faces[body->first_face + i];
        float ab[3], ac[3], normal[3];
        from_to(positions, face[0], face[1], ab);
        from_to(positions, face[0], face[2], ac);
        cross_of(ab, ac, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int axis = 0; axis < 3; axis++)
                normals[3 * (size_t)face[corner] + (size_t)axis] += normal[axis];
    }
}

// The neighbours at a stride along one direction; at the ends the node itself.
static void neighbours(uint64_t at, uint64_t count, uint64_t stride, uint64_t *before,
                       uint64_t *after)
{
    *before = at >= stride ? at - stride : 0;
    *after = at + stride < count ? at + stride : count - 1;
}

// Normals of a cloth at every `stride`-th node along both directions (and at the last ones).
static void normals_of_grid(const struct subject_body *body, uint64_t stride,
                            const float *positions, float *normals)
{
    uint64_t across = body->grid[0], rows = body->grid[1];
    const float *at = positions + 3 * body->first_node;
    for (uint64_t j = 0;;) {
        uint64_t below, above;
        neighbours(j, rows, stride, &below, &above);
        for (uint64_t i = 0;;) {
            uint64_t left, right;
            neighbours(i, across, stride, &left, &right);
            float along_u[3], along_v[3];
            from_to(at, j * across + left, j * across + right, along_u);
            from_to(at, below * across + i, above * across + i, along_v);
            cross_of(along_u, along_v, normals + 3 * (body->first_node + j * across + i));
            if (i == across - 1)
                break;
            i = i + stride < across ? i + stride : across - 1;
        }
        if (j == rows - 1)
            break;
        j = j + stride < rows ? j + stride : rows - 1;
    }
}

// ---- Faces

// Above this number of triangles the shader computes normals from the derivatives of the position
// between neighbouring pixels.
static const uint64_t SMOOTH_MAX = 400000;

taut_status faces_make(struct faces *faces, taut_error *error)
{
    *faces = (struct faces){0};
    glGenVertexArrays(1, &faces->vertices);
    glGenBuffers(1, &faces->normal_buffer);
    glGenBuffers(1, &faces->value_buffer);
    taut_status status = TAUT_OK;
    for (unsigned bits = 0; bits < FACES_PROGRAMS && status == TAUT_OK; bits++) {
        char defines[160];
        snprintf(defines, sizeof defines, "%s%s%s%s",
                 bits & FACES_FLAT ? "#define FLAT_NORMALS\n" : "",
                 bits & FACES_HARD_SHADOWS ? "#define HARD_SHADOWS\n" : "",
                 bits & FACES_CHECKER ? "#define CHECKER\n" : "",
                 bits & FACES_BY_VALUE ? "#define BY_VALUE\n" : "");
        status = gl_program_make("faces", defines, shader_faces, &faces->programs[bits], error);
    }
    return status;
}

static void release_subject(struct faces *faces)
{
    for (size_t b = 0; b < faces->body_count; b++)
        glDeleteBuffers(1, &faces->bodies[b].indices);
    free(faces->bodies);
    free(faces->normals);
    faces->bodies = NULL;
    faces->normals = NULL;
    faces->body_count = 0;
}

void faces_free(struct faces *faces)
{
    release_subject(faces);
    for (unsigned bits = 0; bits < FACES_PROGRAMS; bits++)
        glDeleteProgram(faces->programs[bits]);
    glDeleteBuffers(1, &faces->normal_buffer);
    glDeleteBuffers(1, &faces->value_buffer);
    glDeleteVertexArrays(1, &faces->vertices);
    *faces = (struct faces){0};
}

taut_status faces_set(struct faces *faces, const struct subject *subject, taut_error *error)
{
    release_subject(faces);
    faces->node_count = subject->node_count;
    faces->bodies = calloc(subject->body_count + 1, sizeof *faces->bodies);
    faces->normals = calloc((size_t)subject->node_count + 1, 3 * sizeof *faces->normals);
    if (!faces->bodies || !faces->normals)
        return fail_memory(error, "the surfaces of a picture");
    faces->body_count = subject->body_count;
    return TAUT_OK;
}

// ---- Choice of triangles

// A cloth without removed faces: it may be drawn with every n-th node only.
static bool is_whole_sheet(const struct subject_body *body)
{
    return body->type == BODY_CLOTH && body->grid[0] > 1 && body->grid[1] > 1 &&
           body->face_count == 2 * (body->grid[0] - 1) * (body->grid[1] - 1);
}

// If a cloth has more triangles than the picture can show, nodes are skipped so that a triangle
// covers several pixels.
static uint64_t stride_for(const struct subject_body *body, const struct render_context *context)
{
    if (!is_whole_sheet(body))
        return 1;
    uint64_t pixels = (uint64_t)context->camera->width * (uint64_t)context->camera->height;
    uint64_t most = pixels / (context->options->flat_normals ? 16 : 8) + 1, stride = 1;
    while (body->face_count / (stride * stride) > most)
        stride++;
    return stride;
}

static uint64_t steps_along(uint64_t nodes, uint64_t stride)
{
    return (nodes - 2) / stride + 1;
}

static uint32_t node_at(const struct subject_body *body, uint64_t i, uint64_t j)
{
    uint64_t u = i < body->grid[0] ? i : body->grid[0] - 1;
    uint64_t v = j < body->grid[1] ? j : body->grid[1] - 1;
    return (uint32_t)(body->first_node + v * body->grid[0] + u);
}

static uint32_t *sheet_indices(const struct subject_body *body, uint64_t stride, uint64_t *count)
{
    uint64_t across = steps_along(body->grid[0], stride), rows = steps_along(body->grid[1], stride);
    *count = 6 * across * rows;
    uint32_t *indices = malloc((size_t)*count * sizeof *indices);
    uint32_t *next = indices;
    for (uint64_t j = 0; indices && j < rows; j++) {
        for (uint64_t i = 0; i < across; i++) {
            uint32_t a = node_at(body, i * stride, j * stride);
            uint32_t b = node_at(body, (i + 1) * stride, j * stride);
            uint32_t c = node_at(body, (i + 1) * stride, (j + 1) * stride);
            uint32_t d = node_at(body, i * stride, (j + 1) * stride);
            const uint32_t corners[] = {a, b, c, a, c, d};
            for (int k = 0; k < 6; k++)
                *next++ = corners[k];
        }
    }
    return indices;
}

static taut_status indices_fill(struct faces_body *drawn, const struct subject *subject,
                                const struct subject_body *body, uint64_t stride, taut_error *error)
{
    const uint32_t *indices = body->face_count > 0 ? subject->faces[body->first_face] : NULL;
    uint32_t *sheet = NULL;
    drawn->count = 3 * body->face_count;
    if (stride > 1) {
        sheet = sheet_indices(body, stride, &drawn->count);
        if (!sheet)
            return fail_memory(error, "the surfaces of a picture");
        indices = sheet;
    }
    if (drawn->indices == 0)
        glGenBuffers(1, &drawn->indices);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, drawn->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(drawn->count * sizeof *indices), indices,
                 GL_STATIC_DRAW);
    free(sheet);
    drawn->stride = stride;
    return TAUT_OK;
}

// ---- Drawing a frame

static bool flat_normals(const struct faces_body *drawn, const struct render_context *context)
{
    return drawn->count / 3 > SMOOTH_MAX ||
           (context->options->flat_normals && drawn->stride == 1 && drawn->count / 3 > 20000);
}

taut_status faces_fill(struct faces *faces, const struct render_context *context,
                       const struct values *values, const struct tables *tables, taut_error *error)
{
    const struct subject *subject = context->subject;

    // Updates indices if the resolution has changed, and normals unless the shader computes them.
    glBindVertexArray(faces->vertices);
    for (size_t b = 0; b < faces->body_count; b++) {
        const struct subject_body *body = &subject->bodies[b];
        struct faces_body *drawn = &faces->bodies[b];
        if (body->face_arity != 3 || body->face_count == 0)
            continue;
        uint64_t stride = stride_for(body, context);
        if (drawn->stride != stride) {
            taut_status status = indices_fill(drawn, subject, body, stride, error);
            if (status != TAUT_OK)
                return status;
        }
        if (flat_normals(drawn, context))
            continue;
        if (is_whole_sheet(body))
            normals_of_grid(body, stride, context->frame->drawn_positions, faces->normals);
        else
            normals_of_faces(subject, body, context->frame->drawn_positions, faces->normals);
    }

    // Attributes 0 to 2: positions, normals and values.
    glBindBuffer(GL_ARRAY_BUFFER, tables->positions.buffer);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);

    glBindBuffer(GL_ARRAY_BUFFER, faces->normal_buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(3 * faces->node_count * sizeof(float)),
                 faces->normals, GL_STREAM_DRAW);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);

    glDisableVertexAttribArray(2);
    if (values->of_nodes) {
        glBindBuffer(GL_ARRAY_BUFFER, faces->value_buffer);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(faces->node_count * sizeof(float)),
                     values->nodes, GL_STREAM_DRAW);
        glVertexAttribPointer(2, 1, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(2);
    }

    glBindVertexArray(0);
    return TAUT_OK;
}

// About a dozen squares along the shorter side of a cloth, and a few along a block's.
static float square_of(const struct subject_body *body)
{
    bool cloth = body->type == BODY_CLOTH, block = body->type == BODY_LATTICE;
    if (!cloth && !block)
        return 0.0f;
    uint64_t least = body->grid[0] < body->grid[1] ? body->grid[0] : body->grid[1];
    if (block && body->grid[2] < least)
        least = body->grid[2];
    float square = roundf((float)least / (cloth ? 12.0f : 5.0f));
    return square > 1.0f ? square : 1.0f;
}

// If springs are coloured by kind, faces are pale, so that springs are visible.
static bool is_pale(const struct render_context *context)
{
    return context->options->colouring == COLOURING_KIND;
}

static GLuint program_for(const struct faces *faces, size_t body,
                          const struct render_context *context, const struct values *values)
{
    unsigned bits = 0;
    if (flat_normals(&faces->bodies[body], context))
        bits |= FACES_FLAT;
    if (context->options->flat_normals)
        bits |= FACES_HARD_SHADOWS;
    if (values->of_nodes)
        bits |= FACES_BY_VALUE;
    else if (!is_pale(context) && square_of(&context->subject->bodies[body]) > 0.0f)
        bits |= FACES_CHECKER;
    return faces->programs[bits];
}

static void set_body(GLuint program, const struct render_context *context, size_t number)
{
    static const struct colour paper = {0.93f, 0.93f, 0.92f};
    const struct subject_body *body = &context->subject->bodies[number];
    struct colour front = is_pale(context) ? paper : colour_of_body(number);
    struct colour second = body->type == BODY_LATTICE ? colour_mix(front, colour_pale(front), 0.25)
                                                      : colour_pale(front);
    gl_set_colour(program, "front", front);
    gl_set_colour(program, "back", colour_back(front));
    gl_set_colour(program, "second", second);
    gl_set_int(program, "first_node", body->first_node);
    glUniform3i(glGetUniformLocation(program, "grid"), (GLint)body->grid[0], (GLint)body->grid[1],
                (GLint)body->grid[2]);
    gl_set_float(program, "square", square_of(body));
}

void faces_draw(const struct faces *faces, const struct render_context *context,
                const struct values *values, const struct tables *tables)
{
    glBindVertexArray(faces->vertices);
    glEnable(GL_POLYGON_OFFSET_FILL); // springs are drawn on top
    glPolygonOffset(1.0f, 1.0f);
    for (size_t b = 0; b < faces->body_count; b++) {
        const struct faces_body *drawn = &faces->bodies[b];
        if (drawn->count == 0)
            continue;
        GLuint program = program_for(faces, b, context, values);
        glUseProgram(program);
        tables_bind(tables, values, program);
        set_body(program, context, b);
        // The inside of a closed body is never visible, but would show through at its silhouette.
        if (context->subject->bodies[b].closed)
            glEnable(GL_CULL_FACE);
        else
            glDisable(GL_CULL_FACE);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, drawn->indices);
        glDrawElements(GL_TRIANGLES, (GLsizei)drawn->count, GL_UNSIGNED_INT, NULL);
    }
    glDisable(GL_CULL_FACE);
    glDisable(GL_POLYGON_OFFSET_FILL);
    glBindVertexArray(0);
}

// ---- Outlines

taut_status outlines_make(struct outlines *outlines, taut_error *error)
{
    *outlines = (struct outlines){.edges = gl_table_make(GL_RG32UI)};
    glGenVertexArrays(1, &outlines->vertices);
    return gl_program_make("outlines", "", shader_outlines, &outlines->program, error);
}

void outlines_free(struct outlines *outlines)
{
    glDeleteProgram(outlines->program);
    glDeleteVertexArrays(1, &outlines->vertices);
    gl_table_free(&outlines->edges);
    *outlines = (struct outlines){0};
}

static bool is_outline(const struct subject_body *body)
{
    return body->face_arity == 2 && body->face_count > 0 && body->closed;
}

taut_status outlines_set(struct outlines *outlines, const struct subject *subject,
                         taut_error *error)
{
    outlines->any = false;
    for (size_t b = 0; b < subject->body_count; b++)
        outlines->any |= is_outline(&subject->bodies[b]);
    if (!outlines->any)
        return TAUT_OK;
    uint32_t(*edges)[2] = calloc((size_t)subject->face_count + 1, sizeof *edges);
    if (!edges)
        return fail_memory(error, "the outlines of a picture");
    for (uint64_t i = 0; i < subject->face_count; i++) {
        edges[i][0] = subject->faces[i][0];
        edges[i][1] = subject->faces[i][1];
    }
    taut_status status = gl_table_fill(&outlines->edges, edges, subject->face_count, sizeof *edges,
                                       GL_STATIC_DRAW, error);
    free(edges);
    return status;
}

static void set_outline_paint(GLuint program, struct colour colour, float opacity)
{
    glUniform4f(glGetUniformLocation(program, "paint"), colour.red, colour.green, colour.blue,
                opacity);
}

void outlines_draw(const struct outlines *outlines, const struct render_context *context,
                   const struct tables *tables)
{
    if (!outlines->any)
        return;
    GLuint program = outlines->program;
    glUseProgram(program);
    gl_table_bind(&tables->positions, UNIT_POSITIONS);
    gl_table_bind(&outlines->edges, UNIT_ENDS);
    glBindVertexArray(outlines->vertices);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glStencilMask(1);
    for (size_t b = 0; b < context->subject->body_count; b++) {
        const struct subject_body *body = &context->subject->bodies[b];
        if (!is_outline(body))
            continue;
        gl_set_int(program, "first", body->first_face);
        gl_set_int(program, "pivot", body->first_node);
        set_outline_paint(program, colour_of_body(b), context->options->dark ? 0.35f : 0.28f);
        GLsizei count = (GLsizei)(3 * body->face_count);
        glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
        glStencilFunc(GL_ALWAYS, 0, 1);
        glStencilOp(GL_KEEP, GL_INVERT, GL_INVERT);
        glDrawArrays(GL_TRIANGLES, 0, count);
        // Drawing the same triangles again paints each marked pixel once, and clears the marks.
        glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        glStencilFunc(GL_EQUAL, 1, 1);
        glStencilOp(GL_KEEP, GL_ZERO, GL_ZERO);
        glDrawArrays(GL_TRIANGLES, 0, count);
    }
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
    glBindVertexArray(0);
}
