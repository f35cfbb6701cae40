// Draws contacts (contacts.h) in two passes, those that are seen and those behind a surface.
#include "picture/contacts.h"

#include "picture/shaders.h"
#include "picture/values.h"

#include <stddef.h>

// Pixels of a picture of 720 rows: the length of a needle at full force, and its width.
static const double FULL_LENGTH = 34.0, WIDTH = 5.0;
static const double HIDDEN_OPACITY = 0.4;

taut_status contacts_make(struct contacts *contacts, taut_error *error)
{
    *contacts = (struct contacts){0};
    glGenVertexArrays(1, &contacts->vertices);
    glGenBuffers(1, &contacts->list);
    glBindVertexArray(contacts->vertices);
    glBindBuffer(GL_ARRAY_BUFFER, contacts->list);
    const GLsizei stride = (GLsizei)sizeof(struct frame_contact);
    // OpenGL takes offsets in a buffer as pointers. NOLINTBEGIN(performance-no-int-to-ptr)
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride,
                          (const void *)offsetof(struct frame_contact, point));
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride,
                          (const void *)offsetof(struct frame_contact, normal));
    glVertexAttribPointer(2, 1, GL_FLOAT, GL_FALSE, stride,
                          (const void *)offsetof(struct frame_contact, force));
    glVertexAttribIPointer(3, 1, GL_UNSIGNED_INT, stride,
                           (const void *)offsetof(struct frame_contact, friction));
    // NOLINTEND(performance-no-int-to-ptr)
    for (GLuint attribute = 0; attribute < 4; attribute++) {
        glEnableVertexAttribArray(attribute);
        glVertexAttribDivisor(attribute, 1); // one contact after the other, each a strip of four
    }
    glBindVertexArray(0);
    return gl_program_make("contacts", "", shader_contacts, &contacts->program, error);
}

void contacts_free(struct contacts *contacts)
{
    glDeleteProgram(contacts->program);
    glDeleteVertexArrays(1, &contacts->vertices);
    glDeleteBuffers(1, &contacts->list);
    *contacts = (struct contacts){0};
}

struct colour contacts_colour(int friction)
{
    // Okabe and Ito's sky blue, vermilion and yellow (colours.c).
    static const struct colour colours[] = {[TAUT_CONTACT_FRICTIONLESS] = {0.941f, 0.894f, 0.259f},
                                            [TAUT_CONTACT_STICKS] = {0.337f, 0.706f, 0.914f},
                                            [TAUT_CONTACT_SLIDES] = {0.835f, 0.369f, 0.0f}};
    return colours[friction];
}

double contacts_full_force(const struct render_options *options, const struct frame *frame)
{
    if (options->full_force > 0)
        return options->full_force;
    if (!frame_has(frame, FRAME_CONTACTS))
        return 0;
    // Twice the mean force, weighted by the forces themselves, so that contacts that carry the load
    // count.
    double sum = 0, squares = 0;
    for (size_t i = 0; i < frame->contact_count; i++) {
        const double force = (double)frame->contacts[i].force;
        sum += force;
        squares += force * force;
    }
    return sum > 0 && isfinite(squares) ? values_round_up(2 * squares / sum) : 0;
}

static double scale_of(const struct render_context *context)
{
    return fmax(context->camera->height / 720.0, 0.6);
}

double contacts_full_length(const struct render_context *context)
{
    return FULL_LENGTH * scale_of(context);
}

void contacts_draw(const struct contacts *contacts, const struct render_context *context)
{
    const struct frame *frame = context->frame;
    const double full = contacts_full_force(context->options, frame);
    if (!frame_has(frame, FRAME_CONTACTS) || frame->contact_count == 0)
        return;
    const GLuint program = contacts->program;
    glUseProgram(program);
    float colours[9];
    for (int i = 0; i < 3; i++) {
        const struct colour colour = contacts_colour(i);
        colours[3 * i] = colour.red;
        colours[3 * i + 1] = colour.green;
        colours[3 * i + 2] = colour.blue;
    }
    glUniform3fv(glGetUniformLocation(program, "colours"), 3, colours);
    gl_set_float(program, "per_force", full > 0 ? 1 / full : 0);
    gl_set_float(program, "full_length", contacts_full_length(context));
    gl_set_float(program, "width", fmax(WIDTH * scale_of(context), 4.0));
    glBindVertexArray(contacts->vertices);
    glBindBuffer(GL_ARRAY_BUFFER, contacts->list);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(frame->contact_count * sizeof *frame->contacts),
                 frame->contacts, GL_STREAM_DRAW);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    for (int pass = 0; pass < 2; pass++) {
        glDepthFunc(pass == 0 ? GL_GREATER : GL_LEQUAL);
        gl_set_float(program, "opacity", pass == 0 ? HIDDEN_OPACITY : 1);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)frame->contact_count);
    }
    glDepthFunc(GL_LEQUAL);
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
    glBindVertexArray(0);
}
