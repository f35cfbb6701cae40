// The functions by which a system is touched (solver_live.h says what they do), for the table of
// solver_system.h. Numeric.
#ifndef TAUT_SOLVER_TOUCH_H
#define TAUT_SOLVER_TOUCH_H

#include "solver_system.h"
#include "state/system.h"

void REAL_NAME(touch_set_sphere)(struct system *system, size_t collider, vec3 centre, vec3 velocity,
                                 double radius);
struct sphere_now REAL_NAME(touch_sphere)(const struct system *system, size_t collider);
bool REAL_NAME(touch_lead_node)(struct system *system, uint64_t node, vec3 velocity);
void REAL_NAME(touch_pull)(struct system *system, uint64_t node, vec3 target, double stiffness,
                           double damping);
void REAL_NAME(touch_let_go)(struct system *system);

#endif
