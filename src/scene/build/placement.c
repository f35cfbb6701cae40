// Where translate and rotate put a body.
#include "scene/build/build.h"

// Cosine and sine of an angle in degrees, exact for multiples of 90: a body turned by a right angle
// keeps exact coordinates, and a plane body stays in its plane.
static void turn(double degrees, double *cosine, double *sine)
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

// Rz Ry Rx: about x first, then about y, then about z.
struct rotation rotation_make(vec3 degrees)
{
    double cx, sx, cy, sy, cz, sz;
    turn(degrees.x, &cx, &sx);
    turn(degrees.y, &cy, &sy);
    turn(degrees.z, &cz, &sz);
    return (struct rotation){{{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                              {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                              {-sy, cy * sx, cy * cx}}};
}

vec3 rotate(const struct rotation *rotation, vec3 v)
{
    const double(*r)[3] = rotation->rows;
    return (vec3){r[0][0] * v.x + r[0][1] * v.y + r[0][2] * v.z,
                  r[1][0] * v.x + r[1][1] * v.y + r[1][2] * v.z,
                  r[2][0] * v.x + r[2][1] * v.y + r[2][2] * v.z};
}

vec3 build_place(const struct build *build, vec3 point)
{
    return vec3_add(rotate(&build->rotation, point), build->given->translate);
}
