// Every force that has an energy is minus its gradient: forces are compared with central
// differences of the energy table, with all nodes displaced at random, for all coordinates.
#include "physics.h"

#include <math.h>
#include <stdlib.h>

static void displace(taut_solver *solver, vec3 most, uint64_t seed)
{
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = vec3_make(most.x * next_random(&seed), most.y * next_random(&seed),
                            most.z * next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), by));
        put_velocity(solver, i, vec3_make(0, 0, 0));
    }
}

static double energy_at(taut_solver *solver, uint64_t node, vec3 position)
{
    put(solver, node, position);
    return energy_of(solver).total;
}

static vec3 minus_gradient(taut_solver *solver, uint64_t node, double epsilon)
{
    vec3 at = position_of(solver, node);
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double slopes[3];
    for (int axis = 0; axis < 3; axis++) {
        vec3 step = vec3_scale(epsilon, axes[axis]);
        double ahead = energy_at(solver, node, vec3_add(at, step));
        double behind = energy_at(solver, node, vec3_subtract(at, step));
        slopes[axis] = (behind - ahead) / (2 * epsilon);
    }
    put(solver, node, at);
    return vec3_make(slopes[0], slopes[1], slopes[2]);
}

// `tolerance` is a fraction of the greatest force, which is returned.
static double assert_gradient(taut_solver *solver, double tolerance)
{
    uint64_t count = taut_solver_node_count(solver);
    double *forces = all_forces(solver), greatest = 0;
    for (uint64_t i = 0; i < 3 * count; i++)
        greatest = fmax(greatest, fabs(forces[i]));
    assert_true(greatest > 1e-3);
    for (uint64_t i = 0; i < count; i++) {
        vec3 force = vec3_make(forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]);
        assert_vector_near(minus_gradient(solver, i, 1e-6), force, tolerance * greatest);
    }
    free(forces);
    return greatest;
}

static void test_springs_of_each_law(void **state)
{
    (void)state;
    static const char *const laws[] = {"linear", "tension_only", "compression_only"};
    double greatest[3];
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler",
                   "0.001") "bodies: [{name: b, type: lattice, origin: [0,0,0], nodes: [3,3,3],\n"
                            "  spacing: 1, node_mass: 1, law: %s, springs: {k1: {stiffness: 500},\n"
                            "  k2: {stiffness: 400}, k3: {stiffness: 300}}}]\n",
            laws[i]);
        displace(solver, vec3_make(0.4, 0.4, 0.4), 11);
        greatest[i] = assert_gradient(solver, 1e-7);
        taut_solver_destroy(solver);
    }
    assert_true(greatest[0] != greatest[1] && greatest[0] != greatest[2]); // the laws differ
}

static void test_springs_without_length(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\n"
                 "  node_mass: [1,1,1,1], rest_length: 0, stiffness: 200,\n"
                 "  springs: [[0,1,{}],[1,2,{}],[2,3,{}],[3,0,{stiffness: 50, rest_length: "
                 "2}]]}]\n");
    displace(solver, vec3_make(0.4, 0.4, 0.4), 11);
    assert_gradient(solver, 1e-7);
    taut_solver_destroy(solver);
}

static void test_gravity(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "environment: {gravity: [1.5,-9.81,4]}\n"
                 "bodies: [{name: b, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: [2,0.5],\n"
                 "  springs: []}]\n");
    assert_gradient(solver, 1e-7);
    assert_vector_near(force_on(solver, 0), vec3_make(3, -19.62, 8), 1e-14);
    assert_vector_near(force_on(solver, 1), vec3_make(0.75, -4.905, 2), 1e-14);
    taut_solver_destroy(solver);
}

static const char *const gases[] = {"amount: 60", "amount: 60, gamma: 1.4",
                                    "amount: 60, atmosphere: 25",
                                    "amount: 60, atmosphere: 25, gamma: 1.4"};

static void test_gas_in_a_closed_surface(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = solver_of(
            HEADER(
                "symplectic_euler",
                "0.001") "bodies: [{name: b, type: sphere, center: [2,0,0], radius: 1, mass: 1,\n"
                         "  subdivisions: 1, springs: {edges: {stiffness: 0}},\n"
                         "  pressure: {%s, inflate: 1}}]\n",
            gases[i]);
        displace(solver, vec3_make(0.2, 0.2, 0.2), 5);
        assert_gradient(solver, 1e-6);
        taut_solver_destroy(solver);
    }
}

static void test_gas_in_a_ring(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler",
                   "0.001") "bodies: [{name: b, type: ring, center: [2,0,0], radius: 1, mass: 1,\n"
                            "  nodes: 12, springs: {edges: {stiffness: 0}},\n"
                            "  pressure: {%s, inflate: 1}}]\n",
            gases[i]);
        displace(solver, vec3_make(0.15, 0.15, 0), 5);
        assert_gradient(solver, 1e-6);
        taut_solver_destroy(solver);
    }
}

// Also tests gas that is pumped: energy and force belong to the same amount.
static void test_gas_that_is_pumped(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("symplectic_euler",
               "1e-6") "bodies: [{name: b, type: sphere, center: [2,0,0], radius: 1, mass: 1,\n"
                       "  subdivisions: 1, springs: {edges: {stiffness: 0}},\n"
                       "  pressure: {amount: 60, inflate: 0.01}}]\n");
    advance(solver, 9);
    displace(solver, vec3_make(0.2, 0.2, 0.2), 5);
    assert_gradient(solver, 1e-6);
    taut_solver_destroy(solver);
}

// Nodes inside and outside of each collider; in the room's corner three walls act at once.
static void test_penalty_of_colliders(void **state)
{
    (void)state;
    static const char *const colliders[] = {
        "{type: plane, point: [0,0.1,0], normal: [1,2,-1], stiffness: 700}",
        "{type: sphere, center: [0.1,0,0], radius: 0.6, stiffness: 700}",
        "{type: room, min: [-0.3,-0.3,-0.3], max: [0.4,0.3,0.3], stiffness: 700}",
    };
    for (int i = 0; i < 3; i++) {
        taut_solver *solver = solver_of(
            HEADER("symplectic_euler",
                   "0.001") "bodies: [{name: b, type: lattice, origin: [-0.5,-0.5,-0.5], "
                            "node_mass: 1,\n"
                            "  nodes: [3,3,3], spacing: 0.5, springs: {k1: {stiffness: 0}}}]\n"
                            "colliders: [%s]\n",
            colliders[i]);
        displace(solver, vec3_make(0.1, 0.1, 0.1), 3);
        assert_gradient(solver, 1e-7);
        assert_true(energy_of(solver).contact > 0);
        taut_solver_destroy(solver);
    }
}

// Ropes side by side, parallel and turned by up to the angle from which on only their closest
// points count, with nodes beside each other and between those of the other rope.
static void test_contact_of_ropes_side_by_side(void **state)
{
    (void)state;
    static const double moved[] = {0, 1e-5, 1e-4, 3e-4, 6e-4}, offsets[] = {0, 0.001, 0.021};
    for (int i = 0; i < 15; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: symplectic_euler, dt: 1e-9, steps: 1}\n"
            "contact: {thickness: 0.004, stiffness: 1e4}\n"
            "bodies:\n- {name: a, type: rope, from: [0, 0, 0], to: [0.2, 0, 0], nodes: 5,\n"
            "   mass: 0.1, stiffness: 0}\n"
            "- {name: b, type: rope, from: [" NUM ", 0.0045, 0.001], to: [" NUM
            ", 0.0045, 0.001],\n   nodes: 5, mass: 0.1, stiffness: 0}\n",
            offsets[i % 3], 0.2 + offsets[i % 3]);
        displace(solver, vec3_make(1e-4, moved[i / 3], moved[i / 3]), 7);
        assert_true(energy_of(solver).contact > 0);
        vec3 expected[10];
        double greatest = 0;
        for (uint64_t node = 0; node < 10; node++) {
            expected[node] = minus_gradient(solver, node, 1e-7);
            greatest = fmax(greatest, vec3_length(expected[node]));
        }
        advance(solver, 1); // from rest
        for (uint64_t node = 0; node < 10; node++)
            assert_vector_near(vec3_scale(0.02 / 1e-9, velocity_of(solver, node)), expected[node],
                               1e-5 * greatest);
        taut_solver_destroy(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_springs_of_each_law),
        cmocka_unit_test(test_springs_without_length),
        cmocka_unit_test(test_gravity),
        cmocka_unit_test(test_gas_in_a_closed_surface),
        cmocka_unit_test(test_gas_in_a_ring),
        cmocka_unit_test(test_gas_that_is_pumped),
        cmocka_unit_test(test_penalty_of_colliders),
        cmocka_unit_test(test_contact_of_ropes_side_by_side),
    };
    return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
