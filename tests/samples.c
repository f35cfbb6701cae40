// The texts of the sample scenes (samples.h).
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

#define AIR                                                                                        \
    "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.002, wind: {velocity: [4,1,2], law: "
#define SOFT "{stiffness: 60, damping: 0.01}"

const struct sample samples[] = {
    {"rope", AIR "node}}\n"
                 "bodies: [{name: b, type: rope, from: [0,0,0], to: [3,1,0], nodes: 300,\n"
                 "  node_mass: 0.002, pins: [first], links: skip, springs: {chain: " SOFT
                 ", skip: {stiffness: 20, damping: 0.02, damping_law: full}},\n"
                 "  drives: [{node: last, velocity: [0.5,1,0]}]}]\n"
                 "colliders: [{type: plane, point: [0,-0.01,0], normal: [0,1,0], stiffness: 50,\n"
                 "  friction: 0.01, absorption: 0.02}]\n"},
    {"rope_all", "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,1,0], nodes: 40,\n"
                 "  node_mass: 0.1, pins: [first], velocity: [1,0,2], links: all,\n"
                 "  stiffness: 5, damping: 0.01}]\n"},
    {"cloth_node",
     AIR "node, coefficient: 0.002}}\n"
         "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1,0],\n"
         "  nodes: [31,23], mass: 0.9, pins: [left], springs: {structural: " SOFT
         ",\n  shear: " SOFT ", bend: {stiffness: 10, damping: 0.01}}}]\n"},
    {"cloth_face",
     AIR "face, coefficient: 1.2}}\n"
         "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1,0],\n"
         "  nodes: [31,23], mass: 0.9, pins: [corners], springs: {structural:\n"
         "  {stiffness: 60, break_at: 1.02}, shear: {stiffness: 30, yield_at: 0.01}}}]\n"},
    {"ring", AIR "quadratic}}\n"
                 "bodies: [{name: b, type: ring, center: [0,1,0], radius: 1, nodes: 400, mass: 4,\n"
                 "  springs: {edges: {stiffness: 400, damping: 0.05}},\n"
                 "  pressure: {amount: 5, inflate: 0.05}}]\n"},
    {"quad",
     AIR "face}}\n"
         "bodies: [{name: b, type: quad, origin: [0,1,0], u: [1,0,0], v: [0,1,0], mass: 1,\n"
         "  springs: {sides: " SOFT ", diagonals: " SOFT "}, velocity: [1,2,3]}]\n"},
    {"sphere", AIR "quadratic}}\n"
                   "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1,\n"
                   "  subdivisions: 3, mass: 2, springs: {edges: {stiffness: 100, damping: 0.1},\n"
                   "  bend: {stiffness: 10}}, pressure: {amount: 60, inflate: 0.1, gamma: 1.4}}]\n"
                   "colliders: [{type: plane, point: [0,0.2,0], normal: [0,1,0], stiffness: 100},\n"
                   "  {type: sphere, center: [1,1,0], radius: 0.3, stiffness: 50,\n"
                   "  velocity: [-1,0,0]}]\n"},
    {"lattice", AIR "face}}\n"
                    "bodies: [{name: b, type: lattice, origin: [0,0.02,0], nodes: [9,8,7],\n"
                    "  spacing: 0.1, mass: 5, shells: 2, damping: 0.02, velocity: [0,-1,0],\n"
                    "  springs: {k1: {stiffness: 200}, k2: {stiffness: 100}, k3: {stiffness: 80},\n"
                    "  kb1: {stiffness: 30}, kb2: {stiffness: 20}, kb3: {stiffness: 10}}}]\n"
                    "colliders: [{type: room, min: [-1,0,-1], max: [0.78,5,5],\n"
                    "  response: project, keep: 0.8}]\n"},
    {"elastic", "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.002}\n"
                "bodies: [{name: b, type: lattice, origin: [0,0.02,0], nodes: [9,8,7],\n"
                "  spacing: 0.1, elastic: {young: 5.0e+3, density: 10}, damping_ratio: 0.02,\n"
                "  velocity: [0,-1,0]}]\n"
                "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 100}]\n"},
    {"mesh",
     AIR "node, coefficient: 0.1}}\n"
         "bodies: [{name: b, type: mesh, file: '" TAUT_TEST_SOURCE "/scenes/meshes/cube.asc',\n"
         "  mass: 2, springs: {edges: " SOFT ", bend: " SOFT "},\n"
         "  pressure: {amount: 10, volume: box}, rotate: [10,20,30]}]\n"},
    {"fabric",
     AIR "face, coefficient: 1.2}}\n"
         "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.6,0,0], v: [0,-1.2,0],\n"
         "  nodes: [33,24], pins: [top], damping_ratio: 0.05, velocity: [0,0,1],\n"
         "  fabric: {areal_density: 0.5, warp: 60, weft: 40, shear: 10, coupling: 10}}]\n"
         "colliders: [{type: plane, point: [0,0.9,0], normal: [0,1,0], stiffness: 50}]\n"},
    {"several", "environment: {gravity: [0,-9.81,0]}\n"
                "bodies: [{name: o, type: oscillator, anchor: [0,0,0], axis: [0,-1,0],\n"
                "  amplitude: 0.1, mass: 1, stiffness: 50},\n"
                "  {name: c, type: oscillator, model: closed_form, anchor: [1,0,0],\n"
                "  axis: [0,-1,0], amplitude: 0.1, mass: 1, stiffness: 50},\n"
                "  {name: p, type: pendulum, pivot: [0,2,0], length: 1, angle: 30, mass: 1,\n"
                "  stiffness: 5000, direction: [1,0,0]},\n"
                "  {name: e, type: pendulum, model: equation, pivot: [0,2,0], length: 1,\n"
                "  angle: 30, mass: 1, direction: [1,0,0]},\n"
                "  {name: n, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\n"
                "  node_mass: [1,2,3,4], stiffness: 100, rest_length: 1.1,\n"
                "  springs: [[0,1,{}],[0,2,{}],[3,0,{law: tension_only}],\n"
                "  [2,1,{law: compression_only}],[3,2,{}]]}]\n"},
};

const size_t sample_count = sizeof samples / sizeof *samples;

const char *const busy_text =
    "precision: %s\nsimulation: {integrator: %s, dt: %s%s}\n"
    "environment: {gravity: [0.3,-9.81,0.1], air_drag: 0.02, wind: {velocity: [3,1,-2],\n"
    "  gusts: [{amplitude: [9,0,0], period: 0.02, phase: 40}]}}\n"
    "bodies: [{name: b, type: sphere, center: [0.1,0.9,0.3], radius: 1, subdivisions: 2, mass: 2,\n"
    "  velocity: [1,2,3], springs: {edges: {stiffness: 300, damping: 0.3, yield_at: 0.002},\n"
    "  bend: {stiffness: 20, damping_law: full, damping: 0.1, break_at: 1.005}},\n"
    "  pressure: {amount: 60, inflate: 0.02}, pins: [0, 5],\n"
    "  drives: [{node: 17, velocity: [[0, [0,1,0]], [0.0102, [1,0,0]], [0.0153, [0,0,2]]]}]},\n"
    "  {name: c, type: cloth, origin: [3,0,0], u: [1,0,0], v: [0,1,0], nodes: [20,9], mass: 1,\n"
    "  pins: [left], velocity: [3,0,0], springs: {structural: {stiffness: 50, yield_at: 0.001,\n"
    "  break_at: 1.06}, shear: {stiffness: 20}}},\n"
    "  {name: e, type: pendulum, model: equation, pivot: [0,2,0], length: 1, angle: 30, mass: 1,\n"
    "  direction: [1,0,0]}, {name: o, type: oscillator, model: closed_form, anchor: [1,0,0],\n"
    "  axis: [0,-1,0], amplitude: 0.1, mass: 1, stiffness: 50}]\n"
    "colliders: [{type: plane, point: [0,0.2,0], normal: [0,1,0], stiffness: 400, friction: 0.1,\n"
    "  absorption: 1}, {type: sphere, center: [1,1,0.3], radius: 0.5, stiffness: 300,\n"
    "  velocity: [-2,0,0]}%s]\n";

const char *precision_number(size_t number)
{
    static const enum precision precisions[] = {PRECISION_SINGLE, PRECISION_DOUBLE,
                                                PRECISION_MIXED};
    return precision_name(precisions[number % 3]);
}

taut_solver *sample_solver(const struct sample *sample, const char *precision,
                           const char *integrator, const struct solver_options *options)
{
    return solver_from(scene_of("precision: %s\n"
                                "simulation: {integrator: %s, dt: 0.0005, steps: 1}\n%s",
                                precision, integrator, sample->text),
                       options);
}

taut_solver *star_solver(int arms, const struct solver_options *options)
{
    size_t capacity = 200 * ((size_t)arms + 1);
    char *nodes = calloc(capacity, 1), *springs = calloc(capacity, 1);
    assert_non_null(nodes);
    assert_non_null(springs);
    size_t node_length = 0, spring_length = 0;
    uint64_t seed = 41;
    for (int arm = 0; arm < arms; arm++) {
        node_length +=
            (size_t)snprintf(nodes + node_length, capacity - node_length, "[%.3f,%.3f,%.3f],",
                             next_random(&seed), next_random(&seed), next_random(&seed));
        spring_length += (size_t)snprintf(springs + spring_length, capacity - spring_length,
                                          "%s[%d,%d,{}]", arm ? "," : "", arm, arms);
    }
    taut_scene *scene =
        scene_of("precision: single\nsimulation: {dt: 0.0005, steps: 1}\n"
                 "environment: {gravity: [0,-9.81,0]}\n"
                 "bodies: [{name: star, type: network, nodes: [%s[0,0,0]], node_mass: 0.1,\n"
                 "  stiffness: 7, damping: 0.01, rest_length: 0.4, springs: [%s]}]\n",
                 nodes, springs);
    free(nodes);
    free(springs);
    return solver_from(scene, options);
}
