// Estimates the size of a body and the memory for building it, from the scene alone: exact counts
// if the scene has them, and for files an estimate from their headers or from samples of their
// lines. It counts exactly what the builders allocate, stage by stage; arrays that grow by doubling
// are counted as far as they are filled.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/text.h"
#include "scene/build/build.h"

// ---- Files

enum { SAMPLES = 64, SAMPLE_BYTES = 1 << 13 };

struct sampled {
    double bytes;                // of the file
    double lines, first, second; // estimated lines in all, and lines that begin with either word
    double second_words;         // words of the lines that begin with the second word
    char head[SAMPLE_BYTES + 1]; // the beginning of the file
};

static bool begins_with(const char *line, const char *word)
{
    size_t length = word ? strlen(word) : 0;
    return length > 0 && strncasecmp(line, word, length) == 0 &&
           (line[length] == ' ' || line[length] == '\t');
}

static double count_words(const char *line)
{
    double words = 0;
    for (line += strspn(line, " \t"); *line && *line != '\n' && *line != '\r';
         line += strspn(line, " \t")) {
        words++;
        line += strcspn(line, " \t\r\n");
    }
    return words;
}

// The beginning of the line after this one; NULL if the block ends in this line.
static char *next_line(char *line)
{
    line += strcspn(line, "\r\n");
    return *line ? line + text_line_end(line, 2) : NULL;
}

// Counts the complete lines of a block, whose first line may be cut off.
static double count_lines(char *block, bool from_start, const char *first, const char *second,
                          struct sampled *sampled)
{
    char *line = from_start ? block : next_line(block);
    const char *const start = line;
    if (!line)
        return 0;
    for (char *next; (next = next_line(line)) != NULL; line = next) {
        line += strspn(line, " \t");
        sampled->lines++;
        sampled->first += begins_with(line, first);
        if (begins_with(line, second)) {
            sampled->second++;
            sampled->second_words += count_words(line);
        }
    }
    return (double)(line - start);
}

// Samples a file at evenly spread positions, so that ten gigabytes take as long as one megabyte.
// False if it is not a readable ordinary file, which its reader will report.
static bool sample(const char *path, const char *first, const char *second, struct sampled *sampled)
{
    memset(sampled, 0, sizeof *sampled);
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // a pipe would wait for its writer
    if (file < 0)
        return false;
    bool known = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    double seen = 0;
    sampled->bytes = known ? (double)status.st_size : 0;

    // The middle of each part of the file, so that no part is counted twice where the content
    // changes.
    off_t share = known ? status.st_size / SAMPLES : 0;
    off_t step = share > SAMPLE_BYTES ? share : SAMPLE_BYTES;
    char block[SAMPLE_BYTES + 1];
    for (int i = 0; known && i < SAMPLES; i++) {
        off_t at = i * step + (step - SAMPLE_BYTES) / 2;
        ssize_t read = pread(file, block, SAMPLE_BYTES, at);
        if (read <= 0)
            break;
        block[read] = '\0';
        seen += count_lines(block, at == 0, first, second, sampled);
    }

    ssize_t read = known ? pread(file, sampled->head, SAMPLE_BYTES, 0) : 0;
    sampled->head[read > 0 ? read : 0] = '\0';
    (void)close(file);

    double scale = seen > 0 ? sampled->bytes / seen : 0;
    sampled->lines *= scale;
    sampled->first *= scale;
    sampled->second *= scale;
    sampled->second_words *= scale;
    return known;
}

// ---- Meshes

struct mesh_size {
    double text, vertices, triangles; // bytes of the file that are there at once
};

// The number after "element NAME" in the header of a PLY file, or 0.
static double ply_count(const char *head, const char *name)
{
    char words[32];
    snprintf(words, sizeof words, "element %s ", name);
    const char *at = strstr(head, words);
    return at ? fmax(0, strtod(at + strlen(words), NULL)) : 0;
}

static bool mesh_size_guess(const char *path, struct mesh_size *mesh)
{
    struct sampled sampled;
    bool obj = text_ends_with_any_case(path, ".obj"), asc = text_ends_with_any_case(path, ".asc");
    *mesh = (struct mesh_size){0};
    if (!sample(path,
                obj   ? "v"
                : asc ? "Vertex"
                      : "vertex",
                obj   ? "f"
                : asc ? "Face"
                      : "facet",
                &sampled))
        return false;

    // Text of other formats, and some files of these, are read in chunks.
    const bool whole =
        text_ends_with_any_case(path, ".ply") || text_ends_with_any_case(path, ".stl");
    mesh->text = whole ? sampled.bytes : 0;
    mesh->vertices = sampled.first;
    mesh->triangles = sampled.second;
    if (obj) // a polygon of n corners gives n - 2 triangles
        mesh->triangles = fmax(sampled.second_words - 3 * sampled.second, 0);

    if (text_ends_with_any_case(path, ".ply")) {
        mesh->vertices = ply_count(sampled.head, "vertex");
        mesh->triangles = ply_count(sampled.head, "face");
        if (mesh->triangles == 0) // triangle strips
            mesh->triangles = 2 * mesh->vertices;
        // Each face and vertex takes some bytes of the file, which limits the counts of a false
        // header.
        mesh->triangles = fmin(mesh->triangles, sampled.bytes);
        mesh->vertices = fmin(mesh->vertices, sampled.bytes);
    }

    if (text_ends_with_any_case(path, ".stl")) {
        enum { BINARY_HEADER = 84, BINARY_FACET = 50 };
        bool text = strncmp(sampled.head, "solid", 5) == 0 && sampled.second > 0;
        if (!text)
            mesh->triangles = fmax(0, sampled.bytes - BINARY_HEADER) / BINARY_FACET;
        mesh->vertices = mesh->triangles / 2; // equal corners are merged
    }

    mesh->vertices = fmin(mesh->vertices, 3 * mesh->triangles);
    return true;
}

// ---- Tables of pairs (surface.c), several of which the builders of surfaces use

static double table_bytes(double pairs, double rows)
{
    return pairs * sizeof(uint32_t) + rows * sizeof(uint64_t);
}

// The springs of a triangulated surface, three for every two triangles if it is closed, and the
// peak memory for finding them. *kept is the memory of their tables until they are copied.
struct surface_size {
    double edges, bends, seconds, kept, peak;
};

static struct surface_size surface_size_find(double vertices, double triangles, bool bends,
                                             bool seconds)
{
    struct surface_size size = {.edges = 1.5 * triangles};
    size.kept = table_bytes(size.edges, vertices);
    size.peak = table_bytes(3 * triangles, vertices); // an edge of two triangles comes twice
    if (bends) {                                      // one pair across every edge
        size.bends = size.edges;
        const double found = table_bytes(size.bends, vertices);
        size.peak = fmax(size.peak, size.kept + size.edges * sizeof(uint32_t) + found);
        size.kept += found;
    }
    if (seconds) { // twelve second neighbours of each node, six of them across an edge
        size.seconds = bends ? size.edges : 2 * size.edges;
        const double marks = vertices * sizeof(uint32_t),
                     both = table_bytes(2 * size.edges, vertices);
        const double found = table_bytes(size.seconds, vertices);
        size.peak = fmax(size.peak, size.kept + marks + both + found);
        size.kept += found;
    }
    return size;
}

// ---- Bodies

static void set_counts(const struct scene_body *given, const struct build_counts *counts,
                       struct body_size *size)
{
    size->nodes = (double)counts->nodes;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        size->springs += (double)counts->springs[kind];
    size->faces = (double)counts->faces;
    size->face_arity = counts->faces ? counts->face_arity : 0;
    size->is_sheet = counts->is_sheet;
    size->directions = counts->directions;
    size->weighted = build_is_weighted(given);
    size->has_density = body_has_moduli(given);
    size->bytes += build_bytes(given, counts);
    size->building = size->bytes;
}

static void set_grid(const struct grid *grid, struct body_size *size)
{
    for (int axis = 0; axis < 3; axis++)
        size->grid[axis] = grid->nodes[axis];
    for (size_t i = 0; i < grid->direction_count; i++) {
        const struct direction *direction = &grid->directions[i];
        const int steps[3] = {direction->dx, direction->dy, direction->dz};
        for (int axis = 0; axis < 3; axis++)
            size->reach[axis] = max_u64(size->reach[axis], (uint64_t)abs(steps[axis]));
    }
}

// Spheres and meshes: the body takes over the arrays of the surface, or copies them one by one.
static void set_surface(const struct scene_body *given, double vertices, double triangles,
                        double surface_bytes, struct body_size *size)
{
    enum { EDGES, BEND, SECOND };
    struct surface_size found =
        surface_size_find(vertices, triangles, given->kinds[BEND].present,
                          given->type == BODY_SPHERE && given->kinds[SECOND].present);
    struct build_counts counts = {
        .nodes = (uint64_t)vertices, .faces = (uint64_t)triangles, .face_arity = 3};
    if (given->kinds[EDGES].present)
        counts.springs[EDGES] = (uint64_t)found.edges;
    counts.springs[BEND] = (uint64_t)found.bends;
    counts.springs[SECOND] = (uint64_t)found.seconds;
    set_counts(given, &counts, size);
    size->is_surface = true;
    const double copying = vertices * sizeof(double[3]), rest = size->bytes - surface_bytes;
    size->building = surface_bytes + fmax(found.peak, found.kept + fmax(copying, rest));
}

static double mesh_bytes(const struct mesh_size *mesh)
{
    return 24 * mesh->vertices + 12 * mesh->triangles;
}

// While a mesh is read and inspected, with the mesh itself.
static double mesh_peak(const struct mesh_size *mesh)
{
    const double corners = 3 * mesh->triangles, kept = mesh_bytes(mesh);
    // mesh.c: vertices, and corners with their positions in the file.
    const double reading = mesh->text + 24 * mesh->vertices + 12 * corners;
    // orient.c: twins of corners, and buckets of some (enum PARTS), fans, or the order of
    // triangles.
    const double buckets = 4 * corners + 2 * mesh->vertices, ordered = 6 * mesh->triangles;
    const double inspecting = kept + 4 * corners + fmax(buckets, ordered);
    return fmax(reading, inspecting);
}

static void set_mesh(const struct scene_body *given, struct body_size *size)
{
    struct mesh_size mesh;
    if (!mesh_size_guess(given->shape.mesh.path, &mesh))
        return;
    size->exact = false;
    set_surface(given, mesh.vertices, mesh.triangles, mesh_bytes(&mesh), size);
    size->building = fmax(size->building, mesh_peak(&mesh));
}

void collider_size_find(const struct scene_collider *collider, struct collider_size *size)
{
    struct mesh_size mesh;
    *size = (struct collider_size){0};
    if (collider->type != COLLIDER_MESH || !collider->mesh.path ||
        !mesh_size_guess(collider->mesh.path, &mesh))
        return;
    size->nodes = mesh.vertices;
    size->faces = mesh.triangles;
    size->bytes = mesh_bytes(&mesh);
    size->building = fmax(mesh_peak(&mesh), 2 * mesh_bytes(&mesh));
}

static void set_network(const struct scene_body *given, struct body_size *size)
{
    const struct scene_network *network = &given->shape.network;
    double nodes = (double)network->node_count, springs = (double)network->spring_count;
    double materials = network->material_count > 1 ? sizeof(uint32_t) : 0;
    struct sampled sampled;
    if (network->nodes_path) {
        size->exact = false;
        nodes = sample(network->nodes_path, NULL, NULL, &sampled) ? fmax(0, sampled.lines - 1) : 0;
        springs =
            sample(network->springs_path, NULL, NULL, &sampled) ? fmax(0, sampled.lines - 1) : 0;
        // Material indices, and rest lengths if there is a column of them.
        materials = sizeof(uint32_t);
        sampled.head[strcspn(sampled.head, "\r\n")] = '\0';
        materials += strstr(sampled.head, "rest_length") ? sizeof(double) : 0;
    }
    struct build_counts counts = {.nodes = (uint64_t)nodes, .springs = {(uint64_t)springs}};
    set_counts(given, &counts, size);
    size->bytes += springs * materials;
    size->building = size->bytes + table_bytes(springs, nodes); // to find duplicates
}

void body_size_find(const taut_scene *scene, size_t index, struct body_size *size)
{
    const struct scene_body *given = &scene->bodies[index];
    struct build_counts counts = {0};
    struct grid grid = {0};
    // Independent of the size: the body itself, its name, its materials, and the allocator's
    // overhead for about eight blocks.
    double own = sizeof(struct body) + SPRING_KINDS_MAX * sizeof(struct material) + 64 + 8 * 80;
    *size = (struct body_size){.type = given->type, .exact = true, .bytes = own, .building = own};

    bool known = true;
    switch (given->type) {
    case BODY_ROPE:
        known = rope_count(given, &grid, &counts);
        break;
    case BODY_CLOTH:
        known = cloth_count(given, &grid, &counts);
        break;
    case BODY_RING:
        known = ring_count(given, &counts);
        break;
    case BODY_QUAD:
        counts = (struct build_counts){.nodes = 4, .springs = {4, 2}, .faces = 4, .face_arity = 2};
        break;
    case BODY_SPHERE:
        if (sphere_count(given, &counts))
            set_surface(given, (double)counts.nodes, (double)counts.faces,
                        24 * (double)counts.nodes + 12 * (double)counts.faces, size);
        return;
    case BODY_LATTICE:
        known = lattice_count(given, &grid, &counts);
        break;
    case BODY_MESH:
        set_mesh(given, size);
        return;
    case BODY_NETWORK:
        set_network(given, size);
        return;
    case BODY_OSCILLATOR:
    case BODY_PENDULUM:
        counts = (struct build_counts){.nodes = 2, .springs = {1}};
        break;
    case BODY_TYPE_COUNT:
        return;
    }

    bool all = (given->type == BODY_ROPE && given->kinds[2].present) ||
               (given->type == BODY_CLOTH && given->kinds[3].present);
    if (!known || (all && counts.nodes > ALL_SPRINGS_NODES_MAX))
        return;
    set_counts(given, &counts, size);
    if (counts.directions > 0)
        set_grid(&grid, size);
}
