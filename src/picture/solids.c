#include "picture/solids.h"

#include "picture/shaders.h"

// Solids of revolution about z: the profile's points in turns, with the normals there.
enum { TURNS = 64, PROFILE_MOST = 33 };

struct profile {
    int count;
    float radius[PROFILE_MOST], height[PROFILE_MOST];
    float outwards[PROFILE_MOST], upwards[PROFILE_MOST];
};

static void profile_add(struct profile *profile, double radius, double height, double outwards,
                        double upwards)
{
    int i = profile->count++;
    profile->radius[i] = (float)radius;
    profile->height[i] = (float)height;
    profile->outwards[i] = (float)outwards;
    profile->upwards[i] = (float)upwards;
}

static const double PI = 3.14159265358979323846;

static struct profile profile_of(enum solid solid)
{
    struct profile profile = {0};
    if (solid == SOLID_SPHERE) {
        for (int i = 0; i < PROFILE_MOST; i++) {
            double angle = PI * (i / (PROFILE_MOST - 1.0) - 0.5);
            profile_add(&profile, cos(angle), sin(angle), cos(angle), sin(angle));
        }
        return profile;
    }
    profile_add(&profile, 0, 0, 0, -1); // the disc below
    profile_add(&profile, 1, 0, 0, -1);
    double top = solid == SOLID_CONE ? 0.0 : 1.0;
    double slope = solid == SOLID_CONE ? sqrt(0.5) : 0.0;
    profile_add(&profile, 1, 0, sqrt(1.0 - slope * slope), slope);
    profile_add(&profile, top, 1, sqrt(1.0 - slope * slope), slope);
    if (solid == SOLID_CYLINDER) {
        profile_add(&profile, 1, 1, 0, 1);
        profile_add(&profile, 0, 1, 0, 1);
    }
    return profile;
}

struct solid_vertex {
    float position[3], normal[3];
};

static struct solid_vertex vertex_of(const struct profile *profile, int i, int turn)
{
    double angle = 2.0 * PI * turn / TURNS;
    float x = (float)cos(angle), y = (float)sin(angle);
    return (struct solid_vertex){
        {profile->radius[i] * x, profile->radius[i] * y, profile->height[i]},
        {profile->outwards[i] * x, profile->outwards[i] * y, profile->upwards[i]}};
}

static void solid_make(struct solids *solids, enum solid solid)
{
    struct profile profile = profile_of(solid);
    struct solid_vertex vertices[6 * TURNS * (PROFILE_MOST - 1)];
    int count = 0;
    for (int i = 0; i + 1 < profile.count; i++) {
        for (int turn = 0; turn < TURNS; turn++) {
            struct solid_vertex a = vertex_of(&profile, i, turn);
            struct solid_vertex b = vertex_of(&profile, i, turn + 1);
            struct solid_vertex c = vertex_of(&profile, i + 1, turn + 1);
            struct solid_vertex d = vertex_of(&profile, i + 1, turn);
            const struct solid_vertex corners[] = {a, b, c, a, c, d};
            for (int k = 0; k < 6; k++)
                vertices[count++] = corners[k];
        }
    }
    solids->counts[solid] = count;
    glGenVertexArrays(1, &solids->vertices[solid]);
    glGenBuffers(1, &solids->buffers[solid]);
    glBindVertexArray(solids->vertices[solid]);
    glBindBuffer(GL_ARRAY_BUFFER, solids->buffers[solid]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof vertices[0]), vertices,
                 GL_STATIC_DRAW);
    GLsizei stride = (GLsizei)sizeof vertices[0];
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, NULL);
    // OpenGL takes a place in a buffer as a pointer.
    size_t place = offsetof(struct solid_vertex, normal);
    const void *normals = (const void *)place; // NOLINT(performance-no-int-to-ptr)
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride, normals);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindVertexArray(0);
}

taut_status solids_make(struct solids *solids, taut_error *error)
{
    *solids = (struct solids){0};
    for (int solid = 0; solid < SOLID_COUNT; solid++)
        solid_make(solids, (enum solid)solid);
    return gl_program_make("solids", "", shader_solids, &solids->program, error);
}

void solids_free(struct solids *solids)
{
    glDeleteProgram(solids->program);
    glDeleteVertexArrays(SOLID_COUNT, solids->vertices);
    glDeleteBuffers(SOLID_COUNT, solids->buffers);
    *solids = (struct solids){0};
}

void solids_paint(const struct solids *solids, struct colour colour, double gloss)
{
    glUseProgram(solids->program);
    gl_set_colour(solids->program, "paint", colour);
    gl_set_float(solids->program, "gloss", gloss);
    gl_set_int(solids->program, "shadowed", true);
}

static void draw(const struct solids *solids, enum solid solid, vec3 origin, const vec3 axes[3])
{
    gl_set_vector(solids->program, "origin", origin);
    gl_set_vector(solids->program, "axis_x", axes[0]);
    gl_set_vector(solids->program, "axis_y", axes[1]);
    gl_set_vector(solids->program, "axis_z", axes[2]);
    glBindVertexArray(solids->vertices[solid]);
    glDrawArrays(GL_TRIANGLES, 0, solids->counts[solid]);
}

void solids_sphere(const struct solids *solids, vec3 centre, double radius, double behind)
{
    gl_set_float(solids->program, "behind", behind);
    const vec3 axes[3] = {{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
    draw(solids, SOLID_SPHERE, centre, axes);
}

void solids_arrow(const struct solids *solids, vec3 tail, vec3 tip, double radius, bool head)
{
    vec3 along = vec3_subtract(tip, tail);
    double length = vec3_length(along);
    if (!(length > 0.0))
        return;
    gl_set_float(solids->program, "behind", 0.0);
    vec3 unit = vec3_scale(1.0 / length, along);
    vec3 other = fabs(unit.x) < 0.7 ? vec3_make(1, 0, 0) : vec3_make(0, 1, 0);
    vec3 side = vec3_cross(other, unit);
    side = vec3_scale(1.0 / vec3_length(side), side);
    vec3 third = vec3_cross(unit, side);
    double head_length = head ? fmin(6.0 * radius, 0.6 * length) : 0.0;
    vec3 neck = vec3_subtract(tip, vec3_scale(head_length, unit));
    const vec3 shaft[3] = {vec3_scale(radius, side), vec3_scale(radius, third),
                           vec3_subtract(neck, tail)};
    draw(solids, SOLID_CYLINDER, tail, shaft);
    if (!head)
        return;
    const vec3 cone[3] = {vec3_scale(2.6 * radius, side), vec3_scale(2.6 * radius, third),
                          vec3_scale(head_length, unit)};
    draw(solids, SOLID_CONE, neck, cone);
}
