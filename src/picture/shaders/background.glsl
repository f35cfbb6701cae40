// One triangle over all of the picture: the background, from above to below.

#ifdef VERTEX
out float height;

void main()
{
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    height = 0.5 + 0.5 * corner.y;
    gl_Position = vec4(corner, 0.0, 1.0);
}
#endif

#ifdef FRAGMENT
in float height;
out vec4 colour;

void main()
{
    // Without some noise the slow gradient would show its 256 steps.
    float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;
    colour = vec4(mix(floor_tint.rgb, sky.rgb, smoothstep(0.0, 1.0, height)) + noise / 255.0, 1.0);
}
#endif
