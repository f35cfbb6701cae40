// taut check-intersections: counts the pairs of triangles that cross in the frames of a run, in a
// scene, or in a mesh. Reads surfaces and positions, and prints; intersections/ finds the pairs.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/frame_reader.h"
#include "cli/human.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "intersections/intersections.h"
#include "output/vtp_reader.h"
#include "scene/collider_pose.h"
#include "scene/mesh/mesh.h"

struct checked_body {
    const char *name;
    uint64_t first_node, first_triangle;
};

// One frame that was checked. Pairs of triangles have their positions, which the next frame
// overwrites.
struct checked {
    uint64_t number;
    double time; // s
    struct intersections found;
    double (*positions)[2][3][3]; // of each of found.pairs, m
};

struct check {
    const struct options *options;
    struct frame_reader reader; // not for a mesh
    struct frame frame;
    struct mesh mesh;
    struct vtp_frame file; // a single frame
    double *own_positions; // of that file; or of nodes and of mesh colliders, of a scene with these
    uint64_t own_count;    // nodes in it
    struct checked_body *bodies;
    size_t body_count;
    struct intersection_surface surface;
    uint32_t (*triangles)[3]; // those of the surface
    uint32_t *triangle_bodies;
    int threads;
    struct checked *frames;
    size_t frame_count, frame_capacity;
    size_t planned; // frames to be checked
};

// ---- Surfaces

static taut_status allocate_surface(struct check *check, uint64_t triangles, size_t bodies,
                                    taut_error *error)
{
    check->surface.triangle_count = triangles;
    check->body_count = bodies;
    check->bodies = calloc(bodies + 1, sizeof *check->bodies);
    check->triangles = memory_allocate(NULL, triangles, sizeof *check->triangles);
    check->triangle_bodies = memory_allocate(NULL, triangles, sizeof *check->triangle_bodies);
    check->surface.triangles = (const uint32_t(*)[3])check->triangles;
    check->surface.bodies = check->triangle_bodies;
    if (!check->bodies || !check->triangles || !check->triangle_bodies)
        return fail_memory(error, "the surfaces");
    return TAUT_OK;
}

// Cloths, meshes, spheres and the hulls of lattices. The faces of plane bodies are edges.
static bool has_surface(const struct topology_body *body)
{
    return body->face_arity == 3;
}

// Mesh colliders count as bodies after those of the scene.
static void add_mesh_collider(struct check *check, const struct topology *topology, size_t number,
                              uint64_t *triangle)
{
    const struct topology_collider *mesh = &topology->mesh_colliders[number];
    const taut_scene *scene = check->reader.session.scene;
    const size_t body = topology->body_count + number;
    check->bodies[body] = (struct checked_body){scene->colliders[mesh->collider].mesh.path,
                                                mesh->first_node, *triangle};
    for (uint64_t i = 0; i < mesh->face_count; i++, ++*triangle) {
        memcpy(check->triangles[*triangle], topology->collider_faces[mesh->first_face + i],
               sizeof check->triangles[*triangle]);
        check->triangle_bodies[*triangle] = (uint32_t)body;
    }
}

static taut_status make_surface_of_scene(struct check *check, taut_error *error)
{
    const taut_solver *solver = check->reader.session.solver;
    const struct topology *topology = solver_topology(solver);
    uint64_t count = 0;
    for (size_t b = 0; b < topology->body_count; b++)
        count += has_surface(&topology->bodies[b]) ? topology->bodies[b].face_count : 0;
    const size_t meshes = topology->mesh_collider_count;
    const size_t bodies = topology->body_count + meshes;
    taut_status status =
        allocate_surface(check, count + topology->collider_face_count, bodies, error);
    uint64_t triangle = 0;
    for (size_t b = 0; b < topology->body_count && status == TAUT_OK; b++) {
        const struct topology_body *body = &topology->bodies[b];
        check->bodies[b] = (struct checked_body){body->name, body->first_node, triangle};
        for (uint64_t i = 0; has_surface(body) && i < body->face_count; i++, triangle++) {
            const struct face face = topology_body_face(topology, body, i);
            for (int corner = 0; corner < 3; corner++)
                check->triangles[triangle][corner] =
                    (uint32_t)topology_builder_node(topology, face.nodes[corner]);
            check->triangle_bodies[triangle] = (uint32_t)b;
        }
    }
    for (size_t m = 0; m < meshes && status == TAUT_OK; m++)
        add_mesh_collider(check, topology, m, &triangle);
    if (status == TAUT_OK)
        status = solver_make_frame(solver, FRAME_POSITIONS, &check->frame, error);
    check->surface.node_count = topology->node_count + topology->collider_node_count;
    check->surface.positions = check->frame.positions;
    if (status != TAUT_OK || meshes == 0)
        return status;
    check->own_count = check->surface.node_count;
    check->own_positions = memory_allocate(NULL, 3 * check->own_count, sizeof(double));
    check->surface.positions = check->own_positions;
    return check->own_positions ? TAUT_OK : fail_memory(error, "the surfaces");
}

// Positions of nodes, and of mesh colliders where they are at the time of the frame.
static void pose_mesh_colliders(struct check *check)
{
    const struct topology *topology = solver_topology(check->reader.session.solver);
    double *at = check->own_positions;
    if (topology->mesh_collider_count == 0)
        return;
    memcpy(at, check->frame.positions, 3 * (size_t)topology->node_count * sizeof *at);
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        const struct collider_pose pose =
            collider_pose_at(&topology->colliders[mesh->collider], check->frame.time, 0);
        for (uint64_t i = mesh->first_node; i < mesh->first_node + mesh->node_count; i++) {
            const double *p = topology->collider_points[i - topology->node_count];
            const vec3 point = collider_point(&pose, vec3_make(p[0], p[1], p[2]));
            at[3 * i] = point.x;
            at[3 * i + 1] = point.y;
            at[3 * i + 2] = point.z;
        }
    }
}

static taut_status make_surface_of_mesh(struct check *check, taut_error *error)
{
    const struct mesh *mesh = &check->mesh;
    taut_status status = allocate_surface(check, mesh->triangle_count, 1, error);
    if (status != TAUT_OK)
        return status;
    check->bodies[0].name = "mesh";
    for (uint64_t i = 0; i < mesh->triangle_count; i++)
        memcpy(check->triangles[i], mesh->triangles + 3 * i, sizeof check->triangles[i]);
    check->surface.node_count = mesh->vertex_count;
    check->surface.positions = mesh->vertices;
    return TAUT_OK;
}

// The bodies of a single frame have their names and nodes in the file.
static taut_status make_surface_of_file(struct check *check, taut_error *error)
{
    struct vtp_frame *file = &check->file;
    taut_status status = allocate_surface(check, file->polys, (size_t)file->name_count, error);
    if (status != TAUT_OK)
        return status;
    check->own_count = file->points;
    check->own_positions = memory_allocate(NULL, 3 * check->own_count, sizeof(double));
    uint32_t *node_bodies = memory_allocate(NULL, file->points, sizeof *node_bodies);
    if (!check->own_positions || !node_bodies)
        status = fail_memory(error, "a frame");
    check->surface.node_count = file->points;
    check->surface.positions = check->own_positions;
    if (status == TAUT_OK)
        status = vtp_frame_exact_positions(file, check->own_positions, error);
    if (status == TAUT_OK)
        status = vtp_frame_node_bodies(file, node_bodies, error);
    if (status == TAUT_OK)
        status = vtp_frame_triangles(file, check->triangles, check->triangle_bodies, error);
    for (size_t b = 0; b < check->body_count; b++)
        check->bodies[b].name = file->names[b] ? file->names[b] : "";
    // From the end, so that the first node and the first triangle of a body remain.
    for (uint64_t i = file->points; status == TAUT_OK && i > 0; i--)
        check->bodies[node_bodies[i - 1]].first_node = i - 1;
    for (uint64_t i = file->polys; status == TAUT_OK && i > 0; i--)
        check->bodies[check->triangle_bodies[i - 1]].first_triangle = i - 1;
    memory_release(NULL, node_bodies, file->points, sizeof *node_bodies);
    return status;
}

// ---- Checking

static bool is_stopped(void)
{
    return signals_caught() != 0;
}

static void show_frame(const struct check *check)
{
    if (check->options->quiet || check->planned < 2)
        return;
    char text[80];
    snprintf(text, sizeof text, "checking frame %zu of %zu", check->frame_count + 1,
             check->planned);
    live_line(text);
}

static taut_status keep_positions(const struct check *check, struct checked *frame,
                                  taut_error *error)
{
    const struct intersection_surface *surface = &check->surface;
    frame->positions = calloc(frame->found.pair_count + 1, sizeof *frame->positions);
    if (!frame->positions)
        return fail_memory(error, "the pairs of triangles");
    for (size_t i = 0; i < frame->found.pair_count; i++) {
        const uint32_t triangles[] = {frame->found.pairs[i].a, frame->found.pairs[i].b};
        for (int side = 0; side < 2; side++)
            for (int corner = 0; corner < 3; corner++)
                memcpy(frame->positions[i][side][corner],
                       surface->positions + 3 * (size_t)surface->triangles[triangles[side]][corner],
                       3 * sizeof(double));
    }
    return TAUT_OK;
}

// Checks the surfaces at their present positions.
static taut_status check_frame(struct check *check, uint64_t number, double time, taut_error *error)
{
    const struct intersection_options wanted = {
        .threads = check->threads, .pairs_max = (size_t)check->options->pairs, .stop = is_stopped};
    if (!array_reserve((void **)&check->frames, &check->frame_capacity, check->frame_count + 1,
                       sizeof *check->frames))
        return fail_memory(error, "the list of frames");
    struct checked *frame = &check->frames[check->frame_count];
    *frame = (struct checked){.number = number, .time = time};
    taut_status status = intersections_find(&check->surface, &wanted, &frame->found, error);
    if (status == TAUT_OK)
        status = keep_positions(check, frame, error);
    if (status == TAUT_OK && !is_stopped()) {
        check->frame_count++;
        return TAUT_OK;
    }
    intersections_free(&frame->found);
    free(frame->positions);
    return status;
}

static taut_status check_at(struct check *check, uint64_t number, double time, taut_error *error)
{
    show_frame(check);
    taut_status status =
        frame_reader_read(&check->reader, time, FRAME_POSITIONS, &check->frame, error);
    if (status == TAUT_OK)
        pose_mesh_colliders(check);
    if (status == TAUT_OK)
        status = check_frame(check, number, check->frame.time, error);
    return status;
}

static taut_status check_times(struct check *check, taut_error *error)
{
    const struct render_request *times = &check->options->render;
    const struct finished_run *run = &check->reader.run;
    const double end = check->reader.is_run ? run->times[run->frame_count - 1]
                                            : solver_planned_time(check->reader.session.solver);
    const double last = times->time_count > 0 ? times->times[times->time_count - 1] : 0;
    taut_status status = TAUT_OK;
    check->planned = times->time_count > 0 ? (size_t)times->time_count : 1;
    if (last > end * (1 + 1e-9))
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no t = %g s: it ends at %g s", last, end);
    for (size_t i = 0; i < check->planned && status == TAUT_OK && !is_stopped(); i++) {
        const double time = times->time_count > 0 ? times->times[i] : 0;
        const uint64_t number = check->reader.is_run ? finished_run_nearest(run, time) : i;
        status = check_at(check, number, time, error);
    }
    return status;
}

static taut_status check_numbers(struct check *check, taut_error *error)
{
    const struct options *options = check->options;
    const struct finished_run *run = &check->reader.run;
    const uint64_t step = options->frame_step > 0 ? options->frame_step : 1;
    const uint64_t most = run->frame_count - 1;
    const uint64_t last =
        options->frame_step > 0 && options->frame_last < most ? options->frame_last : most;
    taut_status status = TAUT_OK;
    if (options->frame_first > most)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "there is no frame %" PRIu64 "; the last is %" PRIu64, options->frame_first,
                    most);
    check->planned = (size_t)((last - options->frame_first) / step + 1);
    for (uint64_t i = options->frame_first; i <= last && status == TAUT_OK && !is_stopped();
         i += step)
        status = check_at(check, i, run->times[i], error);
    return status;
}

// ---- Results

// The totals of all frames.
struct totals {
    uint64_t pairs[INTERSECTION_KINDS];
    size_t frames[INTERSECTION_KINDS]; // frames with such pairs
    size_t worst;                      // the first frame with most crossing pairs
    uint64_t degenerate;               // in the frame with most of them
};

static struct totals sum_up(const struct check *check)
{
    struct totals totals = {.worst = 0};
    for (size_t i = 0; i < check->frame_count; i++) {
        const struct intersections *found = &check->frames[i].found;
        for (int kind = 0; kind < INTERSECTION_KINDS; kind++) {
            totals.pairs[kind] += found->counts[kind];
            totals.frames[kind] += found->counts[kind] > 0;
        }
        if (found->counts[INTERSECTION_CROSSING] >
            check->frames[totals.worst].found.counts[INTERSECTION_CROSSING])
            totals.worst = i;
        if (found->degenerate > totals.degenerate)
            totals.degenerate = found->degenerate;
    }
    return totals;
}

static void print_triangle(const struct check *check, uint32_t triangle, double (*positions)[3])
{
    const struct checked_body *body = &check->bodies[check->triangle_bodies[triangle]];
    printf("      %s, triangle %" PRIu64 ", nodes", body->name, triangle - body->first_triangle);
    for (int i = 0; i < 3; i++)
        printf(" %" PRIu64, check->triangles[triangle][i] - body->first_node);
    printf(":");
    for (int i = 0; i < 3; i++)
        printf(" (%.9g, %.9g, %.9g)", positions[i][0], positions[i][1], positions[i][2]);
    printf("\n");
}

static void print_frame(const struct check *check, const struct checked *frame)
{
    const struct intersections *found = &frame->found;
    if (found->body_count == 0)
        return;
    printf("  frame %-6" PRIu64 " t %-10.6g s\n", frame->number, frame->time);
    for (size_t i = 0; i < found->body_count; i++) {
        const struct intersection_bodies *it = &found->bodies[i];
        const char *a = check->bodies[it->a].name, *b = check->bodies[it->b].name;
        printf("    %s %s %s:", a, it->a == it->b ? "with" : "and", it->a == it->b ? "itself" : b);
        const char *separator = "";
        for (int kind = 0; kind < INTERSECTION_KINDS; kind++)
            if (it->counts[kind] > 0) {
                printf("%s %s %s", separator, human_count(it->counts[kind]).text,
                       intersection_kind_name((enum intersection_kind)kind));
                separator = ",";
            }
        printf("\n");
    }
    for (size_t i = 0; i < found->pair_count; i++) {
        printf("    %s\n", intersection_kind_name(found->pairs[i].kind));
        print_triangle(check, found->pairs[i].a, frame->positions[i][0]);
        print_triangle(check, found->pairs[i].b, frame->positions[i][1]);
    }
}

static void print_table(const struct check *check, double seconds)
{
    const struct totals totals = sum_up(check);
    for (size_t i = 0; i < check->frame_count; i++)
        print_frame(check, &check->frames[i]);
    printf("%s: %s of %s", check->options->scene, human_counted(check->frame_count, "frame").text,
           human_counted(check->surface.triangle_count, "triangle").text);
    if (totals.degenerate > 0)
        printf(" (up to %s without an area)", human_count(totals.degenerate).text);
    if (totals.frames[INTERSECTION_CROSSING] == 0) {
        printf("; no crossing pairs");
    } else {
        const struct checked *worst = &check->frames[totals.worst];
        printf("; %s of them with crossing pairs, most in frame %" PRIu64 " (t %.6g s): %s",
               human_count(totals.frames[INTERSECTION_CROSSING]).text, worst->number, worst->time,
               human_count(worst->found.counts[INTERSECTION_CROSSING]).text);
    }
    if (totals.frames[INTERSECTION_OVERLAPPING] > 0)
        printf("; overlapping pairs in %s",
               human_count(totals.frames[INTERSECTION_OVERLAPPING]).text);
    if (totals.frames[INTERSECTION_TOUCHING] > 0)
        printf("; touching pairs in %s", human_count(totals.frames[INTERSECTION_TOUCHING]).text);
    printf(" (%s)\n", human_seconds(seconds).text);
}

static void write_counts(struct json *json, const uint64_t counts[INTERSECTION_KINDS])
{
    for (int kind = 0; kind < INTERSECTION_KINDS; kind++)
        json_count(json, intersection_kind_name((enum intersection_kind)kind), counts[kind]);
}

static void write_triangle(struct json *json, const struct check *check, const char *key,
                           uint32_t triangle, double (*positions)[3])
{
    const uint32_t number = check->triangle_bodies[triangle];
    const struct checked_body *body = &check->bodies[number];
    json_open_object(json, key);
    json_string(json, "body", body->name);
    json_count(json, "triangle", triangle - body->first_triangle);
    json_open_array(json, "nodes");
    for (int i = 0; i < 3; i++)
        json_count(json, NULL, check->triangles[triangle][i] - body->first_node);
    json_close_array(json);
    json_open_array(json, "positions");
    for (int i = 0; i < 3; i++)
        json_numbers(json, NULL, positions[i], 3);
    json_close_array(json);
    json_close_object(json);
}

static void write_frame(struct json *json, const struct check *check, const struct checked *frame)
{
    const struct intersections *found = &frame->found;
    json_open_object(json, NULL);
    json_count(json, "frame", frame->number);
    json_number(json, "time", frame->time);
    write_counts(json, found->counts);
    json_count(json, "degenerate", found->degenerate);
    json_open_array(json, "bodies");
    for (size_t i = 0; i < found->body_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "a", check->bodies[found->bodies[i].a].name);
        json_string(json, "b", check->bodies[found->bodies[i].b].name);
        write_counts(json, found->bodies[i].counts);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "pairs");
    for (size_t i = 0; i < found->pair_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "kind", intersection_kind_name(found->pairs[i].kind));
        write_triangle(json, check, "a", found->pairs[i].a, frame->positions[i][0]);
        write_triangle(json, check, "b", found->pairs[i].b, frame->positions[i][1]);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void print_json(const struct check *check, double seconds)
{
    const struct totals totals = sum_up(check);
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", check->options->scene);
    json_count(&json, "triangles", check->surface.triangle_count);
    json_open_array(&json, "frames");
    for (size_t i = 0; i < check->frame_count; i++)
        write_frame(&json, check, &check->frames[i]);
    json_close_array(&json);
    write_counts(&json, totals.pairs);
    json_count(&json, "frames_crossing", totals.frames[INTERSECTION_CROSSING]);
    if (totals.frames[INTERSECTION_CROSSING] > 0)
        json_count(&json, "worst_frame", check->frames[totals.worst].number);
    else
        json_null(&json, "worst_frame");
    json_number(&json, "seconds", seconds);
    if (signals_caught())
        json_string(&json, "interrupted", signals_name(signals_caught()));
    else
        json_null(&json, "interrupted");
    json_close_object(&json);
}

// ---- The command

static int finish(const struct check *check, double seconds)
{
    const struct totals totals = sum_up(check);
    if (check->options->json)
        print_json(check, seconds);
    else if (!check->options->quiet)
        print_table(check, seconds);
    if (is_stopped()) {
        complain("interrupted by %s; %s of %s were checked", signals_name(signals_caught()),
                 human_count(check->frame_count).text, human_counted(check->planned, "frame").text);
        return output_finish(EXIT_CODE_FAILED);
    }
    bool crosses = totals.pairs[INTERSECTION_CROSSING] > 0;
    if (check->options->touching)
        crosses |=
            totals.pairs[INTERSECTION_OVERLAPPING] > 0 || totals.pairs[INTERSECTION_TOUCHING] > 0;
    return output_finish(crosses ? EXIT_CODE_CROSSING : EXIT_CODE_DONE);
}

static double memory_of_check(const struct options *options, const taut_scene *scene)
{
    (void)options;
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    const double faces = estimate.faces + estimate.collider_faces;
    const double surface = faces * (sizeof(uint32_t[3]) + sizeof(uint32_t));
    const double own =
        estimate.collider_faces > 0 ? 24 * (estimate.nodes + estimate.collider_nodes) : 0;
    return memory_of_frame(&estimate, FRAME_POSITIONS) + surface + own + intersections_bytes(faces);
}

static int check_run_or_scene(struct check *check)
{
    const struct options *options = check->options;
    const bool numbered = options->frame_step > 0;
    taut_error error = {0};
    if (numbered && !finished_run_is_folder(options->scene)) {
        complain("check-intersections: --frames selects frames of a run; of a scene use --time");
        return EXIT_CODE_WRONG;
    }
    int code = frame_reader_open(options, "check-intersections", memory_of_check, &check->reader);
    if (code != EXIT_CODE_DONE)
        return code;
    const double begin = clock_seconds();
    taut_status status = make_surface_of_scene(check, &error);
    if (status == TAUT_OK && check->reader.is_run && options->render.time_count == 0)
        status = check_numbers(check, &error);
    else if (status == TAUT_OK)
        status = check_times(check, &error);
    live_line_clear();
    if (status == TAUT_OK || is_stopped())
        return finish(check, clock_seconds() - begin);
    complain("check-intersections: %s", error.text);
    return exit_code_of(status);
}

// A mesh, or a single frame.
static int check_file(struct check *check)
{
    const struct options *options = check->options;
    const bool is_mesh = mesh_has_known_ending(options->scene);
    struct diagnostics findings = {0};
    taut_error error = {0};
    taut_status status = TAUT_OK;
    if (options->override_count > 0 || options->render.time_count > 0 || options->frame_step > 0) {
        complain("check-intersections: --set, --precision, --time and --frames cannot be used with "
                 "a mesh or a single frame");
        return EXIT_CODE_WRONG;
    }
    if (is_mesh) {
        const bool read = mesh_read(options->scene, &check->mesh, &findings);
        print_findings(&findings, options->quiet);
        diagnostics_free(&findings);
        if (!read)
            return EXIT_CODE_WRONG;
    } else {
        status = vtp_frame_open(options->scene, &check->file, &error);
        if (status == TAUT_OK && check->file.is_piece)
            status = fail(&error, TAUT_ERROR_IO,
                          "'%s' is a piece of a frame: check the .pvtp file that lists it",
                          options->scene);
    }
    const double begin = clock_seconds();
    check->planned = 1;
    if (status == TAUT_OK)
        status =
            is_mesh ? make_surface_of_mesh(check, &error) : make_surface_of_file(check, &error);
    if (status == TAUT_OK)
        status = check_frame(check, 0, check->file.time, &error);
    if (status == TAUT_OK)
        return finish(check, clock_seconds() - begin);
    complain("check-intersections: %s", error.text);
    // A file that cannot be read is wrong usage.
    return status == TAUT_ERROR_IO ? EXIT_CODE_WRONG : exit_code_of(status);
}

static int check_intersections(const struct options *options)
{
    struct check check = {.options = options};
    taut_error error = {0};
    signals_watch();
    if (options->frame_step > 0 && options->render.time_count > 0) {
        complain("check-intersections: --frames and --time exclude each other: give one");
        return EXIT_CODE_WRONG;
    }
    int code;
    if (session_threads(options, &check.threads, &error) != TAUT_OK) {
        complain("check-intersections: %s", error.text);
        code = EXIT_CODE_FAILED;
    } else if (!finished_run_is_folder(options->scene) &&
               (mesh_has_known_ending(options->scene) ||
                text_ends_with_any_case(options->scene, ".vtp") ||
                text_ends_with_any_case(options->scene, ".pvtp"))) {
        code = check_file(&check);
    } else {
        code = check_run_or_scene(&check);
    }
    for (size_t i = 0; i < check.frame_count; i++) {
        intersections_free(&check.frames[i].found);
        free(check.frames[i].positions);
    }
    free(check.frames);
    memory_release(NULL, check.triangles, check.surface.triangle_count, sizeof *check.triangles);
    memory_release(NULL, check.triangle_bodies, check.surface.triangle_count,
                   sizeof *check.triangle_bodies);
    free(check.bodies);
    frame_free(&check.frame);
    mesh_free(&check.mesh);
    memory_release(NULL, check.own_positions, 3 * check.own_count, sizeof(double));
    vtp_frame_close(&check.file);
    frame_reader_close(&check.reader);
    return code;
}

const struct command check_intersections_command = {
    .name = "check-intersections",
    .does = "Counts the pairs of triangles that cross in a run, a scene or a file",
    .operand = "RUN|SCENE|FILE",
    .kind = COMMAND_COMPARES,
    .run = check_intersections,
};
