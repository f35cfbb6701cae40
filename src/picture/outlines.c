#include "picture/outlines.h"

#include "picture/shaders.h"

#include <stdlib.h>

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

static void set_paint(GLuint program, struct colour colour, float opacity)
{
    glUniform4f(glGetUniformLocation(program, "paint"), colour.red, colour.green, colour.blue,
                opacity);
}

void outlines_draw(const struct outlines *outlines, const struct frame *frame,
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
    for (size_t b = 0; b < frame->subject->body_count; b++) {
        const struct subject_body *body = &frame->subject->bodies[b];
        if (!is_outline(body))
            continue;
        gl_set_int(program, "first", body->first_face);
        gl_set_int(program, "pivot", body->first_node);
        set_paint(program, colour_of_body(b), frame->options->dark ? 0.35f : 0.28f);
        GLsizei count = (GLsizei)(3 * body->face_count);
        glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
        glStencilFunc(GL_ALWAYS, 0, 1);
        glStencilOp(GL_KEEP, GL_INVERT, GL_INVERT);
        glDrawArrays(GL_TRIANGLES, 0, count);
        // The same triangles again paint what is marked, each pixel once, and clear the marks.
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
