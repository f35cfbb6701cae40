// One triangle that covers the picture: the background, a gradient from top to bottom.

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
    // Without dithering the slow gradient would show its 256 steps. Bayer's pattern of 4 by 4
    // pixels is the same on every machine, and keeps PNG files small.
    ivec2 at = ivec2(gl_FragCoord.xy);
    int coarse = ((at.x ^ at.y) & 1) * 2 + (at.y & 1);
    int fine = ((at.x ^ at.y) >> 1 & 1) * 2 + (at.y >> 1 & 1);
    float step_of = (float(coarse * 4 + fine) + 0.5) / 16.0 - 0.5;
    colour = vec4(mix(floor_tint.rgb, sky.rgb, smoothstep(0.0, 1.0, height)) + step_of / 255.0, 1.0);
}
#endif
