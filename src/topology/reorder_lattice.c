// Lattices in disguise: nodes in any order at the places of a lattice, turned in any way.
#include <stdlib.h>

#include "base/memory.h"
#include "topology/reorder.h"

// Springs looked at for the lattice's directions, ways of springs told apart, and how far a place
// may be off the lattice, as a share of its spacing.
enum { SAMPLES = 4096, WAYS_MAX = 64 };
static const double OFF_MAX = 0.25;

// Springs that go one way (or the opposite one).
struct way {
    vec3 along;
    double length;
    uint64_t count;
};

static vec3 place_of(const struct body *body, uint64_t node)
{
    const double *p = body->positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

// The same for both directions: the first component of z, y, x that is not nearly 0 is positive.
static vec3 without_sign(vec3 v)
{
    double small = 1e-6 * vec3_length(v);
    bool turn = v.z < -small || (v.z <= small && (v.y < -small || (v.y <= small && v.x < 0)));
    return turn ? vec3_scale(-1, v) : v;
}

static int find_ways(const struct body *body, struct way ways[WAYS_MAX])
{
    uint64_t stride = body->spring_count / SAMPLES + 1;
    int count = 0;
    for (uint64_t s = 0; s < body->spring_count; s += stride) {
        vec3 d = without_sign(vec3_subtract(place_of(body, body->springs[s][0]),
                                            place_of(body, body->springs[s][1])));
        double length = vec3_length(d);
        int w = 0;
        while (w < count &&
               vec3_length(vec3_subtract(d, ways[w].along)) > OFF_MAX / 2 * ways[w].length)
            w++;
        if (w == WAYS_MAX || !(length > 0))
            return 0;
        if (w == count)
            ways[count++] = (struct way){d, length, 0};
        vec3 off = vec3_subtract(d, ways[w].along);
        ways[w].count++;
        ways[w].along = vec3_add(ways[w].along, vec3_scale(1 / (double)ways[w].count, off));
    }
    return count;
}

// The shortest of the common ways that leaves the plane (or line) of those chosen before it.
static bool choose_way(const struct way *ways, int count, uint64_t common, vec3 axis[3], int chosen)
{
    const struct way *best = NULL;
    for (int w = 0; w < count; w++) {
        double free = 1; // how far it leaves the others, as a share of the length
        vec3 unit = vec3_scale(1 / ways[w].length, ways[w].along);
        if (chosen == 1)
            free = vec3_length(vec3_cross(unit, axis[0])) / vec3_length(axis[0]);
        if (chosen == 2) {
            vec3 normal = vec3_cross(axis[0], axis[1]);
            free = fabs(vec3_dot(unit, normal)) / vec3_length(normal);
        }
        if (ways[w].count >= common && free > 0.3 &&
            (!best || ways[w].length < best->length * (1 - 1e-3)))
            best = &ways[w];
    }
    if (best)
        axis[chosen] = best->along;
    return best != NULL;
}

// Three axes; what a plane or a line does not have is made up, across the others.
static bool find_axes(const struct body *body, vec3 axis[3])
{
    struct way ways[WAYS_MAX];
    int count = find_ways(body, ways), chosen = 0;
    uint64_t most = 0;
    for (int w = 0; w < count; w++)
        most = ways[w].count > most ? ways[w].count : most;
    while (chosen < 3 && choose_way(ways, count, most / 4 + 1, axis, chosen))
        chosen++;
    if (chosen < 2)
        return false; // a line: neighbours after one another do as well
    if (chosen == 2) {
        vec3 normal = vec3_cross(axis[0], axis[1]);
        axis[2] = vec3_scale(vec3_length(axis[0]) / vec3_length(normal), normal);
    }
    return true;
}

struct lattice {
    vec3 origin;
    vec3 inverse[3]; // rows: place - origin to numbers along the axes
    int64_t low[3], count[3];
    int order[3]; // axes, the longest rows first
};

static bool invert(const vec3 axis[3], vec3 inverse[3])
{
    double volume = vec3_dot(axis[0], vec3_cross(axis[1], axis[2]));
    if (!(fabs(volume) > 0))
        return false;
    for (int a = 0; a < 3; a++)
        inverse[a] = vec3_scale(1 / volume, vec3_cross(axis[(a + 1) % 3], axis[(a + 2) % 3]));
    return true;
}

static bool lattice_place(const struct lattice *lattice, vec3 place, int64_t number[3])
{
    vec3 from = vec3_subtract(place, lattice->origin);
    for (int a = 0; a < 3; a++) {
        double exact = vec3_dot(lattice->inverse[a], from);
        if (!(fabs(exact) < 1e6) || fabs(exact - round(exact)) > OFF_MAX)
            return false;
        number[a] = (int64_t)round(exact);
    }
    return true;
}

static bool measure(const struct body *body, struct lattice *lattice)
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        int64_t number[3];
        if (!lattice_place(lattice, place_of(body, node), number))
            return false;
        for (int a = 0; a < 3; a++) {
            int64_t end = lattice->low[a] + lattice->count[a];
            int64_t low = node == 0 || number[a] < lattice->low[a] ? number[a] : lattice->low[a];
            end = node == 0 || number[a] >= end ? number[a] + 1 : end;
            lattice->low[a] = low;
            lattice->count[a] = end - low;
        }
    }
    for (int i = 0; i < 3; i++)
        lattice->order[i] = i;
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (lattice->count[lattice->order[j]] > lattice->count[lattice->order[i]]) {
                int held = lattice->order[i];
                lattice->order[i] = lattice->order[j];
                lattice->order[j] = held;
            }
    double places =
        (double)lattice->count[0] * (double)lattice->count[1] * (double)lattice->count[2];
    return places <= 4.0 * (double)body->node_count; // not mostly empty
}

// The place's number, row by row.
static uint64_t place_number(const struct lattice *lattice, vec3 place)
{
    int64_t number[3];
    (void)lattice_place(lattice, place, number);
    uint64_t at = 0;
    for (int i = 2; i >= 0; i--) {
        int a = lattice->order[i];
        at = at * (uint64_t)lattice->count[a] + (uint64_t)(number[a] - lattice->low[a]);
    }
    return at;
}

// Nodes by their places; false if two share one.
static bool sort_by_place(const struct body *body, const struct lattice *lattice,
                          uint32_t *at_place, uint64_t places, uint32_t *order)
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        uint32_t *slot = &at_place[place_number(lattice, place_of(body, node))];
        if (*slot != 0)
            return false;
        *slot = (uint32_t)node + 1;
    }
    uint64_t placed = 0;
    for (uint64_t i = 0; i < places; i++)
        if (at_place[i] != 0)
            order[placed++] = at_place[i] - 1;
    return true;
}

bool lattice_order(const struct body *body, uint32_t *order, uint64_t grid[3], bool *no_memory)
{
    vec3 axis[3];
    struct lattice lattice = {.origin = place_of(body, 0)};
    if (!find_axes(body, axis) || !invert(axis, lattice.inverse) || !measure(body, &lattice))
        return false;
    uint64_t places =
        (uint64_t)lattice.count[0] * (uint64_t)lattice.count[1] * (uint64_t)lattice.count[2];
    uint32_t *at_place = memory_allocate(NULL, (size_t)places, sizeof *at_place);
    *no_memory = !at_place;
    bool found = at_place && sort_by_place(body, &lattice, at_place, places, order);
    memory_release(NULL, at_place, (size_t)places, sizeof *at_place);
    for (int i = 0; i < 3; i++)
        grid[i] =
            found && places == body->node_count ? (uint64_t)lattice.count[lattice.order[i]] : 0;
    return found;
}
