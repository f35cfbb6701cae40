// The topology's constants in the run's precision and the plan's order: what kernels read besides
// the state. Const once made. Numeric: compiled for float and for double.
#ifndef TAUT_STATE_CONSTANTS_H
#define TAUT_STATE_CONSTANTS_H

#include "parallel/team.h"
#include "base/real.h"
#include "springs/plan.h"

struct spring_constants {
    real stiffness, damping;
    enum spring_law law;
    enum damping_law damping_law;
    real break_at, yield_at; // INFINITY: never
};

// Counts of springs and faces include only those in the plan's blocks.
struct constants {
    const taut_allocator *allocator;
    uint64_t nodes, springs, faces, materials, slots;
    uint64_t all_nodes; // those of mesh colliders included
    uint64_t massed;    // nodes; 0: all nodes of each body have the same mass
    real *mass;         // length massed
    real *inverse_mass; // 0 for nodes that are not integrated, and those of mesh colliders
    // In the plan's order: the topology's own lists if they have that order, otherwise copies.
    const uint32_t (*spring_nodes)[2];
    const uint32_t *spring_material; // NULL: all have one_material
    uint32_t one_material;
    uint64_t copies;
    uint32_t (*nodes_copy)[2];
    uint32_t *material_copy;
    uint64_t rests;    // all springs; 0 if the lists suffice and no kernel reads rest_length
    real *rest_length; // plan order, as built
    const struct topology *listed; // the topology with the lists
    uint32_t (*face_nodes)[3];     // plan order
    uint32_t *face_body;           // plan order
    real *slot_rest; // for packed springs, by slot (springs/packed/plan.h); -1 for an empty slot
    struct spring_constants *material;
};

// The rest length of the i-th spring of the plan, as built.
static inline real built_rest_length(const struct constants *constants, uint64_t i)
{
    return constants->rests > 0 ? constants->rest_length[i]
                                : (real)topology_listed_rest(constants->listed, i);
}

// The material of the i-th spring of the plan.
static inline uint32_t spring_material_number(const struct constants *constants, uint64_t i)
{
    return constants->spring_material ? constants->spring_material[i] : constants->one_material;
}

// All workers of the team fill their own shares; `team` may be NULL. Only the known nodes have
// masses, the others as soon as constants_fill_nodes gives them some.
taut_status REAL_NAME(constants_make)(const struct topology *topology, const struct plan *plan,
                                      struct range known, struct team *team,
                                      const taut_allocator *allocator, struct constants **result,
                                      taut_error *error);

// Sets the masses of these nodes.
void REAL_NAME(constants_fill_nodes)(struct constants *constants, const struct topology *topology,
                                     struct range nodes);

// Updates the constants after materials or masses have changed in the topology.
void REAL_NAME(constants_refresh)(struct constants *constants, const struct topology *topology);

// Copies the lists of springs of the topology again, when all of them are there.
void REAL_NAME(constants_copy_springs)(struct constants *constants, const struct topology *topology,
                                       const struct plan *plan);

// Makes everything by slot again, of a plan whose slots have changed; false without memory.
bool REAL_NAME(constants_repack)(struct constants *constants, const struct topology *topology,
                                 const struct plan *plan);

void REAL_NAME(constants_free)(struct constants *constants);

uint64_t REAL_NAME(constants_bytes)(const struct constants *constants);

#endif
