// A unit solid (sphere, cylinder, cone), placed by three axes and an origin.

#ifdef VERTEX
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal_in;
uniform vec3 origin, axis_x, axis_y, axis_z;
uniform float behind; // m, added to the depth
out vec3 point;
out vec3 normal;

void main()
{
    point = origin + position.x * axis_x + position.y * axis_y + position.z * axis_z;
    // Transformed by the cofactors, so that normals stay perpendicular if the axes differ in
    // length.
    normal = normal_in.x * cross(axis_y, axis_z) + normal_in.y * cross(axis_z, axis_x) +
             normal_in.z * cross(axis_x, axis_y);
    gl_Position = world_to_clip * vec4(point, 1.0);
    vec4 farther = world_to_clip * vec4(point - behind * towards_eye(point), 1.0);
    gl_Position.z = farther.z / farther.w * gl_Position.w;
}
#endif

#ifdef FRAGMENT
in vec3 point;
in vec3 normal;
uniform vec3 paint;
uniform float gloss;
uniform bool shadowed; // whether the scene casts shadows on it
uniform bool two_sided; // whether it is seen from behind, too
out vec4 colour;

void main()
{
    vec3 outside = normalize(normal);
    if (two_sided && dot(outside, towards_eye(point)) < 0.0)
        outside = -outside;
    float lit = shadowed && dot(outside, light.xyz) > 0.0 ? lit_at(point, outside) : 1.0;
    colour = vec4(to_screen(shade(to_linear(paint), outside, towards_eye(point), lit, gloss)), 1.0);
}
#endif
