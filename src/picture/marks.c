#include "picture/marks.h"

#include "picture/shaders.h"

#include <stdlib.h>

enum { PINNED, MOVED };
enum shape { SHAPE_BALL, SHAPE_SQUARE, SHAPE_DIAMOND };

// More nodes than this are drawn every n-th: they would cover each other.
static const uint64_t NODES_MOST = 100000;

taut_status marks_make(struct marks *marks, taut_error *error)
{
    *marks = (struct marks){0};
    glGenVertexArrays(1, &marks->nothing);
    glGenVertexArrays(2, marks->vertices);
    glGenBuffers(2, marks->lists);
    return gl_program_make("points", "", shader_points, &marks->program, error);
}

void marks_free(struct marks *marks)
{
    glDeleteProgram(marks->program);
    glDeleteVertexArrays(1, &marks->nothing);
    glDeleteVertexArrays(2, marks->vertices);
    glDeleteBuffers(2, marks->lists);
    free(marks->gaps);
    *marks = (struct marks){0};
}

static taut_status list_set(struct marks *marks, int which, const struct subject *subject,
                            enum hold hold, taut_error *error)
{
    uint64_t count = 0;
    for (uint64_t node = 0; node < subject->node_count; node++)
        count += subject->holds[node] == hold;
    uint32_t *list = malloc((size_t)(count + 1) * sizeof *list);
    if (!list)
        return fail_memory(error, "the marks of a picture");
    marks->counts[which] = count;
    count = 0;
    for (uint64_t node = 0; node < subject->node_count; node++)
        if (subject->holds[node] == hold)
            list[count++] = (uint32_t)node;
    glBindVertexArray(marks->vertices[which]);
    glBindBuffer(GL_ARRAY_BUFFER, marks->lists[which]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof *list), list, GL_STATIC_DRAW);
    glVertexAttribIPointer(0, 1, GL_UNSIGNED_INT, 0, NULL);
    glEnableVertexAttribArray(0);
    glBindVertexArray(0);
    free(list);
    return TAUT_OK;
}

// Of the first springs: those of a body are alike enough.
static float gap_of(const struct subject *subject, const struct subject_body *body)
{
    enum { ENOUGH = 256 };
    uint64_t count = body->spring_count < ENOUGH ? body->spring_count : ENOUGH;
    float sum = 0.0f;
    for (uint64_t i = 0; i < count; i++)
        sum += subject->rest_lengths[body->first_spring + i];
    return count > 0 ? sum / (float)count : 0.0f;
}

static taut_status gaps_set(struct marks *marks, const struct subject *subject, taut_error *error)
{
    free(marks->gaps);
    marks->gaps = calloc(subject->body_count + 1, sizeof *marks->gaps);
    if (!marks->gaps)
        return fail_memory(error, "the marks of a picture");
    for (size_t b = 0; b < subject->body_count; b++)
        marks->gaps[b] = gap_of(subject, &subject->bodies[b]);
    return TAUT_OK;
}

taut_status marks_set(struct marks *marks, const struct subject *subject, taut_error *error)
{
    taut_status status = gaps_set(marks, subject, error);
    if (status == TAUT_OK)
        status = list_set(marks, PINNED, subject, HOLD_PINNED, error);
    return status == TAUT_OK ? list_set(marks, MOVED, subject, HOLD_MOVED, error) : status;
}

static void begin(const struct marks *marks, const struct tables *tables)
{
    glUseProgram(marks->program);
    gl_table_bind(&tables->positions, UNIT_POSITIONS);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}

static void end(void)
{
    glDisable(GL_BLEND);
    glDisable(GL_PROGRAM_POINT_SIZE);
    glBindVertexArray(0);
}

static double scale_of(const struct frame *frame)
{
    return fmax(frame->camera->height / 720.0, 0.6);
}

// A mass on a spring or a thread; its other node is where that hangs.
static bool is_bob(const struct subject_body *body)
{
    return (body->type == BODY_PENDULUM || body->type == BODY_OSCILLATOR) && body->node_count == 2;
}

// The more there are the smaller; and no larger than what parts them, else one sees no springs.
static double diameter_of(const struct marks *marks, const struct frame *frame, size_t number)
{
    const struct subject_body *body = &frame->subject->bodies[number];
    double count = (double)frame->subject->node_count;
    double diameter = is_bob(body) ? 24.0 : fmax(14.0 - 3.0 * log10(count + 1.0), 3.0);
    double gap =
        (double)marks->gaps[number] / camera_pixel_size(frame->camera, frame->camera->distance);
    diameter *= scale_of(frame);
    return gap > 0.0 ? fmin(diameter, fmax(0.55 * gap, 2.0)) : diameter;
}

// Where springs have colours that mean something, nodes have none.
static struct colour paint_of(const struct frame *frame, size_t body)
{
    static const struct colour ink = {0.10f, 0.12f, 0.15f}, grey = {0.45f, 0.47f, 0.50f};
    if (frame->options->colouring != COLOURING_PLAIN && frame->layers & LAYER_SPRINGS)
        return grey;
    return colour_mix(colour_of_body(body), ink, frame->options->dark ? 0.0 : 0.25);
}

void marks_draw_nodes(const struct marks *marks, const struct frame *frame,
                      const struct tables *tables)
{
    begin(marks, tables);
    GLuint program = marks->program;
    gl_set_int(program, "listed", false);
    gl_set_int(program, "shape", SHAPE_BALL);
    glBindVertexArray(marks->nothing);
    uint64_t every = frame->subject->node_count / (NODES_MOST + 1) + 1;
    gl_set_int(program, "every", every);
    for (size_t b = 0; b < frame->subject->body_count; b++) {
        const struct subject_body *body = &frame->subject->bodies[b];
        gl_set_colour(program, "paint", paint_of(frame, b));
        gl_set_float(program, "diameter", diameter_of(marks, frame, b));
        uint64_t first = is_bob(body) ? 1 : 0;
        gl_set_int(program, "first", body->first_node + first);
        glDrawArrays(GL_POINTS, 0, (GLsizei)((body->node_count - first + every - 1) / every));
    }
    end();
}

void marks_draw_pins(const struct marks *marks, const struct frame *frame,
                     const struct tables *tables)
{
    static const struct colour dark = {0.13f, 0.15f, 0.18f}, white = {0.98f, 0.98f, 0.97f};
    static const struct colour amber = {0.902f, 0.624f, 0.0f};
    begin(marks, tables);
    GLuint program = marks->program;
    gl_set_int(program, "listed", true);
    for (int which = PINNED; which <= MOVED; which++) {
        double count = (double)marks->counts[which];
        if (marks->counts[which] == 0)
            continue;
        double size = fmax(13.0 - 2.6 * log10(count), 4.0) * (which == MOVED ? 1.35 : 1.0);
        bool outlined = size >= 6.0;
        gl_set_int(program, "shape", which == MOVED ? SHAPE_DIAMOND : SHAPE_SQUARE);
        gl_set_float(program, "diameter", size * scale_of(frame));
        struct colour ink = frame->options->dark ? white : dark;
        struct colour edge = frame->options->dark ? dark : white;
        gl_set_colour(program, "paint", which == MOVED ? amber : ink);
        gl_set_colour(program, "border", which == MOVED ? dark : outlined ? edge : ink);
        glBindVertexArray(marks->vertices[which]);
        glDrawArrays(GL_POINTS, 0, (GLsizei)marks->counts[which]);
    }
    end();
}
