// Cuts the motion of a step so that no surface passes through another (divide and truncate: Chen et
// al. 2025, offset geometric contact). The nodes of a candidate lie on both sides of the plane
// midway between its closest points, at right angles to the line between them. As long as every
// node stays on its side of that plane, which may move, the two cannot cross.
//
// Displacements are cut along the line between the closest points, relative to the centre of mass
// of the candidate, so that bodies that move together are not slowed and momentum is kept; what one
// candidate cuts may be too much for another, so this is repeated; and less than it has cut may be
// enough once others have been cut, so that is found again (release_cuts). If it does not end soon,
// candidates that are still passed are cut in every direction at planes at rest, which always ends:
// the start of the step satisfies all of them. So it does where all planes move together, as they
// do first where all nodes are free: by the motion of the centre of mass of what still passes, so
// that a heavy body does not lose its momentum to planes at rest. A plane that moves with a
// prescribed motion may push nodes into planes at rest without end, as where matter piles up before
// a wall: so planes of what it has pushed move with that motion, too, and of what this has pushed
// in turn (surface_carriers.h).
//
// All workers look for what passes, of pairs with a node that has moved since they were looked at;
// the first one cuts these pairs, and those next to what it has just cut, in the order of the
// lists. So the order of the cuts, on which the result depends, does not depend on threads.
//
// What a cut takes along the line is an impulse of the contact as the force of its barrier is:
// where it is the cuts that carry a body, they also are the normal force of its friction.
#include "contact/shape_contact.h"
#include "contact/surface_friction_contact.h"
#include "contact/surface_motion.h"
#include "contact/surface_planes.h"
#include "contact/surface_rollback.h"
#include "contact/surface_shares.h"

#include <string.h>

#include "base/memory.h"

// In the last rounds an approach within rounding is none for what is tight, too. The first one of
// those in every direction is repeated up to ROUNDS_MOVING times with planes that move together.
enum { ROUNDS_TOGETHER = 64, ROUNDS_MOVING = 12, ROUNDS_TIGHT = 88, ROUNDS = 100 };

// ---- Which pairs may pass

// `steps` are from the start that distances of pairs belong to, which is not to the last digit that
// of the cut, unless an implicit step has it.
static double motion_with_rounding(const struct surface_contact *it, double motion)
{
    return it->rows ? motion : motion + it->rounding;
}

// The distance, m, at the start of candidates that two nodes of the blocks may have used up by
// moving relative to each other, but for what is left.
static double distance_used(const struct surface_contact *it, const struct block_pair *pair)
{
    return distance_of_cuts(motion_with_rounding(it, pair_displacement(it, pair)),
                            least_distance(it, pair));
}

// As much as any two nodes of listed blocks can have used up: most pairs are farther apart.
static double distance_used_at_most(const struct surface_contact *it)
{
    struct displacements all = no_displacements();
    for (size_t b = 0; b < it->surfaces.block_count; b++)
        if (it->listed[b]) {
            displacements_include(&all, it->steps[b].least);
            displacements_include(&all, it->steps[b].most);
        }
    return 1.0001 * distance_of_cuts(motion_with_rounding(it, relative_displacement(&all, &all)),
                                     CUT_LEAST * greatest_thickness(it));
}

// With fewer candidates a kernel costs more than it saves.
enum { NEAR_MIN = 8 };

// The candidates of a pair that may pass; false if none may, or without memory, which `failed`
// shows then.
static bool passing_candidates(struct surface_contact *it, struct pair_finder *finder, size_t list,
                               size_t p, struct near_codes *near, struct candidate_walk *walk)
{
    const struct surface_pair *pair = &it->lists[list].pairs[p];
    if (it->lists[list].sleeps)
        return false;
    const double used = distance_used(it, &pair->pair);
    if ((double)pair->pair.least > used)
        return false;
    if (!REAL_NAME(surface_pair_list)(it, finder, list, p, used)) {
        atomic_store(&it->failed, true);
        return false;
    }
    struct pair_codes codes = listed_codes(&it->lists[list], pair);
    // Lists, with their skins, reach farther than a step moves by far.
    if (code_total(codes.counts) > NEAR_MIN) {
        (void)least_at_start(it, &pair->pair, codes, used, near);
        codes = (struct pair_codes){near->codes, near->counts};
    }
    *walk = candidates_of(it, &pair->pair, codes);
    return true;
}

// The same of the two sides of a candidate, whose boxes were at least so far apart; most candidates
// of two blocks that turn are.
static bool candidate_may_pass(const struct system *system, const struct block_pair *pair,
                               const struct candidate *found)
{
    const struct surface_contact *it = system->surface_contact;
    const uint32_t blocks[2] = {pair->a, pair->b};
    const int split = found->edges ? 2 : 1;
    struct displacements moved[2] = {no_displacements(), no_displacements()};
    struct point start[4];
    for (int i = 0; i < 4; i++) {
        const uint32_t node = block_node(it, blocks[found->side[i]], found->local[i]);
        start[i] = REAL_NAME(surface_step_start)(system, node);
        const struct point d = point_difference(state_point(system->state, node), start[i]);
        displacements_include(&moved[i >= split], (const real[3]){d.x, d.y, d.z});
    }
    const double most = 1.001 * relative_displacement(&moved[0], &moved[1]);
    const double used =
        max_of(2 / (1 - CUT_MARGIN) * most, 2 * most + 1.001 * least_distance(it, pair));
    return !sides_are_apart(found, start, (real)used);
}

// ---- What carries the nodes of a candidate

// The number of what carries a candidate, and it; NULL: nothing does. A mesh, if its nodes are in
// it, a driven node of a body that moves, or what carries other nodes: of two of these each in
// every other round, so that neither always prevails. Nothing does where there are nodes at
// rest.
static const struct carrier *find_carrier(struct system *system, const struct block_pair *pair,
                                          const struct candidate *found, const struct crossing *it,
                                          size_t *number)
{
    struct surface_contact *contact = system->surface_contact;
    const struct carriers *carriers = contact->carriers;
    const uint32_t blocks[2] = {pair->a, pair->b};
    const struct carrier *carrier = NULL;
    for (int i = 0; i < 4; i++) {
        const int at = contact->round % 2 ? 3 - i : i;
        const size_t node = it->nodes[at];
        const bool of_mesh = node >= system->topology->node_count;
        const size_t mesh =
            of_mesh ? surface_body_of(system->topology, node) - system->topology->body_count : 0;
        if (of_mesh) {
            *number = CARRIERS_BEFORE_MESHES + mesh;
            carrier = REAL_NAME(carrier_of_mesh)(system, mesh, blocks[found->side[at]]);
            if (!carrier)
                return NULL;
        } else if (system->constants->inverse_mass[node] == 0) {
            return NULL;
        } else if (carriers->of[node] != NOT_CARRIED && !carrier) {
            *number = carriers->of[node];
            carrier = &carriers->items[*number];
        }
    }
    return carrier;
}

// Its nodes are carried from now on, in this cut.
static void note_carried(struct system *system, const struct crossing *it, size_t number)
{
    struct carriers *carriers = system->surface_contact->carriers;
    for (int i = 0; i < 4; i++)
        if (it->nodes[i] < system->topology->node_count)
            carriers->of[it->nodes[i]] = (uint32_t)number;
}

// A driven node of a body that moves carries the other ones of a candidate.
static void note_driven(struct system *system, const struct crossing *it)
{
    for (int i = 0; i < 4; i++)
        if (system->constants->inverse_mass[it->nodes[i]] == 0 &&
            vec3_dot(it->moved[i], it->moved[i]) > 0) {
            const size_t number =
                REAL_NAME(carrier_of_nodes)(system, it->moved[i], it->velocity[i]);
            note_carried(system, it, number);
        }
}

// What is taken of the displacements of the nodes of a candidate, or of their velocities, if a
// fraction is left of what they have relative to the frame: along the normal, or in every
// direction.
static void take_all_but(double fraction, bool normal_only, const struct crossing *it,
                         const double inverse[4], const vec3 motion[4], const vec3 with[4],
                         vec3 taken[4])
{
    for (int i = 0; i < 4; i++) {
        vec3 relative = vec3_subtract(motion[i], with[i]);
        if (normal_only)
            relative = vec3_scale(vec3_dot(relative, it->normal), it->normal);
        taken[i] = vec3_scale(inverse[i] > 0 ? 1 - fraction : 0, relative);
    }
}

// Coulomb friction of that: takes of the motion along the plane of the two points, which are the
// sums of nodes with `weights`, what stops it, or as much as the coefficient allows of what has
// been taken along the normal. Between these points momentum and angular momentum are kept. Returns
// what the first point gives the second, kg m or N s.
static vec3 take_sliding(const struct crossing *it, const double inverse[4], const real weights[4],
                         const struct scene_friction *rule, const vec3 motion[4], vec3 taken[4])
{
    double pressed[2] = {0, 0}, mobility = 0; // kg m or N s, on each side; 1/kg
    vec3 sliding = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const double weight = (double)weights[i], sign = i < it->split ? -1 : 1;
        if (inverse[i] > 0)
            pressed[i >= it->split] += sign / inverse[i] * vec3_dot(taken[i], it->normal);
        mobility += weight * weight * inverse[i];
        sliding = vec3_add(sliding, vec3_scale(weight, vec3_subtract(motion[i], taken[i])));
    }
    sliding = friction_along(sliding, it->normal);
    if (!(mobility > 0))
        return (vec3){0, 0, 0};
    const double stopped =
        friction_stopped_part(rule, mobility * fmax(pressed[0], pressed[1]), vec3_length(sliding));
    const vec3 given = vec3_scale(stopped / mobility, sliding);
    for (int i = 0; i < 4; i++)
        taken[i] = vec3_add(taken[i], vec3_scale((double)weights[i] * inverse[i], given));
    return given;
}

// The friction of a candidate, whose weights are at its closest points at the start of the step;
// NULL: none.
static const struct scene_friction *rule_and_weights(const struct system *system,
                                                     const struct block_pair *pair,
                                                     const struct candidate *found,
                                                     const struct crossing *it, real weights[4])
{
    if (!system->surface_contact->friction)
        return NULL;
    const struct scene_friction *rule = rule_of(system, pair->a, pair->b);
    if (!(rule->static_coefficient > 0))
        return NULL;
    struct point at[4];
    real parallel;
    for (int i = 0; i < 4; i++) // from one of them, so that single precision resolves them
        at[i] = (struct point){(real)(it->start[i].x - it->start[0].x),
                               (real)(it->start[i].y - it->start[0].y),
                               (real)(it->start[i].z - it->start[0].z)};
    const struct closest closest = closest_of(found, at, &parallel);
    memcpy(weights, closest.weights, sizeof closest.weights);
    return rule;
}

// Counts the momentum that is lost by a candidate whose motion has been cut in every direction.
// What a prescribed motion stops has given its momentum to that motion.
static void count_lost(struct system *system, const struct frame *with, const double inverse[4],
                       const vec3 slower[4])
{
    struct surface_cuts *cuts = &system->surface_contact->cuts;
    vec3 lost = {0, 0, 0};
    count_stopped(system);
    if (with->driven)
        return;
    for (int i = 0; i < 4; i++)
        lost = vec3_add(lost, vec3_scale(1 / inverse[i], slower[i]));
    cuts->lost[0] += lost.x;
    cuts->lost[1] += lost.y;
    cuts->lost[2] += lost.z;
    cuts->lost_lengths += vec3_length(lost);
}

// Moves the sides of a tight candidate apart by twice what rounding may bring them together, so
// that what has been taken of their approach is none afterwards. Their centre of mass stays.
static void part_sides(const struct crossing *it, const double inverse[4], vec3 back[4])
{
    double mass[2] = {0, 0}; // kg
    for (int i = 0; i < 4; i++)
        mass[i >= it->split] += inverse[i] > 0 ? 1 / inverse[i] : INFINITY;
    const double apart = fmin(2 * it->rounding, it->keep / 4);
    for (int i = 0; i < 4; i++) {
        const int side = i >= it->split;
        const double part = isinf(mass[!side]) ? 1 : mass[!side] / (mass[0] + mass[1]);
        if (inverse[i] > 0)
            back[i] = vec3_add(back[i], vec3_scale((side ? 1 : -1) * part * apart, it->normal));
    }
}

// Finds what is taken of a candidate of whose motion relative to a frame a fraction is left.
static struct taken find_taken(const struct system *system, const struct block_pair *pair,
                               const struct candidate *found, const struct crossing *it,
                               const struct frame *with, double fraction, bool together)
{
    struct taken taken = {.work = 0};
    double inverse[4];
    real weights[4];
    vec3 given = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        inverse[i] = (double)system->constants->inverse_mass[it->nodes[i]];
    const struct scene_friction *rule =
        together ? rule_and_weights(system, pair, found, it, weights) : NULL;
    take_all_but(fraction, together, it, inverse, it->moved, with->moved, taken.back);
    take_all_but(fraction, together, it, inverse, it->velocity, with->velocity, taken.slower);
    for (int i = 0; i < 4 && with->driven; i++)
        if (inverse[i] > 0)
            taken.work -= vec3_dot(taken.slower[i], with->carried[i]) / inverse[i];
    if (rule) {
        (void)take_sliding(it, inverse, weights, rule, it->moved, taken.back);
        given = take_sliding(it, inverse, weights, rule, it->velocity, taken.slower);
    }
    for (int i = 0; i < 4 && rule; i++)
        if (!(inverse[i] > 0))
            taken.work += (double)weights[i] * vec3_dot(given, it->velocity[i]);
    return taken;
}

static void apply_taken(struct system *system, const struct crossing *it, const struct taken *taken)
{
    for (int i = 0; i < 4; i++) {
        const uint32_t node = it->nodes[i];
        if (!(system->constants->inverse_mass[node] > 0))
            continue;
        REAL_NAME(surface_rollback_log)(system, node);
        state_put(system->state, node,
                  vec3_subtract(state_position(system->state, node), taken->back[i]));
        put_step_velocity(system, node,
                          vec3_subtract(step_velocity(system->state, node), taken->slower[i]));
        REAL_NAME(surface_rollback_note)(system, node);
    }
    system->surface_contact->cut_work += taken->work;
}

static void note_taken(struct system *system, const struct block_pair *pair,
                       const struct candidate *found, const struct taken *taken)
{
    struct surface_contact *it = system->surface_contact;
    if (!array_reserve((void **)&it->candidate_cuts, &it->candidate_cut_capacity,
                       it->candidate_cut_count + 1, sizeof *it->candidate_cuts)) {
        atomic_store(&it->failed, true);
        return;
    }
    it->candidate_cuts[it->candidate_cut_count++] = (struct candidate_cut){*pair, *found, *taken};
}

// Cuts are released with explicit integrators, and beside planes that do not turn.
static bool may_be_released(const struct system *system, const struct frame *with)
{
    return !integrator_is_implicit(system->settings.integrator) && with->directions == 0;
}

// Leaves a fraction of the motion of a candidate.
static void keep_fraction(struct system *system, const struct block_pair *pair,
                          const struct candidate *found, const struct crossing *it,
                          const struct frame *with, double fraction, bool together)
{
    double inverse[4];
    for (int i = 0; i < 4; i++)
        inverse[i] = (double)system->constants->inverse_mass[it->nodes[i]];
    struct taken taken = find_taken(system, pair, found, it, with, fraction, together);
    if (!together)
        count_lost(system, with, inverse, taken.slower);
    if (together && may_be_released(system, with))
        note_taken(system, pair, found, &taken);
    if (together && it->tight)
        part_sides(it, inverse, taken.back);
    apply_taken(system, it, &taken);
}

// Whether a tight candidate is cut as soon as its sides come nearer at all: where taking all of
// their motion ends that, as in every direction only at rest it does. Beside what turns the normal
// does not stay.
static bool allows_nothing(const struct system *system, const struct crossing *it,
                           const struct frame *with, bool together)
{
    bool held[2] = {false, false}, rests = true;
    if (!it->tight || with->directions > 0)
        return false;
    for (int i = 0; i < 4; i++) {
        held[i >= it->split] |= system->constants->inverse_mass[it->nodes[i]] == 0;
        rests &= vec3_dot(with->moved[i], with->moved[i]) == 0;
    }
    rests |= with->common;
    if (held[0] && held[1])
        return false;
    return together || (rests && system->surface_contact->round < ROUNDS_TIGHT);
}

// The fraction of the motion relative to a plane at rest in the frame that leaves every node on its
// side, with some distance; 1: all of it. *stuck: a node passes the plane, and that fraction does
// not help.
//
// `together`: the frame may move. `along`: of the motion along the normal. What the turning of a
// frame takes of the height follows from the motion along the plane, too, so the fraction may be
// below 0, where nodes yield to it; but not by far, as it is that of all nodes, and one that
// hardly moves may need many times its motion. In all directions that is in proportion to what is
// left, and 0 always helps: at rest in the frame nothing passes.
static double allowed_fraction(const struct system *system, const struct crossing *it,
                               const struct frame *with, bool together, bool along, bool *stuck)
{
    double fraction = 1;
    if (allows_nothing(system, it, with, together))
        return REAL_NAME(crossing_narrows)(it) ? 0 : 1;
    for (int i = 0; i < 4; i++) {
        const double approach = REAL_NAME(frame_approach)(with, it, i),
                     turned = REAL_NAME(frame_turned)(with, it, i);
        const double left = it->height[i] - it->keep;
        if (!REAL_NAME(crossing_passes)(it, i, approach + turned))
            continue;
        if (system->constants->inverse_mass[it->nodes[i]] == 0 || (along && !(approach > 0)))
            *stuck = true;
        else if (!along || with->directions == 0)
            fraction = fmin(fraction, fmax(0, left) / (approach + turned));
        else
            fraction = fmin(fraction, fmax(-1, (left - turned) / approach));
    }
    return fraction;
}

// The frame in which a candidate that passes its plane in another one is cut in every direction,
// and its fraction: at rest, or with what carries it, also if a plane with that is not passed.
// *stuck as before.
static struct frame last_frame(struct system *system, const struct block_pair *pair,
                               const struct candidate *found, const struct crossing *it,
                               double *fraction, bool *stuck)
{
    const bool carries = system->surface_contact->carries;
    size_t number;
    const struct carrier *carrier = carries ? find_carrier(system, pair, found, it, &number) : NULL;
    struct frame with = carrier ? REAL_NAME(frame_carried)(system, it, carrier)
                                : REAL_NAME(frame_of_cut)(system, it, false);
    if (carries && !carrier)
        (void)REAL_NAME(frame_bent)(system, it, &with);
    *stuck = false;
    *fraction = allowed_fraction(system, it, &with, false, false, stuck);
    if (carrier && *fraction < 1)
        note_carried(system, it, number);
    else if (carries && with.driven && *fraction < 1)
        note_driven(system, it);
    return with;
}

// Whether a candidate that passes its plane does not have to be cut, as its sides pass beside each
// other: a step of an implicit integrator may be many thicknesses long, and what glides over a
// surface comes nearer to planes between itself and the parts that lie before it. Other integrators
// have shorter steps, and all planes count. A shorter step leaves the first part of the paths that
// have been looked at; what is cut after that is looked at again.
static bool passes_beside(const struct system *system, const struct crossing *it)
{
    return integrator_is_implicit(system->settings.integrator) &&
           REAL_NAME(crossing_stays_apart)(it);
}

// Cuts the nodes of a candidate at its plane; false if none had to be cut. Another plane is tried
// only where one that moves is passed: either keeps the sides apart.
static bool cut_candidate(struct system *system, const struct block_pair *pair,
                          const struct candidate *found, bool together, bool *stuck)
{
    struct crossing it;
    bool passes = false; // a node with a prescribed motion does
    REAL_NAME(crossing_find)(system, pair, found, &it);
    struct frame with = REAL_NAME(frame_of_cut)(system, &it, true);
    double fraction = allowed_fraction(
        system, &it, &with, system->surface_contact->round < ROUNDS_TIGHT, together, &passes);
    if ((fraction < 1 || passes) && passes_beside(system, &it))
        return false;
    if (!together && (fraction < 1 || passes))
        with = last_frame(system, pair, found, &it, &fraction, &passes);
    *stuck |= passes;
    if (fraction < 1)
        keep_fraction(system, pair, found, &it, &with, fraction, together);
    return fraction < 1;
}

// The fraction of its motion that leaves every node of a candidate on its side of the plane, as
// cut_candidate finds it first; and the candidate during the step.
static double candidate_fraction(const struct system *system, const struct block_pair *pair,
                                 const struct candidate *found, struct crossing *it, bool *stuck)
{
    REAL_NAME(crossing_find)(system, pair, found, it);
    const struct frame with = REAL_NAME(frame_of_cut)(system, it, true);
    bool passes = false;
    const double fraction = allowed_fraction(system, it, &with, true, false, &passes);
    if ((fraction < 1 || passes) && passes_beside(system, it))
        return 1;
    *stuck |= passes;
    return fraction;
}

// Whether any candidate of a pair has to be cut. Blocks show which pairs may pass, which in a cloth
// that turns are many; their candidates, whether one does, so that a step is only cut, and its
// energy measured, where there is something to cut.
static bool pair_passes(const struct system *system, struct pair_finder *finder, size_t index,
                        size_t p, struct near_codes *near)
{
    struct surface_contact *it = system->surface_contact;
    const struct block_pair *pair = &it->lists[index].pairs[p].pair;
    struct candidate_walk walk;
    struct candidate found;
    if (!search_goes_on(0)) {
        atomic_store(&it->failed, true);
        return false;
    }
    if (!passing_candidates(it, finder, index, p, near, &walk))
        return false;
    while (candidate_next(&walk, &found)) {
        struct crossing crossing;
        bool stuck = false;
        if (candidate_may_pass(system, pair, &found) &&
            (candidate_fraction(system, pair, &found, &crossing, &stuck) < 1 || stuck))
            return true;
    }
    return false;
}

// Finds the pairs of a list that have to be cut: all, or those of which a node has been moved in
// the round before, as no other one passes. Pairs that are farther apart than `enough`, m, need no
// cut.
static void find_passing(const struct system *system, struct pair_finder *finder, size_t index,
                         bool all, double enough)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_list *list = &it->lists[index];
    struct near_codes near;
    list->passing_count = 0;
    for (size_t p = 0; p < list->pair_count && !list->sleeps; p++) {
        const struct block_pair *pair = &list->pairs[p].pair;
        if (atomic_load_explicit(&it->failed, memory_order_relaxed))
            return; // the run ends
        if ((double)pair->least > enough)
            continue;
        if (!all && !blocks_have_changed(it, pair->a, pair->b, CHANGED_BEFORE))
            continue;
        if (!pair_passes(system, finder, index, p, &near))
            continue;
        if (!array_reserve((void **)&list->passing, &list->passing_capacity,
                           list->passing_count + 1, sizeof *list->passing)) {
            atomic_store(&it->failed, true);
            return;
        }
        list->passing[list->passing_count++] = (uint32_t)p;
    }
}

// After a step for which lists had to be made again, as wide as that step needed.
static void leave_wide_lists(struct surface_contact *it)
{
    it->lists_due = true;
    it->skin_least = 0;
    it->start_known = it->steps_known = it->overshot = it->bounds_known = false;
}

// Ends with a barrier.
static void share_passing(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (worker->index == 0)
        atomic_store(&it->passes, REAL_NAME(surface_shares_pass)(system));
    worker_barrier(worker);
    if (!atomic_load(&it->passes))
        return;
    REAL_NAME(surface_shares_complete)(system, worker);
    REAL_NAME(surface_pairs_complete)(system, START_OF_WAY, worker);
    if (worker->index == 0)
        REAL_NAME(surface_shares_passing)(system);
    worker_barrier(worker);
}

// Whether the run has certainly diverged, and nodes fly so far in this step that lists wide enough
// for it would take minutes and gigabytes. That must not depend on when lists were made, so it is
// asked of all steps that are so long, also those for which lists suffice. After
// surface_lists_check, and not while a step is cut. The same on every worker.
static bool is_lost(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!system->is_hopeless || it->rows || it->lifts || !REAL_NAME(surface_motion_may_fly)(system))
        return false;
    worker_barrier(worker); // all have read what follows from the step
    if (worker->index == 0)
        it->flies = true; // as far as is known
    worker_barrier(worker);
    const bool lost =
        system->is_hopeless(system, worker) && REAL_NAME(surface_motion_flies)(system, worker);
    worker_barrier(worker); // all have read it
    if (worker->index == 0)
        it->flies = false; // what is_hopeless is asked for before a cut
    return lost;
}

bool REAL_NAME(surface_contact_flies)(const struct system *system)
{
    return system->surface_contact->flies;
}

bool REAL_NAME(surface_contact_passes)(struct system *system, double end,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return false;
    if (worker->index == 0)
        atomic_store(&it->passes, false);
    if (it->rows && it->start_known)
        REAL_NAME(surface_lists_cover)(system, worker);
    const bool narrow = REAL_NAME(surface_lists_check)(system, worker);
    if (is_lost(system, worker)) {
        REAL_NAME(surface_contact_give_up)(system, worker);
        return false;
    }
    if (narrow)
        REAL_NAME(surface_lists_widen)(system, false, worker);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        it->lists[i].passing_count = 0;
    if (it->pairs > 0) {
        struct pair_finder finder;
        REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
        REAL_NAME(surface_steps_find)
        (system, worker_share(worker, it->surfaces.block_count, 1));
        worker_barrier(worker);
        const double enough = distance_used_at_most(it);
        for (size_t i = lists.first; i < lists.end; i++) {
            if (list_is_own(system, i))
                find_passing(system, &finder, i, true, enough);
            if (it->lists[i].passing_count > 0)
                atomic_store(&it->passes, true);
        }
        worker_barrier(worker);
        if (worker->index == 0 && atomic_exchange(&it->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
        if (surface_shares(system))
            share_passing(system, worker);
    }
    const bool of_shapes = it->shapes && REAL_NAME(shape_contact_passes)(system, end, worker);
    const bool passes = of_shapes || atomic_load(&it->passes);
    worker_barrier(worker);
    if (worker->index == 0)
        it->steps_known = it->pairs > 0;
    if (!passes && worker->index == 0) {
        it->lists_due = it->lists_due_next;
        if (it->overshot)
            leave_wide_lists(it);
        REAL_NAME(surface_positions_release)(system);
    }
    return passes;
}

// Cuts the pairs of a list that have been found to pass, and those with a node that has been moved
// in this round.
static bool cut_list(struct system *system, struct pair_finder *finder, size_t index, bool together,
                     bool *stuck)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_list *list = &it->lists[index];
    struct near_codes near;
    size_t passing = 0;
    bool cut = false;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct block_pair *pair = &list->pairs[p].pair;
        const bool passes = passing < list->passing_count && list->passing[passing] == p;
        bool stays = false;
        struct candidate_walk walk;
        struct candidate found;
        passing += passes;
        if (!passes && !blocks_have_changed(it, pair->a, pair->b, CHANGED_NOW))
            continue;
        if (!passing_candidates(it, finder, index, p, &near, &walk))
            continue;
        if (!search_goes_on(0))
            atomic_store(&it->failed, true);
        while (!atomic_load(&it->failed) && candidate_next(&walk, &found))
            if (candidate_may_pass(system, pair, &found))
                cut |= cut_candidate(system, pair, &found, together, &stays);
        if (stays) // so that it is looked at again
            it->changed[pair->a] |= CHANGED_NOW;
        *stuck |= stays;
    }
    return cut;
}

static bool cut_all(struct system *system, struct pair_finder *finder, bool together, bool *stuck)
{
    struct surface_contact *it = system->surface_contact;
    bool cut = false;
    *stuck = false;
    for (size_t i = 0; i < it->broad->list_count; i++)
        if (cut || *stuck || it->lists[i].passing_count > 0)
            cut |= cut_list(system, finder, i, together, stuck);
    if (it->shapes)
        cut |= REAL_NAME(shape_contact_cut)(system, together, stuck);
    if (it->lifts && it->holds && it->carries)
        cut |= REAL_NAME(surface_lift_hold)(system);
    return cut;
}

// What passes after a round. Ends with a barrier.
static void look_again(struct system *system, struct pair_finder *finder,
                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = blocks.first; b < blocks.end; b++) {
        const bool now = it->changed[b] & CHANGED_NOW;
        it->changed[b] = (uint8_t)((it->changed[b] & CHANGED) | (now ? CHANGED_BEFORE : 0));
        if (now)
            REAL_NAME(surface_steps_find)(system, (struct range){b, b + 1});
    }
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        find_passing(system, finder, i, false, INFINITY);
    if (it->shapes) // which are in no list
        REAL_NAME(shape_contact_look)(system, false, worker);
    worker_barrier(worker);
}

// After nodes have been moved out of projecting colliders they are cut in every direction at once:
// what is left of a path between two points outside a plane or the walls of a room ends outside,
// while the momentum that others get along a normal would press them into the surface again.
static int first_round(const struct surface_contact *it)
{
    return it->lifts ? ROUNDS_TOGETHER : 0;
}

// By the first worker, once the step has been cut as far as that is possible.
static void finish_cut(struct system *system, int rounds, bool stuck)
{
    struct surface_contact *it = system->surface_contact;
    const bool cut = rounds > first_round(it);
    if (atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    if (integrator_is_implicit(system->settings.integrator)) // which may go on with the step
        it->steps_known &= !cut;
    if (cut)
        REAL_NAME(surface_contact_count_cut)(system);
    it->has_no_end = rounds == ROUNDS || stuck;
    REAL_NAME(surface_contact_count_unresolved)(system, it->has_no_end);
    it->lists_due |= it->lists_due_next;
    it->lists_due_next = it->bounds_known = it->bounds_before = false;
    if (it->overshot)
        leave_wide_lists(it);
    if (cut)
        system->state->forces_current = system->state->energy_current = false;
}

// Adds the momentum of a candidate that passes; returns its mass, kg.
static double add_motion(struct system *system, const struct crossing *crossing)
{
    struct surface_contact *it = system->surface_contact;
    double mass = 0;
    for (int i = 0; i < 4; i++) {
        const double m = 1 / (double)system->constants->inverse_mass[crossing->nodes[i]];
        it->frame_moved = vec3_add(it->frame_moved, vec3_scale(m, crossing->moved[i]));
        it->frame_velocity = vec3_add(it->frame_velocity, vec3_scale(m, crossing->velocity[i]));
        mass += m;
    }
    return mass;
}

// Where all nodes are free, planes may move together as what still passes does, of which nodes
// count as often as they are in a candidate. False where there are nodes or shapes with a motion of
// their own. By the first worker.
static bool find_common_motion(struct system *system, struct pair_finder *finder)
{
    struct surface_contact *it = system->surface_contact;
    struct near_codes near;
    double mass = 0;
    it->frame_moved = it->frame_velocity = (vec3){0, 0, 0};
    if (it->shapes || it->lifts || system->topology->kinematic_count > 0 ||
        system->topology->collider_node_count > 0)
        return false;
    for (size_t i = 0; i < it->broad->list_count; i++)
        for (size_t n = 0; n < it->lists[i].passing_count; n++) {
            const size_t p = it->lists[i].passing[n];
            const struct block_pair *pair = &it->lists[i].pairs[p].pair;
            struct candidate_walk walk;
            struct candidate found;
            if (!passing_candidates(it, finder, i, p, &near, &walk))
                continue;
            while (candidate_next(&walk, &found)) {
                struct crossing crossing;
                bool stuck = false;
                if (candidate_may_pass(system, pair, &found) &&
                    candidate_fraction(system, pair, &found, &crossing, &stuck) < 1)
                    mass += add_motion(system, &crossing);
            }
        }
    if (!(mass > 0 && isfinite(mass)))
        return false;
    it->frame_moved = vec3_scale(1 / mass, it->frame_moved);
    it->frame_velocity = vec3_scale(1 / mass, it->frame_velocity);
    return true;
}

// ---- What cuts have taken too much
//
// Candidates are cut one after another. What one takes of a node may leave the sides of another one
// apart that has been cut before, which has then taken more than it had to. Springs that press
// nodes onto a heavy body change their velocities in a step by far more than these are, so that a
// little of that is much energy. So what each candidate takes is found again, without what it has
// taken before, as with the accumulated impulses of projected Gauss-Seidel iterations (Catto 2005);
// what passes then is cut.

// How often all candidates are looked at, and the change of what one takes that is too small for
// it, as a fraction of that.
enum { RELEASES = 8 };
static const double RELEASE_LEAST = 1e-3;

static struct taken taken_difference(const struct taken *a, const struct taken *b)
{
    struct taken difference = {.work = a->work - b->work};
    for (int i = 0; i < 4; i++) {
        difference.back[i] = vec3_subtract(a->back[i], b->back[i]);
        difference.slower[i] = vec3_subtract(a->slower[i], b->slower[i]);
    }
    return difference;
}

// m2, of all displacements.
static double taken_square(const struct taken *taken)
{
    double square = 0;
    for (int i = 0; i < 4; i++)
        square += vec3_dot(taken->back[i], taken->back[i]);
    return square;
}

// Finds again what a candidate takes. Returns whether that has changed.
static bool release_cut(struct system *system, struct candidate_cut *cut)
{
    const double square = taken_square(&cut->taken);
    struct crossing it;
    struct taken taken = {.work = 0};
    bool passes = false;
    REAL_NAME(crossing_find)(system, &cut->pair, &cut->found, &it);
    for (int i = 0; i < 4; i++) {
        it.moved[i] = vec3_add(it.moved[i], cut->taken.back[i]);
        it.velocity[i] = vec3_add(it.velocity[i], cut->taken.slower[i]);
    }
    const struct frame with = REAL_NAME(frame_of_cut)(system, &it, true);
    const double fraction = allowed_fraction(system, &it, &with, true, true, &passes);
    if (passes || !may_be_released(system, &with))
        return false;
    if (fraction < 1)
        taken = find_taken(system, &cut->pair, &cut->found, &it, &with, fraction, true);
    const struct taken change = taken_difference(&taken, &cut->taken);
    if (!(taken_square(&change) > RELEASE_LEAST * RELEASE_LEAST * square))
        return false;
    apply_taken(system, &it, &change);
    cut->taken = taken;
    return true;
}

// By the first worker, when nothing passes. Returns whether anything has changed.
static bool release_cuts(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    bool any = false;
    it->released_from = it->change_count;
    it->work_released_from = it->cut_work;
    for (size_t c = 0; c < it->candidate_cut_count && !atomic_load(&it->failed); c++)
        any |= release_cut(system, &it->candidate_cuts[c]);
    return any;
}

// Goes back to where nothing passed, where that has not been found again.
static void release_none(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_rollback_undo)(system, it->released_from);
    it->cut_work = it->work_released_from;
    it->cuts_again = it->skips = false;
}

// Cuts what passes until nothing does. Returns the number of rounds on the first worker.
static int cut_rounds(struct system *system, bool *stuck, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    int moving = ROUNDS_MOVING; // of the first round in every direction, which is repeated
    int releases = RELEASES;
    for (int round = first_round(it);; round++) {
        if (worker->index == 0) {
            it->round = round;
            it->moves = round == ROUNDS_TOGETHER && moving > 0 &&
                        (moving < ROUNDS_MOVING || find_common_motion(system, &finder));
            it->carries = round >= ROUNDS_TOGETHER;
            if (round == ROUNDS_TOGETHER && !REAL_NAME(carriers_begin)(system)) {
                it->carries = false;
                atomic_store(&it->failed, true);
            }
            if (round == first_round(it) && it->lifts && it->carries)
                REAL_NAME(surface_lift_carry)(system);
            it->cuts_again = !atomic_load(&it->failed) &&
                             cut_all(system, &finder, round < ROUNDS_TOGETHER, stuck);
            // Nothing that may be cut, but what carries nodes may show a plane that is not passed.
            it->skips = !it->cuts_again && *stuck && round < ROUNDS_TOGETHER;
        }
        worker_barrier(worker);
        const bool again = (it->cuts_again || it->skips) && round + 1 < ROUNDS;
        const bool has_released = releases < RELEASES;
        if (again && has_released && (it->skips || round + 1 == ROUNDS_TOGETHER)) {
            worker_barrier(worker); // all have read
            if (worker->index == 0)
                release_none(system);
            *stuck = false;
            worker_barrier(worker);
            return 1;
        }
        if (!again) {
            if (worker->index == 0)
                it->releases = round < ROUNDS_TOGETHER && releases > 0 && release_cuts(system);
            worker_barrier(worker);
            if (!it->releases)
                return round + (it->cuts_again || (has_released && round == 0));
            releases--;
            round = -1;
        }
        if (it->moves) {
            moving--;
            round--;
        }
        if (it->skips)
            round = ROUNDS_TOGETHER - 1;
        look_again(system, &finder, worker);
    }
}

// Makes lists again that are complete for the path that the cut has taken, and finds what passes by
// these before it.
static void widen_lists_of_cut(struct system *system, bool most, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes =
        (size_t)system->topology->node_count + (size_t)system->topology->collider_node_count;
    real *kept = NULL; // of the first worker: the positions before the cut, for its energy
    if (worker->index == 0 && system->settings.keep_energy_budget) {
        kept = malloc(3 * nodes * sizeof *kept);
        if (kept) {
            memcpy(kept, it->old_x, nodes * sizeof *kept);
            memcpy(kept + nodes, it->old_y, nodes * sizeof *kept);
            memcpy(kept + 2 * nodes, it->old_z, nodes * sizeof *kept);
        } else {
            atomic_store(&it->failed, true);
        }
    }
    worker_barrier(worker);
    REAL_NAME(surface_lists_widen)(system, most, worker);
    if (kept) {
        memcpy(it->old_x, kept, nodes * sizeof *kept);
        memcpy(it->old_y, kept + nodes, nodes * sizeof *kept);
        memcpy(it->old_z, kept + 2 * nodes, nodes * sizeof *kept);
        free(kept);
    }
    REAL_NAME(surface_steps_find)
    (system, worker_share(worker, it->surfaces.block_count, 1));
    worker_barrier(worker);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    for (size_t i = lists.first; i < lists.end; i++)
        find_passing(system, &finder, i, true, INFINITY);
    if (it->shapes)
        REAL_NAME(shape_contact_look)(system, true, worker);
    worker_barrier(worker);
}

// By the first worker: before a cut.
static void begin_cut(struct surface_contact *it, const struct surface_cuts *before)
{
    it->cuts = *before;
    it->cut_work = 0;
    it->candidate_cut_count = 0;
}

// What one candidate leaves may take others where lists were not complete: then all is taken back,
// and the step is cut again by wider lists. So its cut is one that has been found by complete lists
// from its beginning, whichever they were.
void REAL_NAME(surface_contact_cut)(struct system *system, const struct worker *worker)
{
    enum { WIDENINGS = 6 };
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct surface_cuts before = it->cuts;
    memset(it->changed + blocks.first, 0, blocks.end - blocks.first);
    if (!REAL_NAME(surface_rollback_begin)(system, worker)) {
        if (worker->index == 0) {
            it->has_no_end = false;
            REAL_NAME(surface_memory_has_run_out)(system);
        }
        worker_barrier(worker);
        return;
    }
    REAL_NAME(surface_pairs_complete)(system, START_OF_WAY, worker); // that shapes alone cut
    REAL_NAME(surface_motion_in_step)(system, worker);
    if (system->settings.keep_energy_budget) // for the energy that the cut takes
        REAL_NAME(surface_positions_keep)(system, worker);
    if (worker->index == 0)
        begin_cut(it, &before);
    worker_barrier(worker);
    bool stuck = false; // on the first worker
    int rounds = cut_rounds(system, &stuck, worker);
    for (int i = 0; i < WIDENINGS && REAL_NAME(surface_lists_check_cut)(system, worker); i++) {
        if (worker->index == 0) {
            REAL_NAME(surface_rollback_undo)(system, 0);
            begin_cut(it, &before);
        }
        memset(it->changed + blocks.first, 0, blocks.end - blocks.first);
        worker_barrier(worker);
        widen_lists_of_cut(system, i + 1 == WIDENINGS, worker);
        rounds = cut_rounds(system, &stuck, worker);
    }
    if (worker->index == 0) {
        REAL_NAME(surface_rollback_end)(it);
        finish_cut(system, rounds, stuck);
    }
    worker_barrier(worker);
    if (!it->steps_known)
        return;
    REAL_NAME(surface_steps_find)(system, blocks);
    worker_barrier(worker);
}

double REAL_NAME(surface_contact_cut_work)(const struct system *system)
{
    return system->surface_contact->cut_work;
}

bool REAL_NAME(surface_contact_has_cut)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return false;
    worker_barrier(worker); // the first worker has counted
    const bool has = it->cuts.cuts != it->cuts_seen || it->gives_up;
    worker_barrier(worker);
    if (worker->index == 0)
        it->cuts_seen = it->cuts.cuts;
    return has;
}

void REAL_NAME(surface_contact_note_kinetic)(struct system *system, double kinetic)
{
    struct surface_contact *it = system->surface_contact;
    const bool first = it->cuts.cuts == it->cuts_seen;
    it->uncut_kinetic = first ? kinetic : fmax(kinetic, it->uncut_kinetic);
}

double REAL_NAME(surface_contact_uncut_kinetic)(const struct system *system)
{
    return system->surface_contact->uncut_kinetic;
}

void REAL_NAME(surface_contact_count_taken)(struct system *system, const struct taken_count *taken)
{
    system->surface_contact->cuts.taken = *taken;
}

// ---- The fraction of an implicit step

// Whether a candidate has nodes with a prescribed motion that move. Its plane moves with them,
// however much of the step is left, so that a shorter step leaves nodes in their path: these are
// cut instead.
static bool plane_is_driven(const struct system *system, const struct crossing *it)
{
    for (int i = 0; i < 4; i++)
        if (system->constants->inverse_mass[it->nodes[i]] == 0 &&
            vec3_dot(it->moved[i], it->moved[i]) > 0)
            return true;
    return false;
}

static double fraction_of_list(const struct system *system, struct pair_finder *finder,
                               size_t index)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_list *list = &it->lists[index];
    struct near_codes near;
    double fraction = 1;
    for (size_t i = 0; i < list->passing_count; i++) {
        const size_t p = list->passing[i];
        struct candidate_walk walk;
        struct candidate found;
        if (!passing_candidates(it, finder, index, p, &near, &walk))
            continue;
        bool stuck = false;
        while (candidate_next(&walk, &found)) {
            const struct block_pair *pair = &list->pairs[p].pair;
            struct crossing crossing;
            if (!candidate_may_pass(system, pair, &found))
                continue;
            const double allowed = candidate_fraction(system, pair, &found, &crossing, &stuck);
            if (allowed < fraction && !plane_is_driven(system, &crossing))
                fraction = allowed;
        }
    }
    return fraction;
}

double REAL_NAME(surface_contact_fraction)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct pair_finder finder;
    if (it->overshot)
        return 1;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (size_t i = lists.first; i < lists.end; i++)
        it->energies[i] = fraction_of_list(system, &finder, i);
    if (it->shapes && worker->index == 0)
        it->shapes->fraction = REAL_NAME(shape_contact_fraction)(system);
    worker_barrier(worker);
    double fraction = it->shapes ? it->shapes->fraction : 1;
    for (size_t i = 0; i < it->broad->list_count; i++)
        fraction = fmin(fraction, it->energies[i]);
    if (worker->index == 0 && atomic_exchange(&it->failed, false))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    return fraction;
}

void REAL_NAME(surface_contact_count_cut)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const uint64_t step = system->state->step + 1;
    it->cuts.cuts++;
    it->cuts.steps += it->cuts.last != step;
    it->cuts.last = step;
}

void REAL_NAME(surface_contact_count_unresolved)(struct system *system, int count)
{
    struct surface_contact *it = system->surface_contact;
    const uint64_t step = system->state->step + 1;
    const bool has_counted = it->no_ends_step == step && it->no_ends > 0;
    it->no_ends = (it->no_ends_step == step ? it->no_ends : 0) + count;
    it->no_ends_step = step;
    const bool counts = it->no_ends > 0;
    it->cuts.unresolved = it->cuts.unresolved + counts - has_counted;
}

struct surface_cuts REAL_NAME(surface_contact_cuts)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it ? it->cuts : (struct surface_cuts){0};
}

void REAL_NAME(surface_contact_put_cuts)(struct system *system, const struct surface_cuts *cuts)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return;
    it->cuts = *cuts;
    it->cuts_seen = cuts->cuts;
    it->gives_up = false;
    it->no_ends = 0;
}
