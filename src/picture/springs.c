#include "picture/springs.h"

#include "picture/shaders.h"

taut_status springs_make(struct springs *springs, taut_error *error)
{
    *springs = (struct springs){0};
    glGenVertexArrays(1, &springs->vertices);
    return gl_program_make("springs", "", shader_springs, &springs->program, error);
}

void springs_free(struct springs *springs)
{
    glDeleteProgram(springs->program);
    glDeleteVertexArrays(1, &springs->vertices);
    *springs = (struct springs){0};
}

uint64_t springs_every(const struct frame *frame)
{
    uint64_t pixels = (uint64_t)frame->camera->width * (uint64_t)frame->camera->height;
    uint64_t most = frame->options->springs_most ? frame->options->springs_most : pixels / 8 + 1;
    return frame->subject->spring_count / (most + 1) + 1;
}

// The more springs, the thinner; in pixels of a picture of 720 rows.
static float width_for(const struct frame *frame)
{
    double drawn = (double)frame->subject->spring_count / (double)springs_every(frame);
    double width = 5.0 - 0.9 * log10(drawn + 1.0);
    if (frame->layers & LAYER_FACES && frame->subject->face_count > 0)
        width = fmin(width, 2.2);
    return (float)(fmax(width, 1.0) * fmax(frame->camera->height / 720.0, 0.75));
}

static void set_kinds(GLuint program)
{
    float colours[3 * SPRING_KINDS_MAX];
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        struct colour colour = colour_of_kind(kind);
        colours[3 * kind] = colour.red;
        colours[3 * kind + 1] = colour.green;
        colours[3 * kind + 2] = colour.blue;
    }
    glUniform3fv(glGetUniformLocation(program, "kind_colours"), SPRING_KINDS_MAX, colours);
}

static void set_plain(GLuint program, const struct frame *frame, size_t body)
{
    struct colour colour = colour_of_body(body);
    struct colour ink = {0.16f, 0.18f, 0.21f};
    if (frame->layers & LAYER_FACES && frame->subject->bodies[body].face_arity == 3)
        colour = colour_mix(colour, ink, 0.6);
    gl_set_colour(program, "plain", colour);
}

void springs_draw(const struct springs *springs, const struct frame *frame,
                  const struct values *values, const struct tables *tables, double widening)
{
    enum { PAINT_PLAIN, PAINT_VALUE, PAINT_KIND };
    enum colouring colouring = frame->options->colouring;
    int paint = colouring == COLOURING_PLAIN  ? PAINT_PLAIN
                : colouring == COLOURING_KIND ? PAINT_KIND
                                              : PAINT_VALUE;
    GLuint program = springs->program;
    glUseProgram(program);
    tables_bind(tables, values, program);
    gl_set_int(program, "paint", paint);
    gl_set_int(program, "valued", values->of_springs);
    gl_set_float(program, "width", widening * width_for(frame));
    uint64_t every = springs_every(frame);
    gl_set_int(program, "every", every);
    set_kinds(program);
    glBindVertexArray(springs->vertices);
    for (size_t b = 0; b < frame->subject->body_count; b++) {
        const struct subject_body *body = &frame->subject->bodies[b];
        uint64_t first = (body->first_spring + every - 1) / every * every;
        uint64_t end = body->first_spring + body->spring_count;
        if (first >= end)
            continue;
        set_plain(program, frame, b);
        gl_set_int(program, "first", first);
        glDrawArrays(GL_TRIANGLES, 0, (GLsizei)(6 * ((end - first + every - 1) / every)));
    }
    glBindVertexArray(0);
}
