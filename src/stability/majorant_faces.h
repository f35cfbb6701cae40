// What gas and wind add to the blocks of majorant.h, through the faces of bodies. Numeric: compiled
// for float and for double.
#ifndef TAUT_STABILITY_MAJORANT_FACES_H
#define TAUT_STABILITY_MAJORANT_FACES_H

#include "stability/majorant_listed.h"

struct face_majorants;

// *result is NULL where nothing acts through faces.
taut_status REAL_NAME(face_majorants_make)(struct system *system,
                                           const struct listed_majorants *listed,
                                           struct face_majorants **result, taut_error *error);
void REAL_NAME(face_majorants_free)(struct face_majorants *majorants);
uint64_t REAL_NAME(face_majorants_bytes)(const struct face_majorants *majorants);

// Takes the present state; one worker alone.
void REAL_NAME(face_majorants_update)(struct face_majorants *majorants);

void REAL_NAME(face_majorants_add)(const struct face_majorants *majorants, struct majorant *blocks);

#endif
