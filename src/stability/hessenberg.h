// The part of quadratic.h that is no matter of the precision: eigenvalues of the real upper
// Hessenberg matrix that Arnoldi's method leaves, in plain C, so that they have the same bits
// wherever the program runs; and how much memory there is for its vectors.
#ifndef TAUT_STABILITY_HESSENBERG_H
#define TAUT_STABILITY_HESSENBERG_H

#include <stdbool.h>
#include <stddef.h>

// A full n x n matrix becomes upper Hessenberg with the same eigenvalues: H A H with the
// reflections H = I - 2 v v' that clear what is below its subdiagonal. v and w: n numbers each to
// work in. About 10/3 n^3 operations.
void hessenberg_reduce(double *matrix, size_t n, double *restrict v, double *restrict w);

// The eigenvalues real[i] + i imaginary[i] of the size x size matrix, row after row with `stride`
// numbers from one row to the next; what is below the subdiagonal is not read. The matrix is
// destroyed. Complex ones come in pairs. False where the iteration does not converge, or a number
// is not finite. About 10 size^3 operations.
bool hessenberg_eigenvalues(double *matrix, int size, int stride, double *real, double *imaginary);

enum { QUADRATIC_VECTORS_MAX = 480 };

// How many vectors are kept at the most, of so many nodes with numbers of so many bytes: their
// square times the nodes is what orthogonality costs, some ns each.
double quadratic_vectors(double nodes, double number_bytes);

// The most memory that they take with the matrix, bytes.
double quadratic_bytes(double nodes, double number_bytes);

#endif
