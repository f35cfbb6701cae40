// Crowds: bodies in which nearly every node is joined to every other one. Their fastest
// oscillations are half as stiff as the blocks of majorant.h say of them (which fit chains and
// lattices, whose neighbours swing against each other: here not all can).
//
// To K of a body with n free nodes something positive is added, c (sum x_i)^2 for some c. A pair of
// nodes then has in common 2 c p.q, which makes up for as much of its spring's -2 k (u.p)(u.q).
// With k = k' + c and across it likewise (if it has less than c, all of it), the rest of a pair is
// what a spring of k' has, and 2 p.(c (I - u u'))q + c (u.p)^2 + c (u.q)^2 <= c p^2 + c q^2; and
// that of pairs without a spring is 2 c p.q <= c p^2 + c q^2. So all springs are softer by c, and
// every node has n c. The same of C. Pairs with two springs would take c off twice: bodies with
// such are none.
//
// Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_MAJORANT_CROWDS_H
#define TAUT_STABILITY_MAJORANT_CROWDS_H

#include "base/status.h"
#include "state/system.h"

struct crowd {
    struct range nodes;
    uint64_t free;           // of them
    real stiffness, damping; // c, of K and of C
};

struct crowds {
    bool used; // else their springs are as others
    size_t count;
    struct crowd *list;
};

taut_status REAL_NAME(crowds_find)(const struct system *system, struct crowds *crowds,
                                   taut_error *error);
void REAL_NAME(crowds_free)(const struct system *system, struct crowds *crowds);

// NULL: the node is in none, or they are not used.
static inline const struct crowd *crowd_of(const struct crowds *crowds, size_t node)
{
    size_t low = 0, high = crowds->used ? crowds->count : 0;
    while (low < high) { // they stand in the order of their nodes
        size_t middle = low + (high - low) / 2;
        if (node >= crowds->list[middle].nodes.end)
            low = middle + 1;
        else
            high = middle;
    }
    if (crowds->used && low < crowds->count && node >= crowds->list[low].nodes.first)
        return &crowds->list[low];
    return NULL;
}

#endif
