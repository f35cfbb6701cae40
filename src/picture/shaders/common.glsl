// Shared by all shaders: the frame block, colours and light. Colours are shaded in linear light;
// squares and square roots approximate sRGB's curve, which costs much more without a graphics card.

layout(std140) uniform frame {
    mat4 world_to_clip;
    mat4 world_to_shadow; // texture coordinates of the shadow map, and depth
    vec4 eye;             // position; w: 1 perspective, 0 parallel
    vec4 forward;         // unit, from the eye
    vec4 right;           // unit, of the picture
    vec4 top;             // unit, of the picture
    vec4 light;           // unit, towards the light; w: darkness of shadows, 0: no shadows
    vec4 up;              // unit, of the scene
    vec4 viewport;        // pixels: width, height, and their inverses
    vec4 sky, floor_tint; // colours of the background above and below, sRGB
    vec4 scene;           // centre of the drawn box; w: its diagonal, m
    vec4 pixel;           // x: metres per pixel; in perspective per unit of depth
};

vec3 to_linear(vec3 screen)
{
    return screen * screen;
}

vec3 to_screen(vec3 linear)
{
    return sqrt(clamp(linear, 0.0, 1.0));
}

// The unit vector from a point towards the eye.
vec3 towards_eye(vec3 point)
{
    return eye.w > 0.5 ? normalize(eye.xyz - point) : -forward.xyz;
}

float pixel_size(vec3 point)
{
    return eye.w > 0.5 ? pixel.x * max(dot(point - eye.xyz, forward.xyz), 0.0) : pixel.x;
}

// Key light, ambient light (more from above), and a thin rim that separates bodies from their
// background. `lit`: 1, or less in shadow.
vec3 shade(vec3 colour, vec3 normal, vec3 to_eye, float lit, float gloss)
{
    float key = max(dot(normal, light.xyz), 0.0) * lit;
    float around = 0.5 + 0.5 * dot(normal, up.xyz);
    vec3 ambient = mix(vec3(0.30, 0.28, 0.27), vec3(0.50, 0.53, 0.58), around);
    vec3 halfway = normalize(light.xyz + to_eye);
    float shine = max(dot(normal, halfway), 0.0);
    shine *= shine;
    shine *= shine;
    shine *= shine;
    shine *= shine * shine * shine * shine; // to the 32nd power
    float rim = 1.0 - max(dot(normal, to_eye), 0.0);
    rim *= rim;
    rim *= rim;
    return colour * (ambient + 0.72 * key * vec3(1.0, 0.98, 0.94)) + 0.10 * rim * around +
           gloss * lit * shine;
}

#ifdef FRAGMENT
uniform sampler2DShadow shadow_map;

// The fraction of the light that reaches a point of a surface. The point is moved off the surface a
// little, so that the surface does not shade itself because of the map's resolution.
float lit_at(vec3 point, vec3 normal)
{
    if (light.w <= 0.0)
        return 1.0;
    float off = 0.004 * scene.w;
    vec3 moved = point + off * (dot(normal, light.xyz) < 0.0 ? -normal : normal) + off * light.xyz;
    vec3 at = (world_to_shadow * vec4(moved, 1.0)).xyz;
#ifdef HARD_SHADOWS
    return texture(shadow_map, vec3(at.xy, min(at.z, 0.9999)));
#else
    vec2 texel = 1.0 / vec2(textureSize(shadow_map, 0));
    float sum = 0.0;
    for (int i = 0; i < 4; i++) {
        vec2 aside = vec2(i < 2 ? -0.75 : 0.75, (i & 1) == 0 ? -0.75 : 0.75);
        sum += texture(shadow_map, vec3(at.xy + aside * texel, min(at.z, 0.9999)));
    }
    return 0.25 * sum;
#endif
}
#endif
