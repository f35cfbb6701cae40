// Draws springs, nodes and pins (springs.h). Values and colours come from values.c.
#include "picture/springs.h"

#include "picture/shaders.h"

#include <stdlib.h>

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

uint64_t springs_every(const struct render_context *context)
{
    uint64_t pixels = (uint64_t)context->camera->width * (uint64_t)context->camera->height;
    uint64_t most = context->options->springs_max ? context->options->springs_max : pixels / 8 + 1;
    return context->subject->spring_count / (most + 1) + 1;
}

// The more springs, the thinner they are drawn; in pixels of a picture of 720 rows.
static float width_for(const struct render_context *context)
{
    double drawn = (double)context->subject->spring_count / (double)springs_every(context);
    double width = 5.0 - 0.9 * log10(drawn + 1.0);
    if (context->layers & LAYER_FACES && context->subject->face_count > 0)
        width = fmin(width, 2.2);
    return (float)(fmax(width, 1.0) * fmax(context->camera->height / 720.0, 0.75));
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

static void set_plain_colour(GLuint program, const struct render_context *context, size_t body)
{
    struct colour colour = colour_of_body(body);
    struct colour ink = {0.16f, 0.18f, 0.21f};
    if (context->layers & LAYER_FACES && context->subject->bodies[body].face_arity == 3)
        colour = colour_mix(colour, ink, 0.6);
    gl_set_colour(program, "plain", colour);
}

void springs_draw(const struct springs *springs, const struct render_context *context,
                  const struct values *values, const struct tables *tables, double widening)
{
    enum { PAINT_PLAIN, PAINT_VALUE, PAINT_KIND };
    enum colouring colouring = context->options->colouring;
    int paint = colouring == COLOURING_KIND          ? PAINT_KIND
                : colouring_is_of_springs(colouring) ? PAINT_VALUE
                                                     : PAINT_PLAIN;
    GLuint program = springs->program;
    glUseProgram(program);
    tables_bind(tables, values, program);
    gl_set_int(program, "paint", paint);
    gl_set_int(program, "valued", values->of_springs);
    gl_set_float(program, "width", widening * width_for(context));
    uint64_t every = springs_every(context);
    gl_set_int(program, "every", every);
    set_kinds(program);
    glBindVertexArray(springs->vertices);
    for (size_t b = 0; b < context->subject->body_count; b++) {
        const struct subject_body *body = &context->subject->bodies[b];
        uint64_t first = (body->first_spring + every - 1) / every * every;
        uint64_t end = body->first_spring + body->spring_count;
        if (first >= end)
            continue;
        set_plain_colour(program, context, b);
        gl_set_int(program, "first", first);
        glDrawArrays(GL_TRIANGLES, 0, (GLsizei)(6 * ((end - first + every - 1) / every)));
    }
    glBindVertexArray(0);
}

// ---- Nodes and pins

enum { PINNED, KINEMATIC };
enum shape { SHAPE_BALL, SHAPE_SQUARE, SHAPE_DIAMOND };

// Above this number only every n-th node is drawn: more would cover each other.
static const uint64_t NODES_MAX = 100000;

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
                            enum pin pin, taut_error *error)
{
    uint64_t count = 0;
    for (uint64_t node = 0; node < subject->node_count; node++)
        count += subject->pins[node] == pin;
    uint32_t *list = malloc((size_t)(count + 1) * sizeof *list);
    if (!list)
        return fail_memory(error, "the marks of a picture");
    marks->counts[which] = count;
    count = 0;
    for (uint64_t node = 0; node < subject->node_count; node++)
        if (subject->pins[node] == pin)
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

// The mean over the first springs; the springs of a body are similar enough.
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
        status = list_set(marks, PINNED, subject, PIN_FIXED, error);
    return status == TAUT_OK ? list_set(marks, KINEMATIC, subject, PIN_KINEMATIC, error) : status;
}

static void begin_marks(const struct marks *marks, const struct tables *tables)
{
    glUseProgram(marks->program);
    gl_table_bind(&tables->positions, UNIT_POSITIONS);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
}

static void end_marks(void)
{
    glDisable(GL_BLEND);
    glDisable(GL_PROGRAM_POINT_SIZE);
    glBindVertexArray(0);
}

static double scale_of(const struct render_context *context)
{
    return fmax(context->camera->height / 720.0, 0.6);
}

// A mass on a spring or a string; the other node of the body is its anchor.
static bool is_bob(const struct subject_body *body)
{
    return (body->type == BODY_PENDULUM || body->type == BODY_OSCILLATOR) && body->node_count == 2;
}

// The more nodes, the smaller; not larger than the distance between them, or they would hide the
// springs.
static double diameter_of(const struct marks *marks, const struct render_context *context,
                          size_t number)
{
    const struct subject_body *body = &context->subject->bodies[number];
    double count = (double)context->subject->node_count;
    double diameter = is_bob(body) ? 24.0 : fmax(14.0 - 3.0 * log10(count + 1.0), 3.0);
    double gap =
        (double)marks->gaps[number] / camera_pixel_size(context->camera, context->camera->distance);
    diameter *= scale_of(context);
    return gap > 0.0 ? fmin(diameter, fmax(0.55 * gap, 2.0)) : diameter;
}

// If the colours of springs have a meaning, nodes are grey.
static struct colour paint_of(const struct render_context *context, size_t body)
{
    static const struct colour ink = {0.10f, 0.12f, 0.15f}, grey = {0.45f, 0.47f, 0.50f};
    if (context->options->colouring != COLOURING_PLAIN && context->layers & LAYER_SPRINGS)
        return grey;
    return colour_mix(colour_of_body(body), ink, context->options->dark ? 0.0 : 0.25);
}

void marks_draw_nodes(const struct marks *marks, const struct render_context *context,
                      const struct tables *tables)
{
    begin_marks(marks, tables);
    GLuint program = marks->program;
    gl_set_int(program, "listed", false);
    gl_set_int(program, "shape", SHAPE_BALL);
    glBindVertexArray(marks->nothing);
    uint64_t every = context->subject->node_count / (NODES_MAX + 1) + 1;
    gl_set_int(program, "every", every);
    for (size_t b = 0; b < context->subject->body_count; b++) {
        const struct subject_body *body = &context->subject->bodies[b];
        gl_set_colour(program, "paint", paint_of(context, b));
        gl_set_float(program, "diameter", diameter_of(marks, context, b));
        uint64_t first = is_bob(body) ? 1 : 0;
        gl_set_int(program, "first", body->first_node + first);
        glDrawArrays(GL_POINTS, 0, (GLsizei)((body->node_count - first + every - 1) / every));
    }
    end_marks();
}

void marks_draw_pins(const struct marks *marks, const struct render_context *context,
                     const struct tables *tables)
{
    static const struct colour dark = {0.13f, 0.15f, 0.18f}, white = {0.98f, 0.98f, 0.97f};
    static const struct colour amber = {0.902f, 0.624f, 0.0f};
    begin_marks(marks, tables);
    GLuint program = marks->program;
    gl_set_int(program, "listed", true);
    for (int which = PINNED; which <= KINEMATIC; which++) {
        double count = (double)marks->counts[which];
        if (marks->counts[which] == 0)
            continue;
        double size = fmax(13.0 - 2.6 * log10(count), 4.0) * (which == KINEMATIC ? 1.35 : 1.0);
        bool outlined = size >= 6.0;
        gl_set_int(program, "shape", which == KINEMATIC ? SHAPE_DIAMOND : SHAPE_SQUARE);
        gl_set_float(program, "diameter", size * scale_of(context));
        struct colour ink = context->options->dark ? white : dark;
        struct colour edge = context->options->dark ? dark : white;
        gl_set_colour(program, "paint", which == KINEMATIC ? amber : ink);
        gl_set_colour(program, "border", which == KINEMATIC ? dark : outlined ? edge : ink);
        glBindVertexArray(marks->vertices[which]);
        glDrawArrays(GL_POINTS, 0, (GLsizei)marks->counts[which]);
    }
    end_marks();
}
