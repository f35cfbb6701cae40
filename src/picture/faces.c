#include "picture/faces.h"

#include "picture/normals.h"
#include "picture/shaders.h"

#include <stdio.h>
#include <stdlib.h>

// Triangles beyond which normals are found in the picture, from the depths of neighbouring pixels.
static const uint64_t SMOOTH_MOST = 400000;

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

// ---- Which triangles.

// A cloth that no cut has taken a face from: it may be drawn by every so-manieth node.
static bool is_whole_sheet(const struct subject_body *body)
{
    return body->type == BODY_CLOTH && body->grid[0] > 1 && body->grid[1] > 1 &&
           body->face_count == 2 * (body->grid[0] - 1) * (body->grid[1] - 1);
}

// So that a triangle covers some pixels: where a cloth has more of them than the picture can show,
// nodes are left out.
static uint64_t stride_for(const struct subject_body *body, const struct frame *frame)
{
    if (!is_whole_sheet(body))
        return 1;
    uint64_t pixels = (uint64_t)frame->camera->width * (uint64_t)frame->camera->height;
    uint64_t most = pixels / (frame->options->flat_normals ? 16 : 8) + 1, stride = 1;
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

// ---- A moment.

static bool flat_normals(const struct faces_body *drawn, const struct frame *frame)
{
    return drawn->count / 3 > SMOOTH_MOST ||
           (frame->options->flat_normals && drawn->stride == 1 && drawn->count / 3 > 20000);
}

taut_status faces_fill(struct faces *faces, const struct frame *frame, const struct values *values,
                       const struct tables *tables, taut_error *error)
{
    const struct subject *subject = frame->subject;
    glBindVertexArray(faces->vertices);
    for (size_t b = 0; b < faces->body_count; b++) {
        const struct subject_body *body = &subject->bodies[b];
        struct faces_body *drawn = &faces->bodies[b];
        if (body->face_arity != 3 || body->face_count == 0)
            continue;
        uint64_t stride = stride_for(body, frame);
        if (drawn->stride != stride) {
            taut_status status = indices_fill(drawn, subject, body, stride, error);
            if (status != TAUT_OK)
                return status;
        }
        if (flat_normals(drawn, frame))
            continue;
        if (is_whole_sheet(body))
            normals_of_grid(body, stride, frame->moment->positions, faces->normals);
        else
            normals_of_faces(subject, body, frame->moment->positions, faces->normals);
    }
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

// About a dozen squares along the shorter side of a cloth, some along a block's.
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

// Where springs are coloured by kind, faces are pale, so that they are seen.
static bool is_pale(const struct frame *frame)
{
    return frame->options->colouring == COLOURING_KIND;
}

static GLuint program_for(const struct faces *faces, size_t body, const struct frame *frame,
                          const struct values *values)
{
    unsigned bits = 0;
    if (flat_normals(&faces->bodies[body], frame))
        bits |= FACES_FLAT;
    if (frame->options->flat_normals)
        bits |= FACES_HARD_SHADOWS;
    if (values->of_nodes)
        bits |= FACES_BY_VALUE;
    else if (!is_pale(frame) && square_of(&frame->subject->bodies[body]) > 0.0f)
        bits |= FACES_CHECKER;
    return faces->programs[bits];
}

static void set_body(GLuint program, const struct frame *frame, size_t number)
{
    static const struct colour paper = {0.93f, 0.93f, 0.92f};
    const struct subject_body *body = &frame->subject->bodies[number];
    struct colour front = is_pale(frame) ? paper : colour_of_body(number);
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

void faces_draw(const struct faces *faces, const struct frame *frame, const struct values *values,
                const struct tables *tables)
{
    glBindVertexArray(faces->vertices);
    glEnable(GL_POLYGON_OFFSET_FILL); // springs lie on top
    glPolygonOffset(1.0f, 1.0f);
    for (size_t b = 0; b < faces->body_count; b++) {
        const struct faces_body *drawn = &faces->bodies[b];
        if (drawn->count == 0)
            continue;
        GLuint program = program_for(faces, b, frame, values);
        glUseProgram(program);
        tables_bind(tables, values, program);
        set_body(program, frame, b);
        // Of a closed body nobody sees the inside; at its edge it would shine through.
        if (frame->subject->bodies[b].closed)
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
