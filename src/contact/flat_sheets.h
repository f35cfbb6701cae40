// Where a sheet is too flat to touch itself, as the vectors between neighbouring nodes show
// (docs/numerics.md, Contact of surfaces): then its tiles may move as they like, and what is near
// as built is not searched. Numeric.
#ifndef TAUT_CONTACT_FLAT_SHEETS_H
#define TAUT_CONTACT_FLAT_SHEETS_H

#include "contact/surface_lists.h"

// Whether the cells of a tile are equal rectangles as built, with these sides, m; and boxes that
// contain the vectors along both sides of its cells, m.
struct flat_tile {
    bool regular;
    double lengths[2];
    struct displacements edges[2];
};

// Up to 2 x 2 neighbouring tiles of a sheet. `limit`: how far their deformation may be from an
// isometry before parts without a common node may touch.
struct flat_window {
    size_t tiles[4];
    int count;
    double limit;
    bool holds; // lists rely on it
};

struct flat_sheets {
    struct flat_tile *tiles;
    size_t tile_count;
    struct flat_window *windows;
    size_t window_count, window_capacity;
    bool any;     // window holds
    bool *free;   // [tile * tile_count + tile]: both are in such a window
    double used;  // the greatest part of its limit of a window that holds, at most
    double known; // the same, when all windows were looked at
    double least_limit;
    bool step_known; // in this step `used` holds for all of its motion
};

// Makes it->flat, unless no sheet qualifies, after tiles; false without memory.
bool REAL_NAME(flat_sheets_make)(struct system *system);
void REAL_NAME(flat_sheets_free)(struct system *system);
uint64_t REAL_NAME(flat_sheets_bytes)(const struct surface_contact *it);

// Measures the vectors of the tiles of this worker: during a step dt that has moved each
// node by its velocity, or now, with dt 0.
void REAL_NAME(flat_sheets_measure)(struct system *system, double dt, const struct worker *worker);

// By one worker: adds dt times the differences of the velocities of the nodes of each tile, and
// rounding. Returns by how much at most that adds to the use of a window.
double REAL_NAME(flat_sheets_extend)(struct surface_contact *it, const struct displacements *speeds,
                                     double dt);

// By one worker: chooses the windows that hold, and lets their tiles move as they like: tightness
// 0.
void REAL_NAME(flat_sheets_choose)(struct surface_contact *it);

// The greatest use of their limits.
double REAL_NAME(flat_sheets_use)(const struct surface_contact *it);

#endif
