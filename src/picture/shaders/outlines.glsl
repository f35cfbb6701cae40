// The area of closed outlines in a plane: triangles from one arbitrary point to each edge, each of
// which inverts the stencil, mark the pixels that an odd number of them covers.

#ifdef VERTEX
uniform samplerBuffer positions;
uniform usamplerBuffer ends; // of the faces' edges
uniform int first, pivot;

vec3 node(int number)
{
    int at = 3 * number;
    return vec3(texelFetch(positions, at).r, texelFetch(positions, at + 1).r,
                texelFetch(positions, at + 2).r);
}

void main()
{
    int corner = gl_VertexID % 3;
    uvec2 edge = texelFetch(ends, first + gl_VertexID / 3).rg;
    gl_Position =
        world_to_clip *
        vec4(node(corner == 0 ? pivot : corner == 1 ? int(edge.x) : int(edge.y)), 1.0);
}
#endif

#ifdef FRAGMENT
uniform vec4 paint;
out vec4 colour;

void main()
{
    colour = paint;
}
#endif
