#include "scene/build/build.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "parallel/quota.h"

taut_status build_refuse(struct build *build, mark at, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    scene_complain(build->scene, build->diagnostics, at, "%s", text);
    return TAUT_ERROR_SCENE;
}

void build_warn(struct build *build, mark at, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    scene_warn(build->scene, build->diagnostics, at, "%s", text);
}

taut_status build_no_memory(struct build *build)
{
    return fail(build->error, TAUT_ERROR_MEMORY, "out of memory for body '%s'", build->given->name);
}

taut_status build_file_status(struct build *build)
{
    return build->diagnostics->failure == TAUT_ERROR_MEMORY ? build_no_memory(build)
                                                            : TAUT_ERROR_SCENE;
}

bool node_product(uint64_t a, uint64_t b, uint64_t c, uint64_t *product)
{
    // Each of the factors and their first product fit 32 bits, so that no product overflows.
    if (a > BODY_NODES_MAX || b > BODY_NODES_MAX || c > BODY_NODES_MAX)
        return false;
    if (a * b > BODY_NODES_MAX || a * b * c > BODY_NODES_MAX)
        return false;
    *product = a * b * c;
    return true;
}

// Nodes of these types may have velocities and masses of their own.
static bool has_own_nodes(enum body_type type)
{
    return type == BODY_NETWORK || type == BODY_OSCILLATOR || type == BODY_PENDULUM;
}

static bool is_moving(const struct scene_body *given)
{
    return has_own_nodes(given->type) || given->drive_count > 0 ||
           vec3_length(given->velocity) > 0.0;
}

static bool allocate_arrays(const struct scene_body *given, struct body *body)
{
    uint64_t n = body->node_count;
    body->positions = memory_allocate(NULL, 3 * n, sizeof *body->positions);
    if (is_moving(given))
        body->velocities = memory_allocate(NULL, 3 * n, sizeof *body->velocities);
    if (has_own_nodes(given->type))
        body->masses = memory_allocate(NULL, n, sizeof *body->masses);
    body->fixed = memory_allocate(NULL, n, sizeof *body->fixed);
    if (body->direction_count == 0)
        body->springs = memory_allocate(NULL, body->spring_count, sizeof *body->springs);
    else
        body->directions = memory_allocate(NULL, body->direction_count, sizeof *body->directions);
    if (!body->is_sheet)
        body->faces = memory_allocate(NULL, body->face_count * (uint64_t)body->face_arity,
                                      sizeof *body->faces);
    return body->positions && (body->velocities || !is_moving(given)) &&
           (body->masses || !has_own_nodes(given->type)) && body->fixed &&
           (body->springs || body->directions) && (body->faces || body->is_sheet);
}

double build_bytes(const struct scene_body *given, const struct build_counts *counts)
{
    double springs = 0, doubles = 3 + (is_moving(given) ? 3 : 0) + has_own_nodes(given->type);
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        springs += (double)counts->springs[kind];
    double bytes = (double)counts->nodes * (doubles * sizeof(double) + sizeof(uint8_t));
    if (counts->directions == 0)
        bytes += springs * sizeof(uint32_t[2]);
    if (!counts->is_sheet)
        bytes += (double)counts->faces * counts->face_arity * sizeof(uint32_t);
    return bytes;
}

// Reading the limits of the process takes longer than building what is smaller.
#define BYTES_CHECKED 16e6

taut_status build_allocate(struct build *build, const struct build_counts *counts)
{
    struct body *body = build->body;
    if (counts->nodes > BODY_NODES_MAX)
        return build_refuse(build, build->given->at, "body '%s' has more than %llu nodes",
                            build->given->name, (unsigned long long)BODY_NODES_MAX);
    body->node_count = counts->nodes;
    body->face_count = counts->faces;
    body->face_arity = counts->faces ? counts->face_arity : 0;
    body->is_sheet = counts->is_sheet;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        body->kind_start[kind + 1] = body->kind_start[kind] + counts->springs[kind];
    body->spring_count = body->kind_start[SPRING_KINDS_MAX];
    body->direction_count = counts->directions;

    double bytes = build_bytes(build->given, counts);
    struct memory_left left = {INFINITY, MEMORY_UNKNOWN};
    if (bytes > BYTES_CHECKED)
        left = memory_left_to_this_process();
    if (bytes > left.bytes)
        return fail(build->error, TAUT_ERROR_MEMORY,
                    "body '%s' of %llu nodes and %llu springs takes %.3g GiB to build, and this "
                    "process may take %.3g GiB (%s)",
                    build->given->name, (unsigned long long)body->node_count,
                    (unsigned long long)body->spring_count, bytes / 1073741824.0,
                    left.bytes / 1073741824.0, memory_source_text(left.source));
    return allocate_arrays(build->given, body) ? TAUT_OK : build_no_memory(build);
}
