// The motion of surfaces since lists were made, by which it is known whether lists last:
// surface_motion.c.
//
// It is measured between tiles, as boxes of displacements, or bounded by boxes of velocities.
// Numeric.
#ifndef TAUT_CONTACT_SURFACE_MOTION_H
#define TAUT_CONTACT_SURFACE_MOTION_H

#include "contact/flat_sheets.h"
#include "contact/surface_lists.h"

// The skin of a tile, in units of half the thickness of its body: the faster tiles move relative to
// each other, the wider. Wider lists last for more steps, and cost more in each: with 1 instead of
// 1/4 a step of a folding cloth takes twice as long. Beyond the upper limit a run has diverged.
#define SKIN_MIN 0.25
#define SKIN_MAX 512.0

// Lists are made again when the next step might need more than the skin: as if it were as long as
// so many of the last one.
#define STEPS_AHEAD 2

// Whether lists rely on sheets that are flat.
static inline bool holds_flat(const struct surface_contact *it)
{
    return it->flat && it->flat->any;
}

// Tiles, after the rules of bodies; false without memory.
bool REAL_NAME(surface_tiles_make)(struct system *system);
void REAL_NAME(surface_tiles_free)(struct system *system);
uint64_t REAL_NAME(surface_tiles_bytes)(const struct surface_contact *it);

// Whether a step of this system moves each node by its velocity, and nothing else moves any.
bool REAL_NAME(surface_motion_is_bounded)(const struct system *system);

// it->moved := the boxes of the positions of tiles, and it->farthest. Complete on worker 0 after
// the barrier at the end.
void REAL_NAME(surface_tiles_place)(struct system *system, const struct worker *worker);

// Up to which displacement relative to each other of two tiles, which have just been placed, lists
// are complete: their skin, or how far they are from each other beyond what the lists have found.
// By one worker.
void REAL_NAME(surface_tiles_limit)(struct surface_contact *it);

// Makes lists again, for the start of the implicit step, if they are not complete for the motion
// from there to the present positions, with what the cutting of the step needs. Ends with a
// barrier.
void REAL_NAME(surface_lists_cover)(struct system *system, const struct worker *worker);

// Lists for the present positions, also where these are the end of an implicit step that has gone
// beyond them; it->steps are known afterwards. Ends with a barrier.
void REAL_NAME(surface_lists_hold)(struct system *system, const struct worker *worker);

// The same at a stage of an explicit step, at that time, of which surface_positions_keep has kept
// the start. Lists would not be complete there, by a step that is much longer than the ones before;
// and forces would depend on when they were made.
void REAL_NAME(surface_lists_reach)(struct system *system, double time,
                                    const struct worker *worker);

// Makes lists again for the start of the step, as wide as its cut needs: the greatest relative
// motion of two tiles is that of the step, or what the cut has had so far. `most`: as wide as lists
// can be. Ends with a barrier.
void REAL_NAME(surface_lists_widen)(struct system *system, bool most, const struct worker *worker);

// Whether two tiles may have moved relative to each other by more than so many thicknesses in an
// explicit step, and whether they have, by the starts of all nodes: how wide lists have to be for
// it. After surface_lists_check; the second ends with a barrier. The same on every worker.
#define FAR_MOTION 2
bool REAL_NAME(surface_motion_may_fly)(const struct system *system);
bool REAL_NAME(surface_motion_flies)(struct system *system, const struct worker *worker);

// Once the motion of a step has been cut: whether lists were not complete for what that has looked
// at. What is left may differ more between bodies than what they had before, as those that fall
// together and of which a floor stops one. The same on every worker.
bool REAL_NAME(surface_lists_check_cut)(struct system *system, const struct worker *worker);

// Before a cut, whose start is kept: it->moved_in_step, which it extends. Ends with a barrier.
void REAL_NAME(surface_motion_in_step)(struct system *system, const struct worker *worker);

// The arrays old_x, old_y and old_z, unless they are there: explicit steps that do not keep their
// start have them once a step is cut, or needs wider lists. By one worker; false without memory.
bool REAL_NAME(surface_positions_allocate)(struct system *system);

// Releases them after a step without a cut, if nothing has been cut so far, and no step has wanted
// them for a while. By one worker.
void REAL_NAME(surface_positions_release)(struct system *system);

// Keeps the present positions in these, of the nodes of this worker.
void REAL_NAME(surface_positions_keep)(struct system *system, const struct worker *worker);

// Exchanges them with those of the state, which have no low parts then: these are put in `low`, of
// the first worker, NULL before and after. Begins and ends with a barrier.
void REAL_NAME(surface_positions_swap)(struct system *system, real *low[3],
                                       const struct worker *worker);

// At the start of an explicit step before which nodes have been displaced: makes lists due if they
// are not complete any more, and measures how far tiles have moved since they were made. Ends with
// a barrier.
void REAL_NAME(surface_lists_check_start)(struct system *system, const struct worker *worker);

// Sets moved and lists_due_next for the present positions; true if lists were not complete for this
// step. The same on every worker.
bool REAL_NAME(surface_lists_check)(struct system *system, const struct worker *worker);

#endif
