// Two thin sheets under a weight a hundred times theirs, between it and the floor: more contacts at
// a node than the bound of the scene as built allows for. The text of a scene file without
// `simulation` and `output`.
#ifndef TAUT_TESTS_PRESSED_SHEETS_H
#define TAUT_TESTS_PRESSED_SHEETS_H

#define PRESSED_SHEETS                                                                             \
    "environment: {gravity: [0, -9.81, 0]}\n"                                                      \
    "contact: {thickness: 0.012, friction_coefficient: 0.4}\n"                                     \
    "bodies:\n"                                                                                    \
    "- {name: low, type: cloth, origin: [0, 0.02, 0], u: [0.2, 0, 0], v: [0, 0, 0.2],\n"           \
    "   nodes: [9, 9], mass: 0.01, spring: {stiffness: 40, damping: 0.01}}\n"                      \
    "- {name: high, type: cloth, origin: [0.007, 0.042, 0.003], u: [0.2, 0, 0],\n"                 \
    "   v: [0, 0, 0.2], nodes: [10, 10], mass: 0.01, spring: {stiffness: 40, damping: 0.01}}\n"    \
    "- {name: weight, type: lattice, origin: [0.03, 0.065, 0.03], spacing: 0.03,\n"                \
    "   nodes: [6, 2, 6], mass: 1, springs: {k1: {stiffness: 5000, damping: 2},\n"                 \
    "   k2: {stiffness: 3000, damping: 1}}}\n"                                                     \
    "colliders:\n- {type: plane, response: contact}\n"

#endif
