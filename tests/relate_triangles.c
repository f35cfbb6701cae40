// The relation of pairs of triangles, for tests/test_intersections.py: reads records of 18 doubles
// (two triangles) from standard input, and writes a digit for each: enum triangle_relation, or d if
// one of the triangles is degenerate.
#include <stdio.h>

#include "intersections/triangles.h"

int main(void)
{
    double values[18];
    while (fread(values, sizeof values[0], 18, stdin) == 18) {
        const double *t[3], *u[3];
        for (int i = 0; i < 3; i++) {
            t[i] = values + 3 * i;
            u[i] = values + 9 + 3 * i;
        }
        if (triangle_is_degenerate(t[0], t[1], t[2]) || triangle_is_degenerate(u[0], u[1], u[2]))
            putchar('d');
        else
            putchar('0' + (int)triangles_relate(t, u));
    }
    return ferror(stdin) || fflush(stdout) != 0;
}
