// The covered part of the shadow map, blurred along one direction: soft shadows on planes, all
// bodies being on the lit side.

#ifdef VERTEX
out vec2 coordinate;

void main()
{
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    coordinate = 0.5 + 0.5 * corner;
    gl_Position = vec4(corner, 0.0, 1.0);
}
#endif

#ifdef FRAGMENT
in vec2 coordinate;
uniform bool from_map; // otherwise from `coverage`
uniform vec2 direction;
uniform sampler2D coverage;
out vec4 colour;

void main()
{
    float sum = 0.0, weights = 0.0;
    for (int i = -6; i <= 6; i++) {
        vec2 at = coordinate + float(i) * direction;
        float weight = exp(-float(i * i) / 14.0);
        sum += weight *
               (from_map ? 1.0 - texture(shadow_map, vec3(at, 0.9999)) : texture(coverage, at).r);
        weights += weight;
    }
    colour = vec4(sum / weights);
}
#endif
