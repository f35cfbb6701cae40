// The part of quadratic.h that does not depend on the precision: eigenvalues of the real upper
// Hessenberg matrix of Arnoldi's method, in plain C, for the same bits on every machine; and the
// memory for its vectors.
#ifndef TAUT_STABILITY_HESSENBERG_H
#define TAUT_STABILITY_HESSENBERG_H

#include <stdbool.h>
#include <stddef.h>

// Reduces a full n x n matrix to upper Hessenberg form with the same eigenvalues: H A H with the
// reflections H = I - 2 v v' that clear the elements below the subdiagonal. v and w: scratch of n
// numbers each. About 10/3 n^3 operations.
void hessenberg_reduce(double *matrix, size_t n, double *restrict v, double *restrict w);

// The eigenvalues real[i] + i imaginary[i] of a size x size matrix, stored by rows with `stride`
// numbers from one row to the next. Elements below the subdiagonal are not read. The matrix is
// destroyed. Complex eigenvalues come in pairs. False if the iteration does not converge, or if a
// number is not finite. About 10 size^3 operations.
bool hessenberg_eigenvalues(double *matrix, int size, int stride, double *real, double *imaginary);

enum { QUADRATIC_VECTORS_MAX = 480 };

// The maximum number of vectors for so many nodes and a number size in bytes. Orthogonalisation
// costs their square times the nodes, some ns each.
double quadratic_vectors(double nodes, double number_bytes);

// The maximum memory of these vectors and the matrix, bytes.
double quadratic_bytes(double nodes, double number_bytes);

#endif
