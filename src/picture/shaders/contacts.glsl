// Contacts as needles along their normals, with round ends and a dark border: four vertices each.

#ifdef VERTEX
layout(location = 0) in vec3 centre;
layout(location = 1) in vec3 normal;
layout(location = 2) in float force;
layout(location = 3) in uint friction;
uniform float per_force;   // 1/N, over that of a needle of full length
uniform float full_length; // pixels
uniform float width;       // pixels
uniform vec3 colours[3];
out vec2 at;           // pixels along and across the needle, from its middle
flat out float middle; // pixels, half of its length without the round ends
flat out vec3 base;

void main()
{
    float part = min(sqrt(max(force, 0.0) * per_force), 1.0);
    float pixels = full_length * part;
    // The needle as seen: shorter where the normal points towards the eye.
    vec2 seen = vec2(dot(normal, right.xyz), dot(normal, top.xyz));
    float shown = length(seen);
    vec2 along = shown > 1e-3 ? seen / shown : vec2(0.0, 1.0);
    middle = 0.5 * pixels * shown;
    float outside = 0.5 * width + 1.0;
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0);
    at = corner * vec2(middle + outside, outside);
    // Moved towards the eye by its width, so that it does not sink into a surface that is seen.
    vec3 nearer = centre + width * pixel_size(centre) * towards_eye(centre);
    vec4 clip = world_to_clip * vec4(nearer, 1.0);
    vec2 offset = at.x * along + at.y * vec2(-along.y, along.x);
    clip.xy += 2.0 * offset * viewport.zw * clip.w;
    base = colours[int(friction)];
    gl_Position = clip;
}
#endif

#ifdef FRAGMENT
in vec2 at;
flat in float middle;
flat in vec3 base;
uniform float width;
uniform float opacity;
out vec4 colour;

void main()
{
    float from = length(vec2(max(abs(at.x) - middle, 0.0), at.y));
    float covered = clamp(0.5 * width - from + 0.5, 0.0, 1.0);
    if (covered <= 0.0)
        discard;
    float inside = clamp(0.5 * width - 1.0 - from + 0.5, 0.0, 1.0);
    colour = vec4(mix(vec3(0.10, 0.12, 0.15), base, inside), covered * opacity);
}
#endif
