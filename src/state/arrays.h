// The arrays that a run changes, declared once. The state (state.h) allocates, frees and counts
// them from this list; a checkpoint (solver/checkpoint.h) declares, allocates, saves and frees
// those that it keeps from the same list. Independent of the precision: the including file defines
// what `real` is.
#ifndef TAUT_STATE_ARRAYS_H
#define TAUT_STATE_ARRAYS_H

// X(type, name, length, condition, kept): the array exists in the state if `condition` is true,
// otherwise it is NULL; a checkpoint keeps it if `kept` is true. Node arrays are in internal order
// over all bodies (topology/reorder.h). Spring arrays are in the order of the plan's blocks,
// followed by the springs of grids that break or yield (plan.h). A checkpoint has builder order,
// and positions and velocities in its frame; in precision mixed also as the state has them. Arrays
// that it does not keep follow from constants and positions, or are used within one step only.
#define STATE_ARRAYS(X)                                                                            \
    /* positions (m), velocities (m/s), forces (N) */                                              \
    X(real, x, nodes, true, keeps.low_positions)                                                   \
    X(real, y, nodes, true, keeps.low_positions)                                                   \
    X(real, z, nodes, true, keeps.low_positions)                                                   \
    X(real, vx, nodes, true, keeps.low_velocities)                                                 \
    X(real, vy, nodes, true, keeps.low_velocities)                                                 \
    X(real, vz, nodes, true, keeps.low_velocities)                                                 \
    X(real, fx, nodes, true, keeps.forces)                                                         \
    X(real, fy, nodes, true, keeps.forces)                                                         \
    X(real, fz, nodes, true, keeps.forces)                                                         \
    /* the state at the start of the step (midpoint, rk4) or one step back (verlet, bdf2) */       \
    X(real, x0, nodes, needs.base_positions, keeps.previous_positions)                             \
    X(real, y0, nodes, needs.base_positions, keeps.previous_positions)                             \
    X(real, z0, nodes, needs.base_positions, keeps.previous_positions)                             \
    X(real, vx0, nodes, needs.base_velocities, keeps.previous_velocities)                          \
    X(real, vy0, nodes, needs.base_velocities, keeps.previous_velocities)                          \
    X(real, vz0, nodes, needs.base_velocities, keeps.previous_velocities)                          \
    /* sums of the stages' slopes (rk4) */                                                         \
    X(real, sx, nodes, needs.slopes, false)                                                        \
    X(real, sy, nodes, needs.slopes, false)                                                        \
    X(real, sz, nodes, needs.slopes, false)                                                        \
    X(real, svx, nodes, needs.slopes, false)                                                       \
    X(real, svy, nodes, needs.slopes, false)                                                       \
    X(real, svz, nodes, needs.slopes, false)                                                       \
    /* unit means of the normals of a node's faces (wind law node) */                              \
    X(real, nx, nodes, needs.normals, keeps.normals)                                               \
    X(real, ny, nodes, needs.normals, keeps.normals)                                               \
    X(real, nz, nodes, needs.normals, keeps.normals)                                               \
    /* six times the gradient of the volume at a node (gas, of bodies with rings), m2 */           \
    X(real, ax, nodes, needs.gradients, false)                                                     \
    X(real, ay, nodes, needs.gradients, false)                                                     \
    X(real, az, nodes, needs.gradients, false)                                                     \
    /* impulses of the substep so far, times h, J s2/m (xpbd with several iterations): those of    \
     * the plan's blocks, then of each grid direction after direction */                           \
    X(real, multiplier, multipliers, needs.multipliers, false)                                     \
    /* power dissipated by a node's forward springs, W (work of damped grids) */                   \
    X(real, power, nodes, needs.power, false)                                                      \
    /* rest lengths that change by yielding (m); broken springs */                                 \
    X(real, rest_length, springs, topology->any_yields, topology->any_yields)                      \
    X(uint8_t, broken, springs, topology->any_breaks, topology->any_breaks)                        \
    /* rest lengths of packed springs (m), -1 for broken ones, if any may change */                \
    X(real, slot_rest, slots, topology->any_yields || topology->any_breaks, false)                 \
    /* of a body: volume by its pressure's rule (m3), built and now; gauge pressure (Pa) */        \
    X(double, volume_built, bodies, true, true)                                                    \
    X(double, volume, bodies, true, false)                                                         \
    X(double, pressure, bodies, true, false)                                                       \
    /* the gas of a body (nRT, J) after step gas_since; from then on it is pumped to `amount` */   \
    X(double, gas_start, bodies, true, true)                                                       \
    X(double, gas_since, bodies, true, true)                                                       \
    /* the volume (m3) at the last sample of the energy budget */                                  \
    X(double, volume_sampled, bodies, true, true)                                                  \
    /* contact of surfaces: the stiffness of each body's barrier (N/m) */                          \
    X(double, surface_stiffness, bodies, topology->has_contact, topology->has_contact)             \
    /* moved nodes: positions at the start of the step (m); pendulums: angle (rad), rate */        \
    X(vec3, motion_position, motions, true, true)                                                  \
    X(double, motion_angle, motions, true, true)                                                   \
    X(double, motion_rate, motions, true, true)                                                    \
    /* their velocities before a change at the end of the step (m/s; integrate/kinematic.c) */     \
    X(vec3, motion_velocity, motions, true, false)                                                 \
    /* at collider_since: centre of a sphere, displacement of a mesh; velocity; radius */          \
    X(vec3, collider_centre, colliders, true, true)                                                \
    X(vec3, collider_velocity, colliders, true, true)                                              \
    X(double, collider_since, colliders, true, true)                                               \
    X(double, collider_radius, colliders, true, true)                                              \
    /* projecting colliders: the surfaces that a node touched at the end of the last step, one     \
     * bit per wall of a room, by collider; whether any node of a block touched one */             \
    X(uint8_t, touching, touches, needs.projections > 0, keeps.touching)                           \
    X(uint8_t, block_touches, contact_blocks, needs.projections > 0, false)                        \
    /* velocities at the start of the step, in blocks near a surface with restitution (m/s) */     \
    X(real, start_vx, nodes, needs.restitution, false)                                             \
    X(real, start_vy, nodes, needs.restitution, false)                                             \
    X(real, start_vz, nodes, needs.restitution, false)                                             \
    X(uint8_t, start_known, contact_blocks, needs.restitution, false)                              \
    /* the stiffness of the springs at a node along any direction, over its mass (1/s2) */         \
    X(real, spring_rate, nodes, needs.restitution, false)                                          \
    /* precision mixed: what x, v, x0 and v0 lack of positions and velocities, present and         \
     * previous ones */                                                                            \
    X(real, x_low, nodes, needs.low_positions, keeps.low_positions)                                \
    X(real, y_low, nodes, needs.low_positions, keeps.low_positions)                                \
    X(real, z_low, nodes, needs.low_positions, keeps.low_positions)                                \
    X(real, vx_low, nodes, needs.low_velocities, keeps.low_velocities)                             \
    X(real, vy_low, nodes, needs.low_velocities, keeps.low_velocities)                             \
    X(real, vz_low, nodes, needs.low_velocities, keeps.low_velocities)                             \
    X(real, x0_low, nodes, needs.low_previous, keeps.low_previous)                                 \
    X(real, y0_low, nodes, needs.low_previous, keeps.low_previous)                                 \
    X(real, z0_low, nodes, needs.low_previous, keeps.low_previous)                                 \
    X(real, vx0_low, nodes, needs.low_previous_velocities, keeps.low_previous_velocities)          \
    X(real, vy0_low, nodes, needs.low_previous_velocities, keeps.low_previous_velocities)          \
    X(real, vz0_low, nodes, needs.low_previous_velocities, keeps.low_previous_velocities)          \
    /* friction on penalty colliders (contact/friction.h), slot after slot: the point at which the \
     * spring of a contact is not stretched (m; of a sphere from its centre), its stretch at the   \
     * end of the last step (m), and flags; whether any node of a block has any flag */            \
    X(vec3, friction_anchor, frictions, needs.frictions > 0, keeps.friction)                       \
    X(double, friction_stretch, frictions, needs.frictions > 0, keeps.friction)                    \
    X(uint8_t, friction_flags, frictions, needs.frictions > 0, keeps.friction)                     \
    X(uint8_t, block_friction, contact_blocks, needs.frictions > 0, false)

#endif
