// Exact orientations of points with finite coordinates of any size: the sign of a determinant of
// the given doubles, never a wrong one. Floats become doubles without a change, so they are exact
// too. Nothing here overflows, underflows or rounds in a result.
#ifndef TAUT_INTERSECTIONS_PREDICATES_H
#define TAUT_INTERSECTIONS_PREDICATES_H

// The sign (-1, 0, 1) of det(a - d, b - d, c - d), six times the volume of the tetrahedron: 0 if
// the four points lie in one plane, 1 if a, b, c are counter-clockwise seen from d.
int orientation_3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// The sign of det(a - c, b - c) in the coordinates numbered u and v (0: x, 1: y, 2: z): 0 if the
// three points lie on a line there, 1 if a, b, c are counter-clockwise.
int orientation_2d(const double a[3], const double b[3], const double c[3], int u, int v);

// The same signs by whole numbers of as many digits as they take, without the filter in floating
// point that decides most cases above.
int orientation_3d_exact(const double a[3], const double b[3], const double c[3],
                         const double d[3]);
int orientation_2d_exact(const double a[3], const double b[3], const double c[3], int u, int v);

#endif
