// Normals of surfaces at their nodes.
#ifndef TAUT_PICTURE_NORMALS_H
#define TAUT_PICTURE_NORMALS_H

#include "picture/subject.h"

// The sum of the normals of the faces at each node of a body of triangles, by their areas. Not of
// unit length. `normals` and `positions` are of all nodes of the subject.
void normals_of_faces(const struct subject *subject, const struct subject_body *body,
                      const float *positions, float *normals);

// Of a cloth, at every `stride`-th node along both directions (and the last ones).
void normals_of_grid(const struct subject_body *body, uint64_t stride, const float *positions,
                     float *normals);

#endif
