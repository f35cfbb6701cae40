// A picture in pixels of the window, drawn over everything: legend and captions.

#ifdef VERTEX
uniform vec4 rectangle; // left, top, width, height, from the top left, pixels
out vec2 coordinate;

void main()
{
    coordinate = vec2((gl_VertexID & 1) == 0 ? 0.0 : 1.0, (gl_VertexID & 2) == 0 ? 0.0 : 1.0);
    vec2 at = (rectangle.xy + coordinate * rectangle.zw) * viewport.zw;
    gl_Position = vec4(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, 0.0, 1.0);
}
#endif

#ifdef FRAGMENT
in vec2 coordinate;
uniform sampler2D picture; // premultiplied by opacity, as in cairo
out vec4 colour;

void main()
{
    colour = texture(picture, coordinate);
}
#endif
