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
    for (size_t i = 0; crowds->used && i < crowds->count; i++)
        if (node >= crowds->list[i].nodes.first && node < crowds->list[i].nodes.end)
            return &crowds->list[i];
    return NULL;
}

#endif
