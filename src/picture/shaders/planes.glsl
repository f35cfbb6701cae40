// Planes: colliders, walls of rooms, and the ground that only shows shadows. Define: GRID.

#ifdef VERTEX
uniform vec3 centre, along_u, along_v; // half sides
out vec3 point;
out vec2 coordinate; // -1 to 1

void main()
{
    coordinate = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
    point = centre + coordinate.x * along_u + coordinate.y * along_v;
    gl_Position = world_to_clip * vec4(point, 1.0);
}
#endif

#ifdef FRAGMENT
in vec3 point;
in vec2 coordinate;
uniform vec3 unit_u, unit_v;
uniform float spacing;  // of the grid's lines, m
uniform float fading;   // 1: towards the edges, 2: away from the upper edge
uniform float strength; // opacity of the plane itself
uniform vec3 paint, line_paint;
uniform bool shadowed;
uniform sampler2D coverage;
out vec4 colour;

// The fraction of a pixel that a line covers; lines that are too dense to be resolved fade instead.
float lines(float at)
{
    float width = fwidth(at);
    float from_line = 0.5 - abs(fract(at) - 0.5);
    return clamp(1.2 - from_line / width, 0.0, 1.0) * clamp(1.0 - 3.0 * width, 0.0, 1.0);
}

float grid(float step_of)
{
    vec2 at = vec2(dot(point, unit_u), dot(point, unit_v)) / step_of;
    return max(lines(at.x), lines(at.y));
}

void main()
{
    float seen = fading == 1.0 ? 1.0 - smoothstep(0.25, 1.0, length(coordinate)) : 1.0;
    if (fading == 2.0) {
        // A line, and a fading band below it.
        float above = 0.5 + 0.5 * coordinate.y;
        float line = step((1.0 - above) / fwidth(above), 1.5 * viewport.y / 720.0 + 0.5);
        colour = vec4(line_paint, seen * mix(0.45 * above * above, 1.0, line));
        return;
    }
    float shadow = 0.0;
    if (shadowed && light.w > 0.0) {
        vec3 at = (world_to_shadow * vec4(point, 1.0)).xyz;
        shadow = light.w * texture(coverage, at.xy).r;
    }
    vec3 base = paint;
    float opacity = strength;
#ifdef GRID
    float line = max(grid(spacing), 0.3 * grid(0.2 * spacing));
    base = mix(base, line_paint, 0.55 * line);
    opacity = max(opacity, 0.8 * line * min(1.0, 2.0 * strength));
#endif
    // The shadow lies over the plane: a darker colour, or black where there is no plane.
    float all = opacity + shadow * (1.0 - opacity);
    vec3 dark = vec3(0.06, 0.08, 0.14);
    vec3 shaded = mix(dark, base, (1.0 - shadow) * opacity / max(all, 1e-4));
    colour = vec4(shaded, all * seen);
}
#endif
