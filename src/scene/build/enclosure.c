// Computes the volume that a body's faces enclose and checks it for pressure; finds the largest
// obstacle that can pass between its nodes.
#include "base/memory.h"
#include "scene/build/build.h"

// The sum of the volumes of the tetrahedra over the faces, a sixth of a determinant each
// (divergence theorem on x / 3). Coordinates are relative to the first node, so that a body far
// from the origin loses no precision.
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

// Whether all nodes lie in a plane z = const, up to the round-off of a rotation.
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

// Makes the edges of a plane body run counter-clockwise; a body that is not plane loses its faces.
static void orient_outline(struct body *body)
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
        orient_outline(body);
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

// ---- Openings wider than an obstacle

// The squared radius of the smallest circle around three points: a narrower sphere passes between
// them. For an obtuse triangle the longest side is a diameter.
static double opening_square(vec3 a, vec3 b, vec3 c)
{
    const vec3 ab = vec3_subtract(b, a), ac = vec3_subtract(c, a), bc = vec3_subtract(c, b);
    const double squares[3] = {vec3_dot(ab, ab), vec3_dot(ac, ac), vec3_dot(bc, bc)};
    const double longest = fmax(squares[0], fmax(squares[1], squares[2]));
    const double others = squares[0] + squares[1] + squares[2] - longest;
    const vec3 normal = vec3_cross(ab, ac);
    if (others <= longest)
        return longest / 4;
    return squares[0] * squares[1] * squares[2] / (4 * vec3_dot(normal, normal));
}

// The radius of the widest sphere that passes between neighbouring nodes of the body as built, m; 0
// for a body with neither faces nor a line of nodes.
static double widest_opening(const struct body *body)
{
    double square = 0;
    for (uint64_t face = 0; face < body->face_count; face++) {
        const struct body_face it = body_face(body, face);
        const vec3 a = body_position(body, it.nodes[0]), b = body_position(body, it.nodes[1]);
        const vec3 c = body->face_arity == 3 ? body_position(body, it.nodes[2]) : b;
        square = fmax(square, opening_square(a, b, c));
    }
    for (uint64_t node = 1; body->type == BODY_ROPE && node < body->node_count; node++) {
        const vec3 separation =
            vec3_subtract(body_position(body, node), body_position(body, node - 1));
        square = fmax(square, vec3_dot(separation, separation) / 4);
    }
    return sqrt(square);
}

// The radius of a sphere that acts at nodes. Planes are infinite, and a room keeps nodes inside:
// neither fits between nodes.
static double collider_radius(const struct scene_collider *collider)
{
    const bool at_nodes = collider->response != RESPONSE_CONTACT;
    return collider->type == COLLIDER_SPHERE && at_nodes ? collider->radius : INFINITY;
}

// Whether any node is free to move.
static bool moves(const struct body *body)
{
    for (uint64_t node = 0; node < body->node_count; node++)
        if (!body->kinematic[node])
            return true;
    return false;
}

void warn_of_wide_cells(struct build *build)
{
    const taut_scene *scene = build->scene;
    double least = INFINITY;
    size_t smallest = 0;
    for (size_t c = 0; c < scene->collider_count; c++) {
        if (collider_radius(&scene->colliders[c]) >= least)
            continue;
        least = collider_radius(&scene->colliders[c]);
        smallest = c;
    }
    if (!isfinite(least) || !moves(build->body))
        return;
    const double opening = widest_opening(build->body);
    if (opening > least)
        build_warn(
            build, build->given->at,
            "between neighbouring nodes of body '%s' spheres of up to %.3g m radius pass, "
            "and collider %zu, a sphere, has %.3g m: contacts act at nodes only. Give the body "
            "nodes at most %.3g times as far apart, or use a larger sphere",
            build->body->name, opening, smallest, least, least / opening);
}
