// Springs as tubes of a width in pixels: two triangles each, computed from the number of the
// spring.

#ifdef VERTEX
uniform samplerBuffer positions;
uniform usamplerBuffer ends;
uniform samplerBuffer values;
uniform usamplerBuffer kinds;
uniform int first, every;
uniform float width; // pixels
uniform int paint;   // 0: `plain`, 1: by value, 2: by kind
uniform bool valued; // whether there are values
uniform vec3 plain;
uniform vec3 kind_colours[6];
uniform vec3 scale; // least value, 1 / (most - least), and the row of the map
uniform sampler2D map;
out vec3 point;
out float across; // -1 to 1
flat out vec3 base;
flat out vec3 side;

// The values of broken springs lie above this limit (values.h).
const float BROKEN = 1e30;

vec3 node(uint number)
{
    int at = 3 * int(number);
    return vec3(texelFetch(positions, at).r, texelFetch(positions, at + 1).r,
                texelFetch(positions, at + 2).r);
}

void main()
{
    int spring = first + every * (gl_VertexID / 6);
    int corner = gl_VertexID % 6; // 0 1 2, 2 1 3
    corner = corner == 3 ? 2 : corner == 4 ? 1 : corner == 5 ? 3 : corner;
    uvec2 nodes = texelFetch(ends, spring).rg;
    vec3 a = node(nodes.x), b = node(nodes.y);
    vec4 clip_a = world_to_clip * vec4(a, 1.0), clip_b = world_to_clip * vec4(b, 1.0);
    // Parts behind the eye are clipped before the division.
    float nearest = 1e-5 * scene.w;
    if (eye.w > 0.5 && min(clip_a.w, clip_b.w) < nearest) {
        float part = (nearest - clip_a.w) / (clip_b.w - clip_a.w);
        vec4 cut = mix(clip_a, clip_b, clamp(part, 0.0, 1.0));
        if (clip_a.w < nearest)
            clip_a = cut;
        if (clip_b.w < nearest)
            clip_b = cut;
    }
    vec2 along = (clip_b.xy / clip_b.w - clip_a.xy / clip_a.w) * viewport.xy;
    float seen = length(along);
    along = seen > 1e-6 ? along / seen : vec2(1.0, 0.0);
    vec2 aside = vec2(-along.y, along.x);
    across = (corner & 1) == 0 ? -1.0 : 1.0;
    bool at_b = corner >= 2;
    vec4 clip = at_b ? clip_b : clip_a;
    clip.xy += across * width * aside * viewport.zw * clip.w;
    point = at_b ? b : a;
    side = aside.x * right.xyz + aside.y * top.xyz;
    base = plain;
    float value = valued ? texelFetch(values, spring).r : 0.0;
    if (paint == 1)
        base = textureLod(map, vec2((value - scale.x) * scale.y, scale.z), 0.0).rgb;
    else if (paint == 2)
        base = kind_colours[int(texelFetch(kinds, spring).r)];
    gl_Position = value >= BROKEN ? vec4(2.0, 2.0, 2.0, 1.0) : clip;
}
#endif

#ifdef FRAGMENT
in vec3 point;
in float across;
flat in vec3 base;
flat in vec3 side;
uniform float width;
out vec4 colour;

void main()
{
    if (width < 1.6) { // too thin for a round look
        colour = vec4(base, 1.0);
        return;
    }
    vec3 to_eye = towards_eye(point);
    vec3 normal = normalize(across * side + sqrt(max(1.0 - across * across, 0.0)) * to_eye);
    colour = vec4(to_screen(shade(to_linear(base), normal, to_eye, 1.0, 0.05)), 1.0);
}
#endif
