// Strain or tension of springs and nodes, curvature of faces, and the scale of their colours.
#include "picture/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

taut_status values_make(const struct subject *subject, struct values *values, taut_error *error)
{
    *values =
        (struct values){.spring_count = subject->spring_count, .node_count = subject->node_count};
    values->springs = calloc((size_t)subject->spring_count + 1, sizeof *values->springs);
    values->nodes = calloc((size_t)subject->node_count + 1, sizeof *values->nodes);
    values->weights = calloc((size_t)subject->node_count + 1, sizeof *values->weights);
    values->seen = calloc((size_t)subject->node_count + 1, sizeof *values->seen);
    for (int i = 0; i < 3; i++)
        values->spread[i] = calloc((size_t)subject->node_count + 1, sizeof *values->spread[i]);
    if (!values->springs || !values->nodes || !values->weights || !values->spread[0] ||
        !values->spread[1] || !values->spread[2] || !values->seen) {
        values_free(values);
        return fail_memory(error, "the colours of a picture");
    }
    for (uint64_t i = 0; i < subject->face_count; i++)
        for (int corner = 0; corner < 3; corner++)
            values->seen[subject->faces[i][corner]] = 1;
    return TAUT_OK;
}

void values_free(struct values *values)
{
    free(values->springs);
    free(values->nodes);
    free(values->weights);
    free(values->seen);
    free(values->spread[0]);
    free(values->spread[1]);
    free(values->spread[2]);
    *values = (struct values){0};
}

static float length_of(const struct subject *subject, const float *positions, uint64_t spring)
{
    const float *a = positions + 3 * (size_t)subject->springs[spring][0];
    const float *b = positions + 3 * (size_t)subject->springs[spring][1];
    float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
    return sqrtf(x * x + y * y + z * z);
}

static float strain_of(const struct subject *subject, const struct frame *frame, uint64_t spring)
{
    if (frame_has(frame, FRAME_DRAWN_STRAINS))
        return frame->drawn_strains[spring];
    float rest = subject->rest_lengths[spring];
    return rest > 0.0f ? (length_of(subject, frame->drawn_positions, spring) - rest) / rest : 0.0f;
}

// k (L - L0), and 0 if the law is slack. The strain refers to the rest length after yielding; a
// spring without rest length has no strain.
static float tension_of(const struct subject *subject, const struct frame *frame, uint64_t spring)
{
    float rest = subject->rest_lengths[spring];
    float longer = rest > 0.0f ? strain_of(subject, frame, spring) * rest
                               : length_of(subject, frame->drawn_positions, spring);
    enum spring_law law = (enum spring_law)subject->laws[spring];
    if ((law == LAW_TENSION_ONLY && longer < 0.0f) ||
        (law == LAW_COMPRESSION_ONLY && longer > 0.0f))
        return 0.0f;
    return subject->stiffnesses[spring] * longer;
}

static void compute_springs(struct values *values, const struct subject *subject,
                            const struct frame *frame, bool tension, uint64_t every)
{
    const bool has_broken = frame_has(frame, FRAME_DRAWN_BROKEN);
    for (uint64_t i = 0; i < subject->spring_count; i += every) {
        float value = tension ? tension_of(subject, frame, i) : strain_of(subject, frame, i);
        values->springs[i] = has_broken && frame->drawn_broken[i] ? VALUE_BROKEN : value;
    }
}

double values_round_up(double value)
{
    double power = pow(10.0, floor(log10(value)));
    double digits = value / power;
    return power * (digits <= 1.0 + 1e-9 ? 1.0
                    : digits <= 2.0      ? 2.0
                    : digits <= 3.0      ? 3.0
                    : digits <= 5.0      ? 5.0
                                         : 10.0);
}

enum { BINS = 1024 };

// Values that count for the scale: not those of broken springs.
static bool is_counted(float value)
{
    return fabsf(value) < 1e30f;
}

// The magnitude below which nineteen of twenty values lie, to a fraction 1 / BINS of a limit;
// values beyond the limit count as equal to it.
static double most_below(const float *values, uint64_t count, uint64_t every, double limit)
{
    uint64_t bins[BINS] = {0}, all = 0, seen = 0;
    for (uint64_t i = 0; i < count; i += every) {
        if (!is_counted(values[i]))
            continue;
        bins[(size_t)(fmin(fabs((double)values[i]) / limit, 1.0) * (BINS - 1))]++;
        all++;
    }
    size_t bin = 0;
    while (bin < BINS - 1 && (seen += bins[bin]) < all - all / 20)
        bin++;
    return limit * (double)(bin + 1) / BINS;
}

// The same with enough resolution for any extreme values: these must not leave the others without
// colours.
static double robust_max(const float *values, uint64_t count, uint64_t every, double greatest)
{
    enum { ROUNDS = 4 };
    double most = greatest;
    for (int round = 0; round < ROUNDS; round++) {
        double limit = most;
        most = most_below(values, count, every, limit);
        if (most > 0.05 * limit)
            break;
    }
    return most;
}

// The scale of a frame: from 0, or symmetric about 0 if values have both signs.
static void find_scale(struct values *values, const float *shown, uint64_t count, uint64_t every,
                       bool tension)
{
    double least = 0.0, most = 0.0;
    for (uint64_t i = 0; i < count; i += every) {
        if (!is_counted(shown[i]))
            continue;
        least = fmin(least, (double)shown[i]);
        most = fmax(most, (double)shown[i]);
    }
    double greatest = fmax(-least, most);
    double end = greatest > 0.0 ? values_round_up(robust_max(shown, count, every, greatest)) : 1.0;
    bool one_sign = tension && -least < 0.02 * greatest;
    values->least = one_sign ? 0.0 : -end;
    values->most = end;
}

static void swap(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

// Adds to each node the values of the other corners of its faces.
static void smooth(struct values *values, const struct subject *subject)
{
    size_t bytes = (size_t)values->node_count * sizeof(float);
    memset(values->spread[0], 0, bytes);
    memset(values->spread[1], 0, bytes);
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *face = subject->faces[i];
        float sum = 0.0f, weight = 0.0f;
        for (int corner = 0; corner < 3; corner++) {
            sum += values->nodes[face[corner]];
            weight += values->weights[face[corner]];
        }
        for (int corner = 0; corner < 3; corner++) {
            values->spread[0][face[corner]] += sum;
            values->spread[1][face[corner]] += weight;
        }
    }
    swap(&values->nodes, &values->spread[0]);
    swap(&values->weights, &values->spread[1]);
}

static void compute_nodes(struct values *values, const struct subject *subject)
{
    memset(values->nodes, 0, (size_t)values->node_count * sizeof *values->nodes);
    memset(values->weights, 0, (size_t)values->node_count * sizeof *values->weights);
    for (uint64_t i = 0; i < values->spring_count; i++) {
        if (!is_counted(values->springs[i]))
            continue;
        for (int end = 0; end < 2; end++) {
            values->nodes[subject->springs[i][end]] += values->springs[i];
            values->weights[subject->springs[i][end]] += 1.0f;
        }
    }
    // If the subject has only some springs, a node has few or none of its own.
    if (subject->springs_in_all > subject->spring_count)
        for (int i = 0; i < 4; i++)
            smooth(values, subject);
    for (uint64_t node = 0; node < values->node_count; node++)
        if (values->weights[node] > 0.0f)
            values->nodes[node] /= values->weights[node];
    for (uint64_t node = 0; node < values->node_count; node++)
        if (!values->seen[node])
            values->nodes[node] = VALUE_BROKEN; // inside, not counted for the scale
}

// ---- Curvature
//
// The Laplacian of the positions over a triangulated surface is the sum of the principal curvatures
// times the normal: sum (cot a + cot b) (x_i - x_j) / 2 A over the edges at a node, with the angles
// opposite the edge and a third of the area of the faces (M. Meyer, M. Desbrun, P. Schroeder,
// A. H. Barr, "Discrete Differential-Geometry Operators for Triangulated 2-Manifolds", 2003). Only
// the component along the normal is taken, which also serves at free edges.

struct point {
    float x, y, z;
};

static struct point point_of(const float *positions, uint32_t node)
{
    const float *p = positions + 3 * (size_t)node;
    return (struct point){p[0], p[1], p[2]};
}

static struct point minus(struct point a, struct point b)
{
    return (struct point){a.x - b.x, a.y - b.y, a.z - b.z};
}

static float dot(struct point a, struct point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct point cross(struct point a, struct point b)
{
    return (struct point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The area vectors of the faces at each node, and a third of their areas.
static void sum_normals(struct values *values, const struct subject *subject,
                        const float *positions)
{
    const size_t bytes = (size_t)values->node_count * sizeof(float);
    memset(values->nodes, 0, bytes);
    memset(values->weights, 0, bytes);
    for (int axis = 0; axis < 3; axis++)
        memset(values->spread[axis], 0, bytes);
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *face = subject->faces[i];
        const struct point a = point_of(positions, face[0]);
        const struct point area =
            cross(minus(point_of(positions, face[1]), a), minus(point_of(positions, face[2]), a));
        for (int corner = 0; corner < 3; corner++) {
            values->spread[0][face[corner]] += area.x;
            values->spread[1][face[corner]] += area.y;
            values->spread[2][face[corner]] += area.z;
            values->weights[face[corner]] += sqrtf(dot(area, area)) / 6.0f;
        }
    }
}

// Half the cotangent of the angle between two edges from a corner.
static float half_cotangent(struct point a, struct point b)
{
    const struct point area = cross(a, b);
    const float sine = sqrtf(dot(area, area));
    return sine > 0.0f ? 0.5f * dot(a, b) / sine : 0.0f;
}

static void compute_curvatures(struct values *values, const struct subject *subject,
                               const float *positions)
{
    sum_normals(values, subject, positions);
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *face = subject->faces[i];
        for (int corner = 0; corner < 3; corner++) {
            const uint32_t node = face[corner];
            const struct point a = point_of(positions, node);
            const struct point b = point_of(positions, face[(corner + 1) % 3]);
            const struct point c = point_of(positions, face[(corner + 2) % 3]);
            const float at_b = half_cotangent(minus(a, b), minus(c, b));
            const float at_c = half_cotangent(minus(a, c), minus(b, c));
            const struct point normal = {values->spread[0][node], values->spread[1][node],
                                         values->spread[2][node]};
            values->nodes[node] +=
                at_b * dot(minus(a, c), normal) + at_c * dot(minus(a, b), normal);
        }
    }
    for (uint64_t node = 0; node < values->node_count; node++) {
        const struct point normal = {values->spread[0][node], values->spread[1][node],
                                     values->spread[2][node]};
        const float length = sqrtf(dot(normal, normal));
        if (!values->seen[node])
            values->nodes[node] = VALUE_BROKEN; // inside, not counted for the scale
        else if (length > 0.0f && values->weights[node] > 0.0f)
            values->nodes[node] /= length * values->weights[node];
        else
            values->nodes[node] = 0.0f;
    }
}

// Computes the scale of the visible values: of springs, or of nodes if only faces are drawn.
static void choose_scale(struct values *values, const struct render_options *options, bool springs,
                         uint64_t every)
{
    bool tension = options->colouring == COLOURING_TENSION;
    if (options->least < options->most) {
        values->least = options->least;
        values->most = options->most;
    } else if (values->of_nodes && (!springs || options->colouring == COLOURING_CURVATURE)) {
        find_scale(values, values->nodes, values->node_count, 1, tension);
    } else {
        find_scale(values, values->springs, values->spring_count, every, tension);
    }
    values->map = values->least < 0.0 ? MAP_DIVERGING : MAP_SEQUENTIAL;
}

void values_compute(struct values *values, const struct subject *subject, const struct frame *frame,
                    const struct render_options *options, bool faces, bool springs, uint64_t every)
{
    bool tension = options->colouring == COLOURING_TENSION;
    bool has_broken = frame_has(frame, FRAME_DRAWN_BROKEN);
    bool scaled = colouring_is_of_springs(options->colouring);
    values->of_nodes = scaled && faces && subject->spring_count > 0;
    values->of_springs = scaled || has_broken;
    if (values->of_nodes)
        every = 1;
    if (scaled)
        compute_springs(values, subject, frame, tension, every);
    else if (has_broken)
        for (uint64_t i = 0; i < subject->spring_count; i += every)
            values->springs[i] = frame->drawn_broken[i] ? VALUE_BROKEN : 0.0f;
    if (values->of_nodes)
        compute_nodes(values, subject);
    if (options->colouring == COLOURING_CURVATURE && faces && subject->face_count > 0) {
        compute_curvatures(values, subject, frame->drawn_positions);
        values->of_nodes = scaled = true;
    }
    if (scaled)
        choose_scale(values, options, springs, every);
}
