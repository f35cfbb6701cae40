// What contact between surfaces keeps from step to step, for the files of this folder:
// surface_lists.c makes lists of candidates, surface_contact.c forces, surface_limit.c cuts the
// motion of a step. Numeric.
#ifndef TAUT_CONTACT_SURFACE_LISTS_H
#define TAUT_CONTACT_SURFACE_LISTS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/interruption.h"
#include "contact/barrier.h"
#include "contact/broad_phase.h"
#include "contact/separation.h"
#include "contact/surface_contact.h"
#include "contact/shapes.h"
#include "contact/surface_friction.h"
#include "contact/surfaces.h"
#include "parallel/quota.h"
#include "springs/springs.h"

// Forces on the second block of a pair that touches: of the nodes that have any, whose bits are
// set, x, y and z in the order of the nodes, from `first` on.
struct passed_block {
    size_t first;
    uint32_t block, nodes;
};

// Those of a list, in the order of its pairs.
struct passed_forces {
    struct passed_block *blocks;
    size_t count, capacity;
    real *forces;
    size_t force_count, force_capacity;
};

// A box of displacements, least and most by axis, m.
struct displacements {
    real least[3], most[3];
};

// A node that something moves with a prescribed motion, and where it was before this step.
struct driven_node {
    uint32_t node;
    real at[3];
};

// A node that has been moved out of a sphere that moves.
struct lifted_node {
    uint32_t node, collider;
};

// A pair of blocks and its list of candidates, which are made when they may come within reach, with
// a skin of their own. Distances, m, are those at the start of the step: at least so far apart are
// the nearest of all candidates (pair.least), and those that are not listed. `skin` is that skin's
// number, 0 before they are listed; `evaluated` counts candidates since they were listed, by
// EVALUATED_UNIT, up to UINT16_MAX. Most pairs have no candidates.
struct surface_pair {
    struct block_pair pair;
    float others;
    uint32_t first_code; // in the codes of the list; NO_CODES: it has none
    uint16_t evaluated;
    uint8_t skin;
};

#define NO_CODES UINT32_MAX

enum { EVALUATED_UNIT = 16 };

// Skins of pairs, in units of the reach.
enum { PAIR_SKIN_FIRST = 6, PAIR_SKIN_LAST = 18 };
static const float PAIR_SKINS[PAIR_SKIN_LAST + 1] = {
    0,          0.0625F,   0.09876543F, 0.14814815F, 0.22222222F, 0.33333333F, 0.5F,
    0.75F,      1.125F,    1.6875F,     2.53125F,    3.796875F,   5.6953125F,  8.5429688F,
    12.814453F, 19.22168F, 28.83252F,   43.24878F,   64,
};

// The pairs of a list of the broad phase, in its order, but for those that are farther apart than
// lists have to reach, as is known; and the codes of their candidates, of which some are not in use
// any more.
struct surface_list {
    struct surface_pair *pairs;
    size_t pair_count, pair_capacity;
    size_t found;    // pairs of the broad phase
    bool sleeps;     // none of them may come within reach before lists are made again
    size_t measured; // candidates, to find that out
    uint16_t *codes;
    size_t code_count, code_capacity, used;
    uint32_t *passing; // the pairs that the step has to be cut for, ascending (surface_limit.c)
    size_t passing_count, passing_capacity;
};

// Codes of a pair, and their counts by group.
struct pair_codes {
    const uint16_t *codes, *counts;
};

static inline size_t code_total(const uint16_t counts[3])
{
    return (size_t)counts[0] + counts[1] + counts[2];
}

// Before the codes of a pair are their counts by group, and how far apart those of its candidates
// are that are not near, if that is known: how much farther than these what is not listed is at
// least, m. That difference does not change with the motion of the blocks. Behind the codes are the
// marks of candidates.h: which are near.
enum { GAP_WORDS = sizeof(float) / sizeof(uint16_t), HEAD_WORDS = 3 + GAP_WORDS };

static inline size_t all_mark_words(const uint16_t counts[3])
{
    return mark_words(counts[0]) + mark_words(counts[1]) + mark_words(counts[2]);
}

// What a pair takes in the codes of its list.
static inline size_t code_space(const uint16_t counts[3])
{
    const size_t total = code_total(counts);
    return total == 0 ? 0 : HEAD_WORDS + total + all_mark_words(counts);
}

static inline const uint16_t *counts_of(const struct surface_list *list,
                                        const struct surface_pair *pair)
{
    static const uint16_t none[HEAD_WORDS] = {0};
    return pair->first_code == NO_CODES ? none : list->codes + pair->first_code;
}

// The tiles of the nodes of a block.
enum { BLOCK_TILES = 4 };
struct block_tiles {
    uint16_t tiles[BLOCK_TILES];
    uint16_t count; // 0: there are more
};

struct surface_contact {
    struct surfaces surfaces;
    struct broad_phase *broad;
    struct broad_phase_rules rules;
    // By body, mesh colliders included (surfaces.h); `enabled` by pair of bodies.
    size_t body_count;
    bool *wanted, *enabled;
    double *half_thickness; // m
    double *radius, *apart; // m (broad_phase.h)

    // Lists are complete as long as no two tiles have moved relative to each other by more than
    // their skins since `list_x`, `list_y`, `list_z`, the positions for which they were made.
    bool lists_due, lists_due_next; // now; once the step has been cut
    bool relaxes;                   // surfaces are being separated, and no list sleeps
    bool overshot;      // lists were not complete for this step, and have been made again
    bool narrow;        // nor for the path that cutting has taken
    bool reached;       // the same, for a stage of it
    double skin;        // of a tile, in units of half the thickness of its body
    double skin_least;  // what the present step is expected to need of it
    double skin_listed; // that of the lists
    double skin_asleep; // the same, or less, for lists that sleep
    // The part of it by which tiles have moved, at most; and when all pairs of tiles were compared.
    // The greatest of `tightness`, INFINITY before that.
    double skin_used, skin_known;
    double tightest;
    uint64_t steps_listed; // steps since then
    // The lists before these: their skin, how long they lasted, what they cost (surface_lists.c).
    double skin_before, steps_before, pairs_before, awake_before, making_before, cost_before;
    bool sleeps_again;              // with the skin of the lists before
    double skin_power, awake_power; // how the numbers of pairs grow with the skin
    double skin_wide, cost_wide;    // one that was too wide, and what it cost per step
    real *list_x, *list_y, *list_z;
    // At the start of the step, where integrators have it kept, or lists are made again for it; in
    // a step that is cut, positions before that. NULL: not yet.
    real *old_x, *old_y, *old_z;
    uint64_t old_wanted; // the last step that has wanted them
    // For the energy budget of explicit steps and substeps (contact/surface_cut_work.c), or NULL:
    // velocities, by axis and node, at the start of the step, in a step that is cut what its forces
    // have added to them; once a step has been cut, those before the cut; and, of methods whose
    // velocities do not lag, what forces do during the step beyond the trapezoid of
    // velocities, J.
    real *start_v[3], *uncut_v[3];
    double *beyond;
    bool kicks_known; // of this step
    bool keeps_start; // explicit steps do so: velocities at the end do not show where nodes come
                      // from

    // The present step, or substep (surface_rollback.h): its start and length, s; nodes with a
    // prescribed motion, by number if they are sorted; how far tiles move in it, and from when
    // lists were made until its start, and as much as any two do relative to each other, m, if that
    // is known; how far what is found of the start may be from `start`, m, but for implicit steps.
    double step_begin, step_length;
    struct driven_node *driven;
    size_t driven_count, driven_capacity;
    bool driven_sorted;
    struct displacements *moved_in_step, *moved_to_start;
    double moved_in_step_most, rounding;
    bool moved_in_step_known, moved_in_step_wanted;
    // While it is cut: its start by axis and node, and what nodes were before they have been moved.
    real *starts[3];
    size_t starts_nodes;
    bool being_cut;
    bool lifts; // starts are kept, and nodes have been moved out of projecting colliders, at that
                // time, s:
    double lift_time;
    bool holds;                 // cuts move no node back into a sphere that moves
    struct lifted_node *lifted; // out of such ones, in this step
    size_t lifted_count, lifted_capacity;
    // Cuts of step `no_ends_step` that found no end; those before nodes are lifted in this cut.
    uint64_t no_ends_step;
    int no_ends, no_ends_before;
    struct node_change *changes;
    size_t change_count, change_capacity;
    size_t tile_count, tile_part_count; // and for how many there is space
    size_t tile_capacity, tile_part_capacity;
    uint32_t *tile_bodies;
    struct tile_part *tile_parts;
    struct displacements *part_boxes;
    struct motion_boxes motion;      // of the parts, in the present step
    struct node_box *part_speeds;    // m/s, the same
    struct block_tiles *block_tiles; // by block
    struct block_span *spans;        // by block, of the first positions for which lists were made
    struct block_frame
        *frames; // in the positions of lists, where blocks have many pairs; NULL: not yet
    bool spans_known, frames_wanted;
    struct flat_sheets *flat;    // NULL: none can be (flat_sheets.h)
    struct displacements *moved; // by tile, since then
    // Boxes that contain these, as follows from velocities; whether they are known, or what moves
    // nodes has done so otherwise; whether they do not suffice in this step. The greatest
    // coordinate, m, whose rounding they allow for. With implicit steps, displacements until the
    // start of the step.
    struct displacements *bounds;
    bool bounds_known, measures;
    bool bounds_before; // they have the displacements at the start of the step, as measured or
                        // bounded
    bool displaced;     // not any more: something has moved nodes after the last step
    double farthest;
    // The same by axis and tile, and, by pair of tiles, 1 over the square of the relative
    // displacement up to which lists are complete, 1/m2; rows of a multiple of 16 tiles.
    size_t tile_stride;
    real *moved_least[3], *moved_most[3], *tightness;

    // Pairs of blocks that the broad phase has found, in all lists, and in those that do not sleep:
    // the same on all ranks.
    size_t all_pairs, pairs;
    size_t measured; // candidates, of all lists
    // Lists have only the pairs that this rank evaluates in steps (surface_pairs.c).
    bool partial;
    atomic_uchar *listed;       // by block: whether it is in a list that does not sleep
    struct surface_list *lists; // as those of the broad phase
    // The positions that the distances of pairs belong to: those at the start of the step, of
    // listed blocks (with implicit steps, in which lists may be made again, of all blocks); for
    // lists that sleep, those for which lists were made. Not known before lists are made.
    block_reals *start;
    bool start_known;
    atomic_bool start_moves; // while the start is made another one
    block_reals *now;        // in the present evaluation; `start` itself with one evaluation a step
    struct displacements *steps; // by block: from the start
    bool steps_known;            // to the present state

    // W, of mesh colliders in the evaluation of forces that a checkpoint had, until the next one.
    double kept_power;
    bool keeps_power;

    // Forces of an evaluation.
    real (*own)[3];                    // by entry of surfaces.nodes, of blocks that have any
    uint8_t *touched, *receives;       // by block: has forces; owns nodes of blocks that have
    struct passed_forces *passed;      // by list
    size_t *incoming_start, *incoming; // by block: its passed forces, list after list
    size_t incoming_capacity;
    uint32_t
        *own_location; // by node: in the block that it belongs to; NO_LOCATION: it is of no surface
    uint32_t *halo_start; // by node: its locations in other blocks, ascending
    uint32_t *halo;
    size_t halo_count;
    double *energies;              // by list, J, and after them twice as many powers, W
    struct surface_shares *shares; // of several ranks (surface_shares.h)
    double *parts;     // by pair of bodies, of the stiffness; NULL: 1 (mesh_colliders.c)
    double posed_time; // s, to which those that move have been posed
    const real *posed; // in these x coordinates
    bool colliders_move;
    struct surface_friction *friction; // NULL: no two surfaces have any
    struct shape_contact *shapes; // shape_contact.h; NULL: no plane, sphere or room is part of it
    bool pushes, paused;
    bool always_at_start;      // every evaluation is at the start of what is cut (xpbd)
    bool has_stages;           // forces are evaluated within an explicit step, too
    struct surface_rows *rows; // implicit steps (surface_tangent.h); NULL: other integrators
    atomic_bool failed;        // memory ran out
    // By node, two (contact_points.c); NULL: not asked for yet. And how many times they count in
    // bounds of the step: 0 but while dt is adapted.
    _Atomic uint64_t *loads;
    double load_factor;
    _Atomic double greatest_load; // scratch of surface_loads_greatest
    atomic_bool passes;           // in the step that has just been made
    struct surface_cuts cuts;
    // What carries nodes along in this cut (surface_carriers.h); NULL: no cut has needed it. And
    // whether any may be carried now, and the round.
    struct carriers *carriers;
    bool carries, skips;
    int round;
    // How the frame moves in which candidates are cut in every direction: m, and m/s; `moves`:
    // otherwise it is at rest.
    bool moves;
    vec3 frame_moved, frame_velocity;
    // What this cut has taken of candidates that are cut together (surface_limit.c); whether some
    // of that has changed when it was found again, and the changes of nodes and the work before.
    struct candidate_cut *candidate_cuts;
    size_t candidate_cut_count, candidate_cut_capacity;
    bool releases;
    size_t released_from;
    double work_released_from;
    uint64_t cuts_seen;   // by surface_contact_has_cut
    double uncut_kinetic; // J, the greatest before a cut since then
    double cut_work;      // J, in the last of them: of nodes and shapes with a prescribed motion
    bool gives_up;        // surface_contact_give_up
    bool flies;           // surface_motion_flies
    bool stage_flies;     // the same of a stage, as far as bounds show
    bool cuts_again;      // something has been cut in this round
    bool has_no_end;      // the last cut: something is still passed
    uint8_t *changed;     // by block: in which round of the last cut a node of it has been moved
};

// Whether a search goes on that may take an array of so many bytes more, or none: it ends without
// memory, and in a step that is given up (base/interruption.h).
static inline bool search_goes_on(double bytes)
{
    return !interruption_is_due() && (bytes <= 0 || memory_may_grow(bytes));
}

// As array_reserve, with an eighth of what is needed as spare capacity instead of up to as much:
// for lists that change little from step to step.
static inline bool reserve_closely(void **array, size_t *capacity, size_t needed, size_t size)
{
    const size_t wanted = needed + needed / 8 + 16;
    if (needed <= *capacity)
        return true;
    if (!search_goes_on(((double)wanted - (double)*capacity) * (double)size))
        return false;
    void *larger =
        wanted > needed && wanted <= SIZE_MAX / size ? realloc(*array, wanted * size) : NULL;
    if (!larger)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

// Space for so many elements of an array that is about to be written anew, with a sixteenth as
// spare capacity. Its contents are lost.
static inline bool reserve_anew(void **array, size_t *capacity, size_t needed, size_t size)
{
    const size_t wanted = needed + needed / 16 + 16;
    if (needed <= *capacity && *capacity <= needed + needed / 8 + 32)
        return true;
    if (!search_goes_on(((double)wanted - (double)*capacity) * (double)size))
        return false;
    free(*array);
    *array = wanted <= SIZE_MAX / size ? malloc(wanted * size) : NULL;
    *capacity = *array ? wanted : 0;
    return *array != NULL;
}

// ---- Displacements

static inline struct displacements no_displacements(void)
{
    const real far = REAL_HUGE;
    return (struct displacements){{far, far, far}, {-far, -far, -far}};
}

static inline void displacements_include(struct displacements *box, const real value[3])
{
    for (int axis = 0; axis < 3; axis++) {
        box->least[axis] = value[axis] < box->least[axis] ? value[axis] : box->least[axis];
        box->most[axis] = value[axis] > box->most[axis] ? value[axis] : box->most[axis];
    }
}

// The displacements of rows of nodes from positions `from`; NULL: the positions themselves.
static inline struct displacements displacements_of(const struct broad_phase *broad,
                                                    const real *const to[3],
                                                    const real *const from[3],
                                                    const struct node_rows *rows)
{
    struct node_box found;
    struct displacements box;
    broad->kernels->displacement_box(to, from, rows, &found);
    memcpy(box.least, found.least, sizeof box.least);
    memcpy(box.most, found.most, sizeof box.most);
    return box;
}

// How far two points, one in each box, may be displaced relative to each other.
static inline double relative_displacement(const struct displacements *a,
                                           const struct displacements *b)
{
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double one = (double)a->most[axis] - (double)b->least[axis],
                     other = (double)b->most[axis] - (double)a->least[axis];
        const double most = max_of(fabs(one), fabs(other)); // without a call of fmax
        square += most * most;
    }
    return sqrt(square);
}

static inline struct point block_point(const block_reals positions, int node)
{
    return (struct point){positions[0][node], positions[1][node], positions[2][node]};
}

// The position of a node as blocks have it: from the origin of the state.
static inline struct point state_point(const struct state *s, size_t node)
{
    return (struct point){s->x[node] + real_low(s->x_low, node),
                          s->y[node] + real_low(s->y_low, node),
                          s->z[node] + real_low(s->z_low, node)};
}

// How far the nodes of a block have moved, from positions by block to those of the state.
static inline struct displacements block_displacements(const struct system *system, size_t b,
                                                       const block_reals from)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const struct surface_block *block = &surfaces->blocks[b];
    struct displacements found = no_displacements();
    for (uint32_t i = 0; i < block->nodes; i++) {
        const struct point now = state_point(system->state, surfaces->nodes[block->first_node + i]);
        const struct point d = point_difference(now, block_point(from, (int)i));
        displacements_include(&found, (const real[3]){d.x, d.y, d.z});
    }
    return found;
}

// The same from positions by node.
static inline struct displacements displacements_since(const struct system *system, size_t b,
                                                       const real *x, const real *y, const real *z)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const struct surface_block *block = &surfaces->blocks[b];
    struct displacements found = no_displacements();
    for (uint32_t i = 0; i < block->nodes; i++) {
        const uint32_t node = surfaces->nodes[block->first_node + i];
        const struct point now = state_point(system->state, node);
        displacements_include(&found,
                              (const real[3]){now.x - x[node], now.y - y[node], now.z - z[node]});
    }
    return found;
}

// m, how far two nodes of a pair of blocks may have moved relative to each other in the step.
static inline double pair_displacement(const struct surface_contact *it,
                                       const struct block_pair *pair)
{
    return relative_displacement(&it->steps[pair->a], &it->steps[pair->b]);
}

// Whether a pair of blocks at least so far apart is out of reach, with a margin for rounding.
static inline bool is_beyond(const struct barrier *barrier, double distance)
{
    return distance > 1.001 * (double)barrier->reach;
}

// ---- The cutting of a step (surface_limit.c)

// A node may use all but this fraction of its distance from the plane between two sides. Nor may it
// come so near to it that the sides are nearer than this fraction of the thickness, which rounding
// of positions must not use up.
#define CUT_MARGIN 0.1
#define CUT_LEAST  0.02

// m, up to which distance at the start of the step two sides have to be looked at that may have
// moved so far relative to each other: each may use half of it. `least`: CUT_LEAST of their
// thickness.
static inline double distance_of_cuts(double moved, double least)
{
    return 1.0001 * max_of(2 / (1 - CUT_MARGIN) * moved, 2 * moved + least);
}

// Flags of surface_contact.changed: a node of the block has been moved in the round before, in this
// one, or in any.
enum { CHANGED_BEFORE = 1, CHANGED_NOW = 2, CHANGED = 4 };

static inline bool blocks_have_changed(const struct surface_contact *it, uint32_t a, uint32_t b,
                                       int when)
{
    return ((it->changed[a] | it->changed[b]) & when) != 0;
}

// ---- The motion of a step

// The velocity with which a node has made its step. Verlet has it as a difference of positions,
// too.
static inline vec3 step_velocity(const struct state *s, size_t i)
{
    return vec3_make((double)s->vx[i] + (double)real_low(s->vx_low, i),
                     (double)s->vy[i] + (double)real_low(s->vy_low, i),
                     (double)s->vz[i] + (double)real_low(s->vz_low, i));
}

static inline void put_step_velocity(struct system *system, size_t i, vec3 velocity)
{
    struct state *s = system->state;
    state_put_velocity(s, i, velocity);
    if (system->settings.integrator != INTEGRATOR_VERLET)
        return;
    const vec3 before = vec3_subtract(vec3_subtract(state_position(s, i), s->origin),
                                      vec3_scale(system->settings.dt, velocity));
    real_split(s->x0, s->x0_low, i, before.x);
    real_split(s->y0, s->y0_low, i, before.y);
    real_split(s->z0, s->z0_low, i, before.z);
}

// The motion of nodes is cut in every direction (surface_limit.c, shape_limit.c).
static inline void count_stopped(struct system *system)
{
    struct surface_cuts *cuts = &system->surface_contact->cuts;
    const uint64_t step = system->state->step + 1;
    cuts->stopped += cuts->last_stopped != step;
    cuts->last_stopped = step;
}

// ---- Nodes of bodies and of mesh colliders

static inline size_t all_surface_nodes(const struct topology *topology)
{
    return (size_t)(topology->node_count + topology->collider_node_count);
}

static inline bool is_of_collider(const struct topology *topology,
                                  const struct surface_block *block)
{
    return block->body >= topology->body_count;
}

static inline struct range surface_node_share(const struct system *system,
                                              const struct worker *worker)
{
    return worker_share(worker, all_surface_nodes(system->topology), 16);
}

// Those of a body or a mesh collider.
static inline struct range surface_nodes(const struct topology *topology, size_t body)
{
    const bool is_collider = body >= topology->body_count;
    const uint64_t first = is_collider
                               ? topology->mesh_colliders[body - topology->body_count].first_node
                               : topology->bodies[body].first_node;
    const uint64_t count = is_collider
                               ? topology->mesh_colliders[body - topology->body_count].node_count
                               : topology->bodies[body].node_count;
    return (struct range){(size_t)first, (size_t)(first + count)};
}

// That of a node, the inverse.
static inline size_t surface_body_of(const struct topology *topology, uint64_t node)
{
    size_t m = 0;
    if (node < topology->node_count)
        return topology_body_of_node(topology, node);
    while (m + 1 < topology->mesh_collider_count &&
           node >= topology->mesh_colliders[m + 1].first_node)
        m++;
    return topology->body_count + m;
}

// ---- Two bodies

// m, of two bodies, or of one with itself.
static inline double thickness_between(const struct surface_contact *it, size_t a, size_t b)
{
    return it->half_thickness[a] + it->half_thickness[b];
}

// m, of any two bodies.
static inline double greatest_thickness(const struct surface_contact *it)
{
    double most = 0;
    for (size_t b = 0; b < it->body_count; b++)
        most = max_of(most, 2 * it->half_thickness[b]);
    return most;
}

// N/m; a mesh collider takes that of what touches it.
static inline double stiffness_of(const struct system *system, uint32_t body)
{
    return body < system->topology->body_count ? system->state->surface_stiffness[body] : INFINITY;
}

static inline struct barrier barrier_between(const struct system *system, uint32_t a, uint32_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const double thickness = thickness_between(it, a, b);
    const double part = it->parts ? it->parts[a * it->body_count + b] : 1;
    return (struct barrier){(real)(1.5 * thickness), (real)(0.5 * thickness),
                            (real)(part * fmin(stiffness_of(system, a), stiffness_of(system, b)))};
}

// ---- The candidates of a pair of blocks, one after the other

// Nodes 0 and 1 .. 3, or 0, 1 and 2, 3: `side` 0 is the first block of the pair.
struct candidate {
    bool edges;
    bool bare; // edges of surfaces without triangles
    int side[4], local[4];
};

struct candidate_walk {
    const struct surfaces *surfaces;
    const struct surface_block *blocks[2];
    const uint16_t *code;
    int group, left[3];
};

// A walk over codes in the order of a list.
static inline struct candidate_walk
candidates_of(const struct surface_contact *it, const struct block_pair *pair, struct pair_codes of)
{
    return (struct candidate_walk){&it->surfaces,
                                   {&it->surfaces.blocks[pair->a], &it->surfaces.blocks[pair->b]},
                                   of.codes,
                                   0,
                                   {of.counts[0], of.counts[1], of.counts[2]}};
}

// Those of a pair in a list.
static inline struct pair_codes listed_codes(const struct surface_list *list,
                                             const struct surface_pair *pair)
{
    const uint16_t *counts = counts_of(list, pair);
    return (struct pair_codes){counts + HEAD_WORDS, counts};
}

// The words of a pair that has some.
static inline uint16_t *words_of_gap(const struct surface_list *list,
                                     const struct surface_pair *pair)
{
    return list->codes + pair->first_code + HEAD_WORDS - GAP_WORDS;
}

static inline uint16_t *marks_of(const struct surface_list *list, const struct surface_pair *pair)
{
    return list->codes + pair->first_code + HEAD_WORDS + code_total(counts_of(list, pair));
}

static inline void put_gap(struct surface_list *list, const struct surface_pair *pair, float gap)
{
    memcpy(words_of_gap(list, pair), &gap, sizeof gap);
}

// m, how far apart the candidates of a pair that are not near are at least; not positive: not
// known.
static inline float distance_of_rest(const struct surface_list *list,
                                     const struct surface_pair *pair)
{
    float gap;
    memcpy(&gap, words_of_gap(list, pair), sizeof gap);
    return (float)(((double)pair->others - (double)gap) * (1 - 1e-6));
}

// The candidates that are not near have been found to be at least `distance`, m, apart at the
// start.
static inline void put_rest(struct surface_list *list, const struct surface_pair *pair,
                            double distance)
{
    put_gap(list, pair, (float)(max_of(0, (double)pair->others - distance) * (1 + 1e-6)));
}

static inline struct candidate candidate_of_code(const struct surfaces *surfaces,
                                                 const struct surface_block *const blocks[2],
                                                 int group, int code)
{
    if (group == 2) {
        const int first = code >> 6, second = code & 63;
        const struct block_corners *a = corners_of(surfaces, blocks[0]),
                                   *b = corners_of(surfaces, blocks[1]);
        return (struct candidate){
            true,
            blocks[0]->triangles == 0 && blocks[1]->triangles == 0,
            {0, 0, 1, 1},
            {a->edges[0][first], a->edges[1][first], b->edges[0][second], b->edges[1][second]}};
    }
    const int of_node = group, of_triangle = 1 - of_node;
    const struct block_corners *corners = corners_of(surfaces, blocks[of_triangle]);
    const int triangle = code & 31;
    return (struct candidate){false,
                              false,
                              {of_node, of_triangle, of_triangle, of_triangle},
                              {code >> 5, corners->triangles[0][triangle],
                               corners->triangles[1][triangle], corners->triangles[2][triangle]}};
}

static inline bool candidate_next(struct candidate_walk *walk, struct candidate *found)
{
    while (walk->group < 3 && walk->left[walk->group] == 0)
        walk->group++;
    if (walk->group == 3)
        return false;
    *found = candidate_of_code(walk->surfaces, walk->blocks, walk->group, *walk->code++);
    walk->left[walk->group]--;
    return true;
}

// A location is a block and the number of a node in it.
#define NO_LOCATION UINT32_MAX

static inline uint32_t location_of(size_t block, uint32_t local)
{
    return (uint32_t)block << NODE_BITS | local;
}

static inline uint32_t block_of_location(uint32_t location)
{
    return location >> NODE_BITS;
}

static inline uint32_t local_of_location(uint32_t location)
{
    return location & ((1 << NODE_BITS) - 1);
}

// The block to which a node with a surface belongs.
static inline uint32_t own_block(const struct surface_contact *it, size_t node)
{
    return block_of_location(it->own_location[node]);
}

// The locations of a node in the blocks that it is part of: first that in the block to which it
// belongs; NO_LOCATION after the last one, and for a node of no surface.
static inline uint32_t node_location(const struct surface_contact *it, size_t node, uint32_t k)
{
    const uint32_t own = it->own_location[node];
    if (own == NO_LOCATION || k == 0)
        return own;
    const uint32_t at = it->halo_start[node] + k - 1;
    return at < it->halo_start[node + 1] ? it->halo[at] : NO_LOCATION;
}

// The node of a block with this number in it.
static inline uint32_t block_node(const struct surface_contact *it, size_t block, int local)
{
    return it->surfaces.nodes[it->surfaces.blocks[block].first_node + (uint32_t)local];
}

static inline vec3 vec3_of_point(struct point p)
{
    return vec3_make((double)p.x, (double)p.y, (double)p.z);
}

// The nodes of a candidate, by internal numbers.
static inline void candidate_nodes(const struct candidate_walk *walk, const struct candidate *it,
                                   uint32_t nodes[4])
{
    for (int i = 0; i < 4; i++)
        nodes[i] =
            walk->surfaces->nodes[walk->blocks[it->side[i]]->first_node + (uint32_t)it->local[i]];
}

// The closest points of the four nodes of a candidate; `parallel` as in distance.h, 1 where the
// contact has its full weight.
static inline struct closest closest_of(const struct candidate *it, const struct point p[4],
                                        real *parallel)
{
    *parallel = 1;
    if (!it->edges)
        return closest_on_triangle(p[0], p[1], p[2], p[3]);
    if (!it->bare)
        return closest_on_edges(p[0], p[1], p[2], p[3], parallel);
    const struct edge_contacts contacts = find_edge_contacts(p);
    return nearest_of(&contacts);
}

// Receives two triangles that cross, or an edge without triangles and a triangle that it passes
// through; returns false to end the search.
typedef bool crossing_visitor(void *context, const struct surface_parts *parts);

// Visits all such pairs of surfaces that may touch, without a common node, in double and by one
// worker. False: no memory.
bool REAL_NAME(surface_crossings_visit)(const struct system *system, crossing_visitor *visit,
                                        void *context);

// From the second side of a candidate to the first, between their closest points: of a node and a
// triangle, and of two edges. In double: with long edges and a distance near the rounding of
// coordinates, a direction in single precision would be wrong by more than the distance.
vec3 REAL_NAME(between_node_and_triangle)(const vec3 p[4]);
vec3 REAL_NAME(between_edges)(const vec3 p[4]);

// Whether the boxes of the two sides of a candidate are farther apart than that along some axis:
// most candidates of lists with a wide skin are.
static inline bool sides_are_apart(const struct candidate *it, const struct point p[4], real reach)
{
    const int split = it->edges ? 2 : 1;
    real least[2][3], most[2][3];
    for (int i = 0; i < 4; i++) {
        const int side = i >= split;
        const real at[3] = {p[i].x, p[i].y, p[i].z};
        for (int axis = 0; axis < 3; axis++) {
            const bool first = i == 0 || i == split;
            least[side][axis] =
                first || at[axis] < least[side][axis] ? at[axis] : least[side][axis];
            most[side][axis] = first || at[axis] > most[side][axis] ? at[axis] : most[side][axis];
        }
    }
    bool apart = false;
    for (int axis = 0; axis < 3; axis++)
        apart |= least[0][axis] - most[1][axis] > reach || least[1][axis] - most[0][axis] > reach;
    return apart;
}

// mesh_colliders.c: what a scene with mesh colliders has more; and where a node of one is at a
// time, s.
struct point REAL_NAME(mesh_collider_start)(const struct system *system, size_t node, double time);
taut_status REAL_NAME(mesh_colliders_make)(struct system *system, taut_error *error);
void REAL_NAME(mesh_colliders_free)(struct system *system);
uint64_t REAL_NAME(mesh_colliders_bytes)(const struct surface_contact *it);

// W, of what moves it, against the forces of the last evaluation on the nodes of a block of one.
double REAL_NAME(mesh_collider_block_power)(const struct system *system, size_t b);

// Finds the candidates of a pair in the positions of the start, unless those are listed that are
// nearer than a distance, m, at that time. Only by the worker that has the list; false without
// memory.
bool REAL_NAME(surface_pair_list)(struct surface_contact *it, struct pair_finder *finder,
                                  size_t list, size_t p, double distance);

// Those that may be within reach in the present state, to which it->steps are the displacements
// from the start. None also without memory, which `failed` shows then.
static inline struct pair_codes codes_within_reach(struct surface_contact *it,
                                                   struct pair_finder *finder, size_t list,
                                                   size_t p, const struct barrier *barrier)
{
    static const uint16_t none[3] = {0, 0, 0};
    const struct surface_pair *pair = &it->lists[list].pairs[p];
    const double moved = pair_displacement(it, &pair->pair);
    if (is_beyond(barrier, (double)pair->pair.least - moved))
        return (struct pair_codes){NULL, none};
    if (!is_beyond(barrier, (double)pair->others - moved) &&
        !REAL_NAME(surface_pair_list)(it, finder, list, p,
                                      1.002 * (double)barrier->reach + 1.001 * moved)) {
        atomic_store(&it->failed, true);
        return (struct pair_codes){NULL, none};
    }
    return listed_codes(&it->lists[list], pair);
}

static inline size_t count_marks(const uint16_t *marks, size_t words)
{
    enum { TOGETHER = sizeof(uint64_t) / sizeof *marks };
    int count = 0;
    for (; words >= TOGETHER; words -= TOGETHER, marks += TOGETHER) {
        uint64_t bits;
        memcpy(&bits, marks, sizeof bits);
        count += bit_count(bits);
    }
    for (size_t i = 0; i < words; i++)
        count += bit_count(marks[i]);
    return (size_t)count;
}

// Which of the listed candidates of a pair, which has some, are evaluated: those that were near
// when all were evaluated, as long as no other one may have come within reach since its blocks have
// moved by `moved`, m (*rest, m, is how far apart the others were at least at the start); or all of
// them, for which there are no marks.
struct pair_choice {
    const uint16_t *marks;
    size_t count;
    float rest;
};

static inline struct pair_choice choose_near(const struct surface_list *list,
                                             const struct surface_pair *pair,
                                             const struct barrier *barrier, double moved)
{
    const float rest = distance_of_rest(list, pair);
    if (!is_beyond(barrier, (double)rest - moved))
        return (struct pair_choice){NULL, code_total(counts_of(list, pair)), pair->others};
    struct pair_choice choice = {marks_of(list, pair), 0, rest};
    choice.count = count_marks(choice.marks, all_mark_words(counts_of(list, pair)));
    return choice;
}

// The part of the skin of a pair in which its candidates are near.
#define NEAR_SKIN 0.125

// Has the kernel mark those, if it evaluates all at the start of a step. Returns how far apart the
// others are at least then, m.
static inline double mark_near(const struct surface_list *list, const struct surface_pair *pair,
                               const struct barrier *barrier, struct listed_pair *listed)
{
    const double up_to =
        (1.002 + NEAR_SKIN * (double)PAIR_SKINS[pair->skin]) * (double)barrier->reach;
    listed->near = marks_of(list, pair);
    listed->square = (real)(1.0001 * up_to * up_to);
    return up_to;
}

// The least square of the distances of its listed candidates has been found, at the start of a
// step; or of some, and the others are at least `rest`, m, apart.
static inline void know_least(struct surface_pair *pair, real least, float rest)
{
    const float found = (float)(real_sqrt(least) * (real)(1 - 1e-6));
    pair->pair.least = fminf(fminf(found, rest), pair->others);
}

// Has the kernel evaluate what has been chosen of a pair. In the positions of the start of a step
// that finds its least distance, and marks what is near if all are evaluated. Returns whether any
// touch.
static inline bool evaluate_pair(const struct surface_contact *it, struct surface_list *list,
                                 struct surface_pair *pair, const struct barrier *barrier,
                                 const struct pair_choice *choice, bool at_start,
                                 struct listed_pair *listed, real (*on_a)[SURFACE_NODES],
                                 real (*on_b)[SURFACE_NODES])
{
    const bool marks = at_start && !choice->marks;
    const double up_to = marks ? mark_near(list, pair, barrier, listed) : 0;
    real least;
    listed->marks = choice->marks;
    const bool touches = it->broad->kernels->barrier_forces(listed, barrier, on_a, on_b, &least);
    if (at_start)
        know_least(pair, least, choice->rest);
    if (marks)
        put_rest(list, pair, up_to);
    return touches;
}

// So many listed candidates of a pair are evaluated.
static inline void count_evaluated(struct surface_pair *pair, size_t count)
{
    const size_t sum = pair->evaluated + count / EVALUATED_UNIT + 1;
    pair->evaluated = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

// A pair for the kernel, with the positions of the nodes of both blocks.
static inline struct listed_pair listed_pair_of(const struct surface_contact *it,
                                                const struct block_pair *pair, struct pair_codes of,
                                                const real (*x_a)[SURFACE_NODES],
                                                const real (*x_b)[SURFACE_NODES])
{
    const struct surface_block *blocks = it->surfaces.blocks;
    return (struct listed_pair){
        .x_a = x_a,
        .x_b = x_b,
        .a = corners_of(&it->surfaces, &blocks[pair->a]),
        .b = corners_of(&it->surfaces, &blocks[pair->b]),
        .codes = of.codes,
        .counts = of.counts,
        .bare = blocks[pair->a].triangles == 0 && blocks[pair->b].triangles == 0,
    };
}

// The numbers of codes and words of all candidates that a pair can have.
enum {
    CODES_MOST = 2 * SURFACE_NODES * SURFACE_TRIANGLES + SURFACE_EDGES * SURFACE_EDGES,
    MARK_WORDS_MOST = CODES_MOST / MARK_BITS
};

// Codes of the candidates of a pair that are near enough.
struct near_codes {
    uint16_t codes[CODES_MOST], counts[3];
};

static inline void take_marked(struct pair_codes of, const uint16_t *marks, struct near_codes *near)
{
    uint16_t *to = near->codes;
    for (int group = 0; group < 3; group++) {
        const uint16_t *const first = to;
        const size_t count = of.counts[group];
        for (size_t i = 0; i < count; i++)
            if (marks[i / MARK_BITS] >> i % MARK_BITS & 1)
                *to++ = of.codes[i];
        near->counts[group] = (uint16_t)(to - first);
        of.codes += count;
        marks += mark_words(count);
    }
}

// The least square of the distances of these candidates at the start, m2, by the kernel of forces;
// and in `near`, unless it is NULL, those that may be at most `used`, m, apart.
static inline real least_at_start(const struct surface_contact *it, const struct block_pair *pair,
                                  struct pair_codes of, double used, struct near_codes *near)
{
    const struct barrier none = {0, 0, 0}; // nothing is within its reach, so that no force is added
    block_reals unused;
    real least;
    struct listed_pair listed =
        listed_pair_of(it, pair, of, (const real(*)[SURFACE_NODES])it->start[pair->a],
                       (const real(*)[SURFACE_NODES])it->start[pair->b]);
    uint16_t marks[MARK_WORDS_MOST];
    if (near) {
        listed.near = marks;
        listed.square = (real)(1.0001 * used * used);
    }
    (void)it->broad->kernels->barrier_forces(&listed, &none, unused, unused, &least);
    if (near)
        take_marked(of, marks, near);
    return least;
}

// The present positions of the nodes of a block.
void REAL_NAME(surface_block_read)(const struct system *system, uint32_t block, block_reals x);

// Copies the present positions of the nodes of all listed blocks. Ends with a barrier.
void REAL_NAME(surface_blocks_copy)(struct system *system, block_reals *to,
                                    const struct worker *worker);

// Sets it->steps for the present state, of a range of blocks.
void REAL_NAME(surface_steps_find)(const struct system *system, struct range blocks);

// The same of all, unless they are known. Ends with a barrier.
void REAL_NAME(surface_steps_know)(struct system *system, const struct worker *worker);

// Makes the present state the start: of the next step, or of implicit steps only when that begins.
// What pairs of lists know is for this one then. Ends with a barrier.
void REAL_NAME(surface_start_move)(struct system *system, const struct worker *worker);

// Before lists are made for the first time.
void REAL_NAME(surface_lists_begin)(struct surface_contact *it);

// Lists that are complete for the present positions. Ends with a barrier.
void REAL_NAME(surface_lists_prepare)(struct system *system, const struct worker *worker);

// Ends the run. Until then there is no contact: what could not be allocated is not read. By one
// worker.
void REAL_NAME(surface_memory_has_run_out)(struct system *system);

#endif
