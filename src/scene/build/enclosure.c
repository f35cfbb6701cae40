// What a body's faces enclose, and whether that is enough for pressure.
#include "base/memory.h"
#include "scene/build/build.h"

// Summed about the first node, so that a body far from the origin loses nothing. Sixths of the
// determinants are the volumes of the tetrahedra over the faces: the divergence theorem on x / 3.
static double solid_volume(const struct body *body)
{
    vec3 origin = body_position(body, 0);
    double sum = 0.0;
    for (uint64_t face = 0; face < body->face_count; face++) {
        struct body_face it = body_face(body, face);
        vec3 a = vec3_subtract(body_position(body, it.nodes[0]), origin);
        vec3 b = vec3_subtract(body_position(body, it.nodes[1]), origin);
        vec3 c = vec3_subtract(body_position(body, it.nodes[2]), origin);
        sum += vec3_dot(a, vec3_cross(b, c));
    }
    return sum / 6.0;
}

static double plane_area(const struct body *body)
{
    vec3 origin = body_position(body, 0);
    double sum = 0.0;
    for (uint64_t face = 0; face < body->face_count; face++) {
        const uint32_t *nodes = &body->faces[2 * face];
        vec3 a = vec3_subtract(body_position(body, nodes[0]), origin);
        vec3 b = vec3_subtract(body_position(body, nodes[1]), origin);
        sum += a.x * b.y - b.x * a.y;
    }
    return sum / 2.0;
}

double body_volume(const struct body *body)
{
    if (body->face_count == 0)
        return 0.0;
    return body->face_arity == 2 ? plane_area(body) : solid_volume(body);
}

// Whether all nodes lie in one plane z = const, but for the round-off of a rotation.
static bool lies_flat(const struct body *body)
{
    vec3 first = body_position(body, 0);
    double size = 0.0, depth = 0.0;
    for (uint64_t node = 1; node < body->node_count; node++) {
        vec3 apart = vec3_subtract(body_position(body, node), first);
        size = fmax(size, vec3_length(apart));
        depth = fmax(depth, fabs(apart.z));
    }
    return depth <= 1e-12 * size;
}

static void drop_faces(struct body *body)
{
    memory_release(NULL, body->faces, body->face_count * (uint64_t)body->face_arity,
                   sizeof *body->faces);
    body->faces = NULL;
    body->face_count = 0;
    body->face_arity = 0;
}

// The edges of a plane body run counter-clockwise; outside of its plane it has none.
static void settle_outline(struct body *body)
{
    if (!lies_flat(body)) {
        drop_faces(body);
        return;
    }
    double area = plane_area(body);
    for (uint64_t face = 0; area < 0.0 && face < body->face_count; face++) {
        uint32_t first = body->faces[2 * face];
        body->faces[2 * face] = body->faces[2 * face + 1];
        body->faces[2 * face + 1] = first;
    }
    body->closed = area != 0.0;
}

static const char *why_open(const struct body *body)
{
    switch (body->type) {
    case BODY_RING:
    case BODY_QUAD:
        return "and this one does not lie in a plane z = const";
    case BODY_LATTICE:
        return "and a lattice has an inside only with 2 nodes or more along every axis";
    default:
        return "with an inside";
    }
}

taut_status check_enclosure(struct build *build)
{
    struct body *body = build->body;
    if (body->face_arity == 2)
        settle_outline(body);
    if (!body->pressure.present)
        return TAUT_OK;
    mark at = body->pressure.at;
    if (!body->closed)
        return build_refuse(build, at, "pressure needs a closed body, %s: '%s' is a %s",
                            why_open(body), body->name, body_type_name(body->type));
    double volume = body_volume(body);
    if (!(volume > 0.0 && isfinite(volume)))
        return build_refuse(build, at, "pressure needs a volume above 0: '%s' encloses %g",
                            body->name, volume);
    return TAUT_OK;
}
