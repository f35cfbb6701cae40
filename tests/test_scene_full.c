// The reader on a scene that has every key: every field is checked.
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/schema/schema.h"
#include "scene_fixture.h"

static taut_scene *scene;

static int load_full(void **state)
{
    (void)state;
    struct diagnostics diagnostics = {0};
    scene = scene_read_file(TAUT_TEST_DATA "/full/full.yaml", NULL, 0, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++) {
        char *message = diagnostic_render(&diagnostics.items[i]);
        print_error("%s", message ? message : "out of memory\n");
        free(message);
    }
    diagnostics_free(&diagnostics);
    return scene ? 0 : -1;
}

static int release_full(void **state)
{
    (void)state;
    scene_free(scene);
    return 0;
}

static void expect_vector(vec3 v, double x, double y, double z)
{
    assert_true(v.x == x && v.y == y && v.z == z);
}

static void expect_material(const struct material *m, double stiffness, double damping,
                            enum damping_law damping_law, enum spring_law law)
{
    assert_true(m->stiffness == stiffness);
    assert_true(m->damping == damping);
    assert_int_equal(m->damping_law, damping_law);
    assert_int_equal(m->law, law);
}

static void expect_kinds(const struct scene_body *body, unsigned present)
{
    for (size_t i = 0; i < SPRING_KINDS_MAX; i++)
        assert_int_equal(body->kinds[i].present, present >> i & 1);
}

static void test_head(void **state)
{
    (void)state;
    assert_string_equal(scene->name, "full");
    assert_string_equal(scene->file, TAUT_TEST_DATA "/full/full.yaml");
    assert_string_equal(scene->title, "Everything at once");
    assert_int_equal(scene->precision, PRECISION_DOUBLE);
    const struct scene_simulation *simulation = &scene->simulation;
    assert_int_equal(simulation->integrator, INTEGRATOR_SYMPLECTIC_EULER);
    assert_true(simulation->dt == 0.0005);
    assert_false(simulation->dt_auto);
    assert_true(simulation->has_duration);
    assert_true(simulation->duration == 4);
    assert_true(simulation->keep_velocity == 0.999);
    assert_true(simulation->position_step == 0.00025);
    assert_int_equal(simulation->dt_at.line, 7);
    assert_int_equal(simulation->dt_at.column, 7);
}

static void test_environment(void **state)
{
    (void)state;
    const struct scene_environment *environment = &scene->environment;
    expect_vector(environment->gravity, 0, -9.81, 0.5);
    assert_true(environment->air_drag == 0.02);
    const struct scene_wind *wind = &environment->wind;
    assert_true(wind->present);
    expect_vector(wind->velocity, 6, 0, 1);
    assert_int_equal(wind->law, WIND_NODE);
    assert_true(wind->coefficient == 1.2);
    assert_true(wind->density == 1.225 && wind->drag == 1);
    assert_false(wind->relative);
    assert_int_equal(wind->gust_count, 2);
    expect_vector(wind->gusts[0].amplitude, 2, 0, 0);
    assert_true(wind->gusts[0].period == 1.5 && wind->gusts[0].phase == 30);
    expect_vector(wind->gusts[1].amplitude, 0, 1, 0);
    assert_true(wind->gusts[1].period == 0.5 && wind->gusts[1].phase == 0);
}

static void test_cloth(void **state)
{
    (void)state;
    const struct scene_body *flag = find_body(scene, "flag");
    assert_int_equal(flag->type, BODY_CLOTH);
    assert_int_equal(flag->at.line, 29);
    expect_vector(flag->shape.cloth.origin, 0, 2, 0);
    expect_vector(flag->shape.cloth.u, 1.5, 0, 0);
    expect_vector(flag->shape.cloth.v, 0, -1, 0);
    assert_int_equal(flag->shape.cloth.nodes_u, 12);
    assert_int_equal(flag->shape.cloth.nodes_v, 8);
    assert_false(flag->mass_per_node);
    assert_true(flag->mass == 0.3);
    expect_vector(flag->velocity, 1, 2, 3);
    expect_vector(flag->translate, 4, 5, 6);
    expect_vector(flag->rotate, 10, 20, 30);
    expect_kinds(flag, 7);
    // An alias and a name are equivalent; keys of a material override the body's common keys.
    expect_material(&flag->kinds[0].material, 400, 0.2, DAMPING_FULL, LAW_TENSION_ONLY);
    expect_material(&flag->kinds[1].material, 400, 0.2, DAMPING_FULL, LAW_TENSION_ONLY);
    expect_material(&flag->kinds[2].material, 40, 0.7, DAMPING_AXIAL, LAW_COMPRESSION_ONLY);
    assert_false(flag->kinds[0].material.has_rest_length);
    assert_true(flag->kinds[2].material.has_rest_length);
    assert_true(flag->kinds[2].material.rest_length == 0.25);
    assert_true(isinf(flag->kinds[0].material.break_at));
    assert_true(isinf(flag->kinds[0].material.yield_at));
    assert_false(flag->pressure.present);
    const struct scene_body *net = find_body(scene, "net");
    expect_kinds(net, 8);
    expect_material(&net->kinds[3].material, 7, 0, DAMPING_AXIAL, LAW_LINEAR);
}

static void test_pins(void **state)
{
    (void)state;
    const struct scene_body *flag = find_body(scene, "flag");
    static const enum selector_type types[] = {SELECT_LEFT, SELECT_CORNERS, SELECT_EDGES,
                                               SELECT_NODE, SELECT_LAST,    SELECT_BOX};
    assert_int_equal(flag->pin_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(flag->pins[i].type, types[i]);
    assert_int_equal(flag->pins[3].node, 13);
    expect_vector(flag->pins[5].min, 0, 0, 0);
    expect_vector(flag->pins[5].max, 1, 2, 3);
    assert_int_equal(flag->pins[0].at.line, 39);
    assert_int_equal(flag->pins[0].at.column, 12);
    const struct scene_body *jelly = find_body(scene, "jelly");
    assert_int_equal(jelly->pin_count, 2);
    assert_int_equal(jelly->pins[0].type, SELECT_TOP);
    assert_int_equal(jelly->pins[1].type, SELECT_BACK);
    // The number of nodes of a mesh is not known yet.
    assert_int_equal(find_body(scene, "duck")->pins[0].node, 100);
}

static void test_rope(void **state)
{
    (void)state;
    const struct scene_body *rope = find_body(scene, "rope");
    assert_int_equal(rope->type, BODY_ROPE);
    expect_vector(rope->shape.rope.from, 0, 0, 0);
    expect_vector(rope->shape.rope.to, 4, 0, 0);
    assert_int_equal(rope->shape.rope.nodes, 80);
    assert_int_equal(rope->shape.rope.links, ROPE_SKIP);
    assert_true(rope->mass_per_node);
    assert_true(rope->node_mass == 0.05);
    expect_kinds(rope, 3);
    expect_material(&rope->kinds[1].material, 10000, 0.2, DAMPING_FULL, LAW_LINEAR);
    assert_true(rope->kinds[1].material.break_at == 1.5);
    assert_true(rope->kinds[1].material.yield_at == 0.1);
    assert_int_equal(find_body(scene, "web")->shape.rope.links, ROPE_ALL);
    expect_kinds(find_body(scene, "web"), 4);
}

static void test_drives(void **state)
{
    (void)state;
    const struct scene_body *rope = find_body(scene, "rope");
    assert_int_equal(rope->drive_count, 2);
    const struct scene_drive *drive = &rope->drives[0];
    assert_int_equal(drive->node.type, SELECT_FIRST);
    assert_int_equal(drive->piece_count, 3);
    assert_true(drive->pieces[0].start == 0 && drive->pieces[1].start == 1.5);
    expect_vector(drive->pieces[0].velocity, 0, 0, 1);
    expect_vector(drive->pieces[1].velocity, 1, 0, 0);
    drive = &rope->drives[1];
    assert_int_equal(drive->node.type, SELECT_NODE);
    assert_int_equal(drive->node.node, 7);
    assert_int_equal(drive->piece_count, 1);
    assert_true(drive->pieces[0].start == 0);
    expect_vector(drive->pieces[0].velocity, 0, 1, 0);
    assert_false(drive->turns || drive->nodes);
}

static void test_plane_bodies(void **state)
{
    (void)state;
    const struct scene_body *hoop = find_body(scene, "hoop");
    assert_int_equal(hoop->type, BODY_RING);
    expect_vector(hoop->shape.ring.centre, 1, 2, 3);
    assert_true(hoop->shape.ring.radius == 0.5);
    assert_int_equal(hoop->shape.ring.nodes, 24);
    expect_kinds(hoop, 1);
    assert_true(hoop->pressure.present);
    assert_true(hoop->pressure.amount == 60 && hoop->pressure.atmosphere == 5);
    assert_true(hoop->pressure.gamma == 1.4 && hoop->pressure.inflate == 0.01);
    assert_int_equal(hoop->pressure.volume, VOLUME_ELLIPSOID);
    assert_int_equal(hoop->pressure.at.line, 51);
    const struct scene_body *plate = find_body(scene, "plate");
    assert_int_equal(plate->type, BODY_QUAD);
    expect_vector(plate->shape.quad.origin, 1, 1, 0);
    expect_vector(plate->shape.quad.u, 1, 0, 0);
    expect_vector(plate->shape.quad.v, 0, 2, 0);
    expect_kinds(plate, 3);
    assert_true(plate->kinds[1].material.stiffness == 6);
}

static void test_solid_bodies(void **state)
{
    (void)state;
    const struct scene_body *ball = find_body(scene, "ball");
    assert_int_equal(ball->type, BODY_SPHERE);
    expect_vector(ball->shape.sphere.centre, 0, 3, 0);
    assert_true(ball->shape.sphere.radius == 0.75);
    assert_int_equal(ball->shape.sphere.subdivisions, 3);
    expect_kinds(ball, 5); // a kind that is not named is not built
    assert_true(ball->pressure.gamma == 1 && ball->pressure.inflate == 1);
    const struct scene_body *jelly = find_body(scene, "jelly");
    assert_int_equal(jelly->type, BODY_LATTICE);
    expect_vector(jelly->shape.lattice.origin, 0, 1, 0);
    assert_int_equal(jelly->shape.lattice.nodes_x, 5);
    assert_int_equal(jelly->shape.lattice.nodes_y, 6);
    assert_int_equal(jelly->shape.lattice.nodes_z, 7);
    assert_true(jelly->shape.lattice.spacing == 0.05);
    assert_int_equal(jelly->shape.lattice.shells, 2);
    expect_kinds(jelly, 1 | 2 | 32);
    expect_material(&jelly->kinds[5].material, 60, 0.5, DAMPING_AXIAL, LAW_LINEAR);
    assert_int_equal(find_body(scene, "cube")->shape.lattice.shells, 1);
    expect_kinds(find_body(scene, "cube"), 7);
    const struct scene_body *duck = find_body(scene, "duck");
    assert_int_equal(duck->type, BODY_MESH);
    assert_string_equal(duck->shape.mesh.path, TAUT_TEST_DATA "/full/tetrahedron.obj");
    assert_true(duck->shape.mesh.scale == 2);
    assert_int_equal(duck->shape.mesh.at.column, 36);
    expect_kinds(duck, 1);
}

static void test_network(void **state)
{
    (void)state;
    const struct scene_network *network = &find_body(scene, "truss")->shape.network;
    assert_int_equal(network->node_count, 3);
    expect_vector(network->positions[2], 1, 2, 3);
    expect_vector(network->velocities[2], 7, 8, 9);
    assert_true(network->masses[0] == 1 && network->masses[1] == 2 && network->masses[2] == 3);
    assert_int_equal(network->spring_count, 4);
    assert_int_equal(network->springs[1][0], 1);
    assert_int_equal(network->springs[1][1], 2);
    assert_int_equal(network->spring_marks[1].column, 58);
    assert_int_equal(network->material_count, 3);
    const struct material *materials = network->materials;
    const uint32_t *index = network->spring_materials;
    expect_material(&materials[index[0]], 100, 0.5, DAMPING_AXIAL, LAW_LINEAR);
    assert_true(materials[index[0]].has_rest_length && materials[index[0]].rest_length == 1);
    expect_material(&materials[index[1]], 11, 0.5, DAMPING_AXIAL, LAW_LINEAR);
    expect_material(&materials[index[2]], 400, 0.2, DAMPING_FULL, LAW_TENSION_ONLY);
    assert_int_equal(index[3], index[1]); // equal materials are stored once
    assert_null(network->nodes_path);
    const struct scene_network *cloud = &find_body(scene, "cloud")->shape.network;
    assert_true(cloud->masses[0] == 1.5 && cloud->masses[1] == 1.5);
    assert_int_equal(cloud->spring_count, 0);
    assert_null(cloud->velocities);
    const struct scene_body *big = find_body(scene, "big");
    assert_string_equal(big->shape.network.nodes_path, TAUT_TEST_DATA "/full/nodes.csv");
    assert_string_equal(big->shape.network.springs_path, TAUT_TEST_DATA "/full/springs.csv");
    assert_int_equal(big->shape.network.node_count, 0);
    assert_true(big->common.damping == 0.25);
}

static void test_single_masses(void **state)
{
    (void)state;
    const struct scene_body *bob = find_body(scene, "bob");
    assert_int_equal(bob->type, BODY_OSCILLATOR);
    assert_int_equal(bob->shape.oscillator.model, OSCILLATOR_CLOSED_FORM);
    expect_vector(bob->shape.oscillator.anchor, 1, 0, 0);
    expect_vector(bob->shape.oscillator.axis, 0, 0, -1); // of length 1
    assert_true(bob->shape.oscillator.amplitude == 0.1 && bob->shape.oscillator.phase == 45);
    assert_true(bob->mass == 2);
    expect_material(&bob->kinds[0].material, 50, 0.3, DAMPING_AXIAL, LAW_LINEAR);
    assert_true(bob->common.has_rest_length && bob->common.rest_length == 1.5);
    const struct scene_body *clock = find_body(scene, "clock");
    assert_int_equal(clock->type, BODY_PENDULUM);
    assert_int_equal(clock->shape.pendulum.model, PENDULUM_SMALL_ANGLE);
    expect_vector(clock->shape.pendulum.pivot, 0, 1, 0);
    expect_vector(clock->shape.pendulum.direction, 0, 0, 1);
    assert_true(clock->shape.pendulum.length == 2 && clock->shape.pendulum.angle == 5);
    assert_true(clock->mass == 0.5);
}

static void test_colliders(void **state)
{
    (void)state;
    assert_int_equal(scene->collider_count, 5);
    const struct scene_collider *plane = &scene->colliders[0];
    assert_int_equal(plane->type, COLLIDER_PLANE);
    assert_int_equal(plane->response, RESPONSE_PENALTY);
    expect_vector(plane->point, 0, -1.5, 0);
    assert_true(fabs(plane->normal.y - 0.6) < 1e-15 && fabs(plane->normal.z - 0.8) < 1e-15);
    assert_true(plane->stiffness == 100 && plane->friction == 0.2 && plane->absorption == 2);
    assert_true(plane->blocks_drives);
    const struct scene_collider *sphere = &scene->colliders[1];
    assert_int_equal(sphere->type, COLLIDER_SPHERE);
    expect_vector(sphere->centre, 1, 2, 3);
    expect_vector(sphere->velocity, 0, 0, 1);
    assert_true(sphere->radius == 1.25 && sphere->stiffness == 5000);
    assert_int_equal(sphere->at.line, 75);
    const struct scene_collider *room = &scene->colliders[2];
    assert_int_equal(room->type, COLLIDER_ROOM);
    assert_int_equal(room->response, RESPONSE_PROJECT);
    expect_vector(room->min, -2, 0, -2);
    expect_vector(room->max, 2, 4, 2);
    assert_true(room->keep == 0.8);
    // Defaults.
    expect_vector(scene->colliders[3].point, 0, 0, 0);
    expect_vector(scene->colliders[3].normal, 0, 1, 0);
    assert_false(scene->colliders[3].blocks_drives);
    assert_true(scene->colliders[3].keep == 1);
    assert_false(scene->colliders[3].coulomb.present);
    assert_true(scene->colliders[4].coulomb.static_coefficient == 0.5);
    assert_true(scene->colliders[4].coulomb.kinetic_coefficient == 0.25);
}

static void test_output(void **state)
{
    (void)state;
    const struct scene_output *output = &scene->output;
    assert_true(output->has_every);
    assert_int_equal(output->every_steps, 40);
    assert_true(output->vtp && output->pc2);
    assert_true(output->vtp_springs && !output->vtp_forces);
    assert_false(output->work);
    assert_int_equal(output->probe_count, 3);
    assert_string_equal(scene->bodies[output->probes[0].body].name, "rope");
    assert_int_equal(output->probes[0].node.type, SELECT_LAST);
    assert_int_equal(output->probes[0].every_steps, 1);
    assert_string_equal(scene->bodies[output->probes[1].body].name, "truss");
    assert_int_equal(output->probes[1].node.type, SELECT_NODE);
    assert_int_equal(output->probes[1].node.node, 2);
    assert_int_equal(output->probes[1].every_steps, 10);
    assert_int_equal(output->probes[2].node.type, SELECT_FIRST);
}

// The resolved text of every scene can be read back.
static void test_resolved(void **state)
{
    (void)state;
    char *first = scene_resolved_yaml(scene);
    assert_non_null(first);
    assert_non_null(strstr(first, "\"" TAUT_TEST_DATA "/full/tetrahedron.obj\""));
    assert_non_null(strstr(first, "\"" TAUT_TEST_DATA "/full/nodes.csv\""));
    assert_null(strchr(first, '&'));
    assert_null(strchr(first, '*'));
    taut_scene *again = read_sound(first, NULL);
    char *second = scene_resolved_yaml(again);
    assert_string_equal(first, second);
    assert_int_equal(again->body_count, scene->body_count);
    expect_material(&find_body(again, "flag")->kinds[1].material, 400, 0.2, DAMPING_FULL,
                    LAW_TENSION_ONLY);
    assert_string_equal(find_body(again, "duck")->shape.mesh.path,
                        find_body(scene, "duck")->shape.mesh.path);
    free(first);
    free(second);
    scene_free(again);
}

// Whether a text has the key, with its colon.
static bool has_key(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key))
        if (at[length] == ':' && strchr(" {\n", at[-1]))
            return true;
    return false;
}

// The scenes of this folder, which are sound, have every key of the schema: ./dev fuzz begins with
// them, and alters the inputs that it has seen.
static void test_every_key_is_in_a_scene(void **state)
{
    (void)state;
    static const char *const names[] = {"full", "materials", "implicit", "xpbd", "contact"};
    static char texts[sizeof names / sizeof *names][8192];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text_format("%s/full/%s.yaml", TAUT_TEST_DATA, names[i]);
        struct diagnostics diagnostics = {0};
        taut_scene *sound = scene_read_file(path, NULL, 0, &diagnostics);
        FILE *file = fopen(path, "rb");
        assert_non_null(sound);
        assert_non_null(file);
        const size_t size = fread(texts[i], 1, sizeof texts[i] - 1, file);
        assert_in_range(size, 1, sizeof texts[i] - 2);
        fclose(file);
        scene_free(sound);
        diagnostics_free(&diagnostics);
        free(path);
    }
    for (size_t t = 0; schema_table_at(t); t++) {
        const struct schema_table *table = schema_table_at(t);
        for (size_t k = 0; k < table->count; k++) {
            bool found = false;
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                found |= has_key(texts[i], table->keys[k].name);
            if (!found)
                fail_msg("no scene of tests/data/full has the key '%s' of %s", table->keys[k].name,
                         table->what);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),         cmocka_unit_test(test_environment),
        cmocka_unit_test(test_cloth),        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_rope),         cmocka_unit_test(test_drives),
        cmocka_unit_test(test_plane_bodies), cmocka_unit_test(test_solid_bodies),
        cmocka_unit_test(test_network),      cmocka_unit_test(test_single_masses),
        cmocka_unit_test(test_colliders),    cmocka_unit_test(test_output),
        cmocka_unit_test(test_resolved),     cmocka_unit_test(test_every_key_is_in_a_scene),
    };
    return cmocka_run_group_tests_name("scene_full", tests, load_full, release_full);
}
