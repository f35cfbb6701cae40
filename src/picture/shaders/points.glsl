// Nodes as balls, pins as marks; one point each.

#ifdef VERTEX
layout(location = 0) in uint number;
uniform samplerBuffer positions;
uniform bool listed; // nodes are in the list `number`; otherwise every n-th from `first`
uniform int first, every;
uniform float diameter; // pixels
out vec3 point;

void main()
{
    int at = 3 * (listed ? int(number) : first + every * gl_VertexID);
    point = vec3(texelFetch(positions, at).r, texelFetch(positions, at + 1).r,
                 texelFetch(positions, at + 2).r);
    // Moved towards the eye by a radius, so that it does not sink halfway into a surface.
    vec3 nearer = point + 0.6 * diameter * pixel_size(point) * towards_eye(point);
    gl_Position = world_to_clip * vec4(nearer, 1.0);
    gl_PointSize = diameter + 1.0;
}
#endif

#ifdef FRAGMENT
in vec3 point;
uniform vec3 paint, border;
uniform int shape; // 0: ball, 1: square with a border, 2: diamond with a border
uniform float diameter;
out vec4 colour;

void main()
{
    vec2 at = (2.0 * gl_PointCoord - 1.0) * (diameter + 1.0) / diameter;
    at.y = -at.y;
    float pixel_of = 2.0 / diameter;
    float from = shape == 0   ? length(at)
                 : shape == 1 ? max(abs(at.x), abs(at.y)) * 1.2
                              : abs(at.x) + abs(at.y);
    float opacity = clamp((1.0 - from) / pixel_of + 0.5, 0.0, 1.0);
    if (opacity <= 0.0)
        discard;
    if (shape == 0) {
        vec3 normal = normalize(at.x * right.xyz + at.y * top.xyz -
                                sqrt(max(1.0 - from * from, 0.0)) * forward.xyz);
        colour = vec4(to_screen(shade(to_linear(paint), normal, -forward.xyz, 1.0, 0.25)), opacity);
    } else {
        float inside = clamp((0.66 - from) / pixel_of + 0.5, 0.0, 1.0);
        colour = vec4(mix(border, paint, inside), opacity);
    }
}
#endif
