// Contact between the surfaces of bodies: of nodes with triangles, and of edges with edges, by a
// barrier force that begins before they touch (distance.h), and by cutting the motion of a step
// where it would let surfaces pass through each other. Functions with a worker argument are called
// by all workers together. Numeric.
#ifndef TAUT_CONTACT_SURFACE_CONTACT_H
#define TAUT_CONTACT_SURFACE_CONTACT_H

#include "contact/surface_report.h"
#include "kernels/kernels.h"

// Makes system->surface_contact if the scene has contact.
taut_status REAL_NAME(surface_contact_make)(struct system *system, const taut_scene *scene,
                                            taut_error *error);
void REAL_NAME(surface_contact_free)(struct system *system);

// On several ranks (surface_shares.h). The first function decides which pairs of surfaces the rank
// with these nodes evaluates in steps, if the scene has contact; it returns false without memory,
// and is not collective. The second one gives all ranks, outside of steps, the memory of friction
// of all surfaces from the ranks that keep it; all ranks call it together.
bool REAL_NAME(surface_contact_share)(const struct system *system, struct range own);
void REAL_NAME(surface_friction_share)(struct system *system);

uint64_t REAL_NAME(surface_contact_bytes)(const struct system *system);

// Whether any triangles of surfaces that may touch cross each other, or edges without triangles
// cross a triangle, if they have no common node; the first such pair. By one worker. *no_memory:
// this is not known.
bool REAL_NAME(surface_contact_crosses)(struct system *system, struct surface_parts *found,
                                        bool *no_memory);

// The nearest parts of surfaces that may touch. For the positions for which the lists were made, by
// one worker.
struct surface_nearest REAL_NAME(surface_contact_nearest)(const struct system *system);

// That of two bodies, or meshes.
struct surface_overlap REAL_NAME(surface_contact_overlap)(const struct system *system, size_t one,
                                                          size_t other);

// Moves nodes until surfaces neither cross nor are nearer than their thickness, as far as that is
// possible: surface_contact_crosses and surface_contact_nearest report what is left.
void REAL_NAME(surface_contact_relax)(struct system *system, struct surface_relaxed *result,
                                      const struct worker *worker);

// The mean length of the edges of a body's surface as built, m; INFINITY if it has none.
double REAL_NAME(surface_contact_edge)(const struct system *system, size_t body);

// Triangles of a body's surface as built, and those lower than `height`, m: above their longest
// sides. None of a body that does not touch itself.
struct surface_triangles REAL_NAME(surface_contact_triangles)(const struct system *system,
                                                              size_t body, double height);

// `stiffness: auto`: sets the stiffness of the barrier of every body so that contacts of the weight
// SURFACE_WEIGHTS at every node add at most `square` (1/s2) to the largest eigenvalue of M^-1 K.
void REAL_NAME(surface_contact_choose_stiffness)(struct system *system, double square);

// The positions of nodes have changed otherwise than by a step.
void REAL_NAME(surface_contact_moved)(struct system *system);

// After a step something else has moved nodes, a projection or the mouse, before forces are
// evaluated again. By one worker.
void REAL_NAME(surface_contact_displaced)(struct system *system);

// Before the first evaluation of a step that is longer than the lists may last: has them made for
// nodes that go on with their velocities for that time, so that no stage of the step lacks
// candidates. Ends with a barrier.
void REAL_NAME(surface_contact_expect)(struct system *system, double time,
                                       const struct worker *worker);

// Finds what touches in this evaluation of the forces, and the forces. Ends with a barrier.
void REAL_NAME(surface_contact_find)(struct system *system, struct evaluation evaluation,
                                     const struct worker *worker);

// While it is paused, evaluations of the forces find no contact, surfaces have no energy, and
// everything that the cutting of the step needs is left. Ends with a barrier.
void REAL_NAME(surface_contact_pause)(struct system *system, bool pauses,
                                      const struct worker *worker);

// Adds these forces to those of the nodes. Ends with a barrier if there are any.
void REAL_NAME(surface_contact_add)(struct system *system, const struct worker *worker);

// The energy of the barriers in the present state, J; the same on every worker.
double REAL_NAME(surface_contact_energy)(struct system *system, const struct worker *worker);

// The power that the dampers of contacts with friction take in the present state, W; the same on
// every worker.
double REAL_NAME(surface_contact_power)(struct system *system, const struct worker *worker);

// The same of the evaluation of the forces that has just been made, which has found it.
double REAL_NAME(surface_contact_evaluated_power)(struct system *system,
                                                  const struct worker *worker);

// Between steps, when dt has changed: makes lists, since the next step may move nodes farther than
// those there are allow. Ends with a barrier.
void REAL_NAME(surface_contact_change_dt)(struct system *system, const struct worker *worker);

// On several ranks, before steps: the lists of some may have become others since the last ones. By
// all ranks, outside of the work of a team.
void REAL_NAME(surface_contact_begin)(struct system *system);

// While nodes with a prescribed motion are moved in a step or a substep, by one worker: there are
// none so far; and where one was before that, once for each. A step that is cut needs that.
void REAL_NAME(surface_contact_drive_none)(struct system *system);
void REAL_NAME(surface_contact_drive)(struct system *system, size_t node, vec3 position);

// Before surface_contact_passes, by one worker: the time at which the step, or substep, has begun,
// and the length over which velocities have moved nodes, s.
void REAL_NAME(surface_contact_set_step)(struct system *system, double begin, double step);

// After the nodes have moved, before forces are evaluated again: whether the motion of the step, or
// of a substep, up to a time, s, has to be cut, because nodes would pass through a surface or come
// nearer to it than a twentieth of their distance. The same on every worker.
bool REAL_NAME(surface_contact_passes)(struct system *system, double end,
                                       const struct worker *worker);

// If so: cuts it. Every node that is cut keeps a part of its displacement, and its velocity changes
// by what it loses, over the step. Ends with a barrier.
void REAL_NAME(surface_contact_cut)(struct system *system, const struct worker *worker);

// Instead of that, in a run that has certainly diverged: puts all nodes that are free back to where
// they were at the start of the step, or substep, so that none has passed through a surface. Ends
// with a barrier. From then on surface_contact_gave_up is true, until a state is restored.
void REAL_NAME(surface_contact_give_up)(struct system *system, const struct worker *worker);
bool REAL_NAME(surface_contact_gave_up)(const struct system *system);

// While system->is_hopeless is asked: whether it is because nodes fly so far in the step that lists
// for it may take minutes and gigabytes.
bool REAL_NAME(surface_contact_flies)(const struct system *system);

// After that, in an explicit step with colliders that project: whether nodes are inside these, at a
// time, s. If so, surface_lift_begin keeps the start of the step (`has_cut`: the cut has kept it),
// surface_lift moves those nodes out, and surface_lift_undo back, and keeps these positions for
// surface_contact_cut_energy; surface_contact_passes and surface_contact_cut are then those of the
// path to there, until surface_lift_end. `holds`: the cut moves no node back into a sphere that
// moves. `resolved`: nothing is left that the projection might move through a surface. The results
// are the same on every worker; all end with a barrier. surface_lift_begin: false without memory.
bool REAL_NAME(surface_lift_needed)(struct system *system, double time,
                                    const struct worker *worker);
bool REAL_NAME(surface_lift_begin)(struct system *system, bool has_cut,
                                   const struct worker *worker);
void REAL_NAME(surface_lift)(struct system *system, double time, bool holds,
                             const struct worker *worker);
void REAL_NAME(surface_lift_undo)(struct system *system, const struct worker *worker);
void REAL_NAME(surface_lift_end)(struct system *system, bool resolved, const struct worker *worker);

// J; and W, the power of their forces on nodes that are free, and what nodes with a prescribed
// motion give.
struct surface_energy {
    double energy, power, given;
};

// What surfaces had of it before that and do not have now, by what has been moved; of powers only
// if `powers`. The same on every worker; ends with a barrier.
struct surface_energy REAL_NAME(surface_contact_cut_energy)(struct system *system, bool powers,
                                                            const struct worker *worker);

// J, what nodes, meshes and spheres with a prescribed motion did in that.
double REAL_NAME(surface_contact_cut_work)(const struct system *system);

// The work of cuts of the motion (surface_cut_work.c) for the energy budget: before an explicit
// step, or a substep of xpbd, of which the velocities are kept; once the forces of a substep have
// changed velocities, before colliders project nodes; before and after a cut. All workers together;
// each ends with a barrier. cut_work_begin: false if the budget does not count by these.
// cut_work_end: J, on worker 0, what the cut has taken of the energy, and of the kinetic energy,
// and of xpbd the sum of m k^2 of the nodes that it has cut, whose forces have added k.
void REAL_NAME(cut_work_start)(struct system *system, const struct worker *worker);
void REAL_NAME(cut_work_pushed)(struct system *system, const struct worker *worker);
bool REAL_NAME(cut_work_begin)(struct system *system, const struct worker *worker);
struct cut_work {
    double taken, kinetic, kicks;
};
struct cut_work REAL_NAME(cut_work_end)(struct system *system, const struct worker *worker);

// With Verlet's methods, once forces are known at the start of a step: after one whose motion has
// been cut, velocities without the half of the kick that completes them. It presses a node on a
// surface at rest, and dampers would have the power of a motion that is not there. False if they
// are as they are; otherwise cut_work_complete puts them back.
bool REAL_NAME(cut_work_uncomplete)(struct system *system, const struct worker *worker);
void REAL_NAME(cut_work_complete)(struct system *system, const struct worker *worker);

// Instead of that: the fraction of the motion of all nodes that no candidate forbids, relative to
// its centre of mass or to nodes with a prescribed motion at rest; 1: all of it, or not known. The
// same on every worker; ends with a barrier. surface_contact_count_cut: such a step is one that has
// been cut.
double REAL_NAME(surface_contact_fraction)(struct system *system, const struct worker *worker);
void REAL_NAME(surface_contact_count_cut)(struct system *system);

// Counts `count` cuts of the present step that found no end, or takes them back where they are made
// again: the step counts once, however many of its substeps and stages found none.
void REAL_NAME(surface_contact_count_unresolved)(struct system *system, int count);

// An implicit step is projected before it is cut, and what is left of its motion may end inside a
// sphere that moves: then it is counted as unresolved. For a step that has been cut, and is not
// counted yet. By all workers; ends with a barrier.
void REAL_NAME(surface_contact_count_sunk)(struct system *system, double time,
                                           const struct worker *worker);

// Whether a step has been cut since the last call, or should have been. The same on every worker.
bool REAL_NAME(surface_contact_has_cut)(struct system *system, const struct worker *worker);

// The kinetic energy that nodes had before they were cut, J: to be given before each cut, by the
// first worker; and the greatest in the steps for which surface_contact_has_cut has returned true
// the last time.
void REAL_NAME(surface_contact_note_kinetic)(struct system *system, double kinetic);
double REAL_NAME(surface_contact_uncut_kinetic)(const struct system *system);

// Sets that of surface_cuts; by one worker.
void REAL_NAME(surface_contact_count_taken)(struct system *system, const struct taken_count *taken);

// Whether surfaces have passed through each other between the start of the step and the last
// evaluation at a stage.
bool REAL_NAME(surface_contact_crossed)(const struct system *system);

// Planes, spheres and rooms with `response: contact` (shape_contact.h): the energy of the present
// state, J; by one worker, the part of a surface that is nearest to one of them, at INFINITY
// without any; the greatest sum of weights at a node of a body, and the dampers of friction, N s/m.
double REAL_NAME(shape_contact_energy)(struct system *system, double time,
                                       const struct worker *worker);
struct shape_nearest REAL_NAME(shape_contact_nearest)(const struct system *system);
double REAL_NAME(shape_contact_weights)(const struct system *system, size_t body);
double REAL_NAME(shape_contact_damping)(const struct system *system, size_t body);

// The power that their motion adds, and the dampers of contacts with friction take, in the present
// evaluation of the forces, W; at a stage of an implicit step that is a part of
// mesh_colliders_power.
struct shape_powers {
    double drives, friction;
};
struct shape_powers REAL_NAME(shape_contact_powers)(struct system *system,
                                                    const struct worker *worker);

// W, without friction: that of the forces of shapes on nodes that are free, and what shapes give,
// where shape_contact_energy has looked.
void REAL_NAME(shape_contact_normal_powers)(struct system *system, double powers[2],
                                            const struct worker *worker);

// Poses the mesh colliders that move for a time, s. Ends with a barrier if there are any.
void REAL_NAME(mesh_colliders_pose)(struct system *system, double time,
                                    const struct worker *worker);

// Poses all of them for the present state, after those that have been moved between steps changed.
// By one worker.
void REAL_NAME(mesh_colliders_set_positions)(struct system *system);

// From now on a mesh is displaced from where the scene has it (m), and has a velocity beside that
// of the scene (m/s); and where it is displaced to at present. By one worker, between steps.
void REAL_NAME(mesh_collider_move)(struct system *system, size_t collider, vec3 displacement,
                                   vec3 velocity);
vec3 REAL_NAME(mesh_collider_displacement)(const struct system *system, size_t collider);

// Whether any of them moves.
bool REAL_NAME(mesh_colliders_move)(const struct system *system);

// Whether what has a prescribed motion changes its velocity, with contact or without: a drive after
// `from` and before `drives_end`, or a mesh collider after `from` and at `meshes_end` at the
// latest, s.
bool REAL_NAME(prescribed_motion_changes)(const struct system *system, double from,
                                          double drives_end, double meshes_end);

// W, exerted by mesh colliders in the present evaluation of the forces, and at a stage of an
// implicit step also by spheres; the same on every worker.
double REAL_NAME(mesh_colliders_power)(const struct system *system);

// Sets it, of forces that were evaluated in another solver, until the next evaluation. Velocities
// of Verlet's methods have changed since that one, and with them friction.
void REAL_NAME(mesh_colliders_keep_power)(struct system *system, double power);

// The greatest coordinate of mesh collider `m` from now until `end` (s), by its motion, counted
// from the state's origin, m. For a mesh that turns, its farthest point is assumed to come to lie
// along each axis.
double REAL_NAME(mesh_collider_reach)(const struct system *system, size_t m, double end);

// Whether a node of a body is inside a mesh collider with `sides: outside`, for surfaces that do
// not cross; *found: the node, and the collider. By one worker. *no_memory: this is not known.
bool REAL_NAME(mesh_colliders_enclose)(const struct system *system, struct surface_parts *found,
                                       bool *no_memory);

struct surface_cuts REAL_NAME(surface_contact_cuts)(const struct system *system);
void REAL_NAME(surface_contact_put_cuts)(struct system *system, const struct surface_cuts *cuts);

// By one worker, of all ranks together; all 0 without contact.
struct surface_counts REAL_NAME(surface_contact_counts)(const struct system *system);

// With itself, and with shapes if they have no thickness.
struct surface_stiffness REAL_NAME(surface_contact_stiffness)(const struct system *system,
                                                              size_t body);

// Lists where surfaces touch each other and colliders, and nodes penalty colliders, in the present
// state, which does not change (contact_points.c). to->items, capacity and spread are given. Also
// without contact of surfaces; ends with a barrier.
void REAL_NAME(contact_points_list)(struct system *system, struct contact_points *to,
                                    const struct worker *worker);

// Upper bounds of the stiffness, N/m, and damping, N s/m, along any direction, of what surfaces
// have at a node. Contacts that slide have no friction that moves with them.
struct node_load {
    double stiffness, damping;
};

// Finds the loads of all nodes in the present state, which does not change (contact_points.c): of
// contact with surfaces only, without planes, spheres and rooms, of which no step lacks any. The
// same for any number of workers. On several ranks, each finds those of its own nodes in a step.
// False without memory; ends with a barrier.
bool REAL_NAME(surface_loads_find)(struct system *system, const struct worker *worker);

// The load of a node, as last found.
struct node_load REAL_NAME(surface_load)(const struct system *system, size_t node);

// Finds them, and the greatest quotient of one and what the guaranteed step allows for at that
// node. Where it is above LOAD_THAT_COUNTS, each of several ranks knows the loads of all nodes
// afterwards. Without memory the run ends. All workers together, and of several ranks all; each
// gets the same result.
double REAL_NAME(surface_loads_greatest)(struct system *system, const struct worker *worker);

// What a node's load, taken `factor` times, has beyond what the guaranteed step allows for; and the
// factor, 0 but while dt is adapted. By one worker.
void REAL_NAME(surface_loads_count)(struct system *system, double factor);
struct node_load REAL_NAME(surface_load_excess)(const struct system *system, size_t node);

// What surface_contact_bound and surface_contact_damping allow for of them, along any direction.
void REAL_NAME(surface_contact_allowed)(const struct system *system, size_t body, double *stiffness,
                                        double *damping);

// An upper bound of the stiffness of contacts at a node of a body along any direction, N/m, as long
// as they have no greater weight than SURFACE_WEIGHTS.
double REAL_NAME(surface_contact_bound)(const struct system *system, size_t body);

// That of the dampers of friction, N s/m.
double REAL_NAME(surface_contact_damping)(const struct system *system, size_t body);

// Whether any surfaces have friction.
bool REAL_NAME(surface_contact_rubs)(const struct system *system);

// The memory of friction (surface_friction.h): the number of contacts.
uint64_t REAL_NAME(surface_friction_count)(const struct system *system);

// Writes all of them, for which there is space. Puts them all back, and no others, also where a
// projection has moved nodes since the memory was changed; and in another solver those that touch
// in the present state too, for which friction_start has been called. By one worker. False without
// memory.
void REAL_NAME(surface_friction_save)(const struct system *system, struct friction_contacts *to);
bool REAL_NAME(surface_friction_put_back)(struct system *system,
                                          const struct friction_contacts *from);
bool REAL_NAME(surface_friction_restore)(struct system *system,
                                         const struct friction_contacts *from);

#endif
