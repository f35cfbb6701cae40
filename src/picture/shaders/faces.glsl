// Faces of a body, seen from both sides. A checker pattern in node numbers shows how cloth and
// blocks move. Defines: FLAT_NORMALS, CHECKER, BY_VALUE, HARD_SHADOWS.

#ifdef VERTEX
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal_in;
layout(location = 2) in float value_in;
uniform int first_node;
uniform ivec3 grid; // nodes along each direction; 0: none
out vec3 point;
out vec3 normal;
out float value;
out vec3 coordinate; // position in the grid, from its first node

void main()
{
    int node = gl_VertexID - first_node;
    coordinate = grid.x > 0 ? vec3(node % grid.x, node / grid.x % grid.y, node / (grid.x * grid.y))
                       : vec3(0.0);
    point = position;
    normal = normal_in;
    value = value_in;
    gl_Position = world_to_clip * vec4(position, 1.0);
}
#endif

#ifdef FRAGMENT
in vec3 point;
in vec3 normal;
in float value;
in vec3 coordinate;
uniform vec3 front, back, second; // colours of both sides, and of the other squares of the pattern
uniform ivec3 grid;
uniform float square; // nodes along the side of a square
uniform vec3 scale; // least value, 1 / (most - least), and the row of the map
uniform sampler2D map;
out vec4 colour;

// The integral of the pattern of squares in one direction; its differences are the pattern filtered
// over a pixel (I. Quilez, "Filtering procedural patterns").
float half_of(float x)
{
    return abs(fract(x * 0.5) - 0.5) * 2.0;
}

float stripes(float x, float width)
{
    return (half_of(x - 0.5 * width) - half_of(x + 0.5 * width)) / width;
}

float checker()
{
    vec3 at = (coordinate + 0.5) / square;
    vec3 width = fwidth(at) + 1e-4;
    float product = stripes(at.x, width.x) * stripes(at.y, width.y);
    if (grid.z > 1)
        product *= stripes(at.z, width.z);
    return 0.5 - 0.5 * product;
}

void main()
{
    vec3 to_eye = towards_eye(point);
#ifdef FLAT_NORMALS
    vec3 outside = cross(dFdx(point), dFdy(point)); // towards the eye
#else
    vec3 outside = gl_FrontFacing ? normal : -normal;
#endif
    float length_of = length(outside);
    outside = length_of > 0.0 ? outside / length_of : to_eye;
    if (dot(outside, to_eye) < 0.0) // smooth normals at a silhouette
        outside = normalize(outside - 1.02 * dot(outside, to_eye) * to_eye);
    float gloss = 0.08;
#ifdef BY_VALUE
    vec3 base = texture(map, vec2((value - scale.x) * scale.y, scale.z)).rgb;
    gloss = 0.0;
#else
    vec3 base = gl_FrontFacing ? front : back;
#ifdef CHECKER
    base = mix(base, gl_FrontFacing ? second : mix(second, back, 0.2), checker());
#endif
#endif
    float lit = dot(outside, light.xyz) > 0.0 ? lit_at(point, outside) : 0.0;
    colour = vec4(to_screen(shade(to_linear(base), outside, to_eye, lit, gloss)), 1.0);
}
#endif
