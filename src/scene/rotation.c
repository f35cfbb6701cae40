// Rotations (rotation.h).
#include "scene/rotation.h"

// Cosine and sine of an angle in degrees, exact for multiples of 90: a body rotated by a right
// angle keeps exact coordinates, and a plane body stays in its plane.
static void degrees_cosine_sine(double degrees, double *cosine, double *sine)
{
    double rest = fmod(degrees, 360.0);
    if (rest < 0.0)
        rest += 360.0;
    int quarters = (int)(rest / 90.0);
    if (rest == 90.0 * quarters) {
        static const double cosines[] = {1, 0, -1, 0, 1}, sines[] = {0, 1, 0, -1, 0};
        *cosine = cosines[quarters];
        *sine = sines[quarters];
        return;
    }
    double angle = rest * (3.14159265358979323846 / 180.0);
    *cosine = cos(angle);
    *sine = sin(angle);
}

struct rotation rotation_make(vec3 degrees)
{
    double cx, sx, cy, sy, cz, sz;
    degrees_cosine_sine(degrees.x, &cx, &sx);
    degrees_cosine_sine(degrees.y, &cy, &sy);
    degrees_cosine_sine(degrees.z, &cz, &sz);
    return (struct rotation){{{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                              {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                              {-sy, cy * sx, cy * cx}}};
}

// Rodrigues: c I + s [n] + (1 - c) n n'.
struct rotation rotation_about(vec3 axis, double degrees)
{
    const double length = vec3_length(axis);
    double c = 1, s = 0;
    if (!(length > 0))
        return (struct rotation){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    degrees_cosine_sine(degrees, &c, &s);
    const vec3 n = vec3_scale(1 / length, axis);
    const double rest = 1 - c;
    return (struct rotation){
        {{c + rest * n.x * n.x, rest * n.x * n.y - s * n.z, rest * n.x * n.z + s * n.y},
         {rest * n.y * n.x + s * n.z, c + rest * n.y * n.y, rest * n.y * n.z - s * n.x},
         {rest * n.z * n.x - s * n.y, rest * n.z * n.y + s * n.x, c + rest * n.z * n.z}}};
}

vec3 rotate(const struct rotation *rotation, vec3 v)
{
    const double(*r)[3] = rotation->rows;
    return (vec3){r[0][0] * v.x + r[0][1] * v.y + r[0][2] * v.z,
                  r[1][0] * v.x + r[1][1] * v.y + r[1][2] * v.z,
                  r[2][0] * v.x + r[2][1] * v.y + r[2][2] * v.z};
}
