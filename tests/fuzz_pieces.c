// libFuzzer: a frame in pieces (.pvtp) whose numbers or bytes are altered. The reader must refuse
// it, or read every value of the whole frame that it declares.
//
// mkdtemp() is a function of POSIX 2008.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier)

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/vtp.h"
#include "output/vtp_reader.h"
#include "pieces_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 2, FILES = PIECES + 1, PATH_BYTES = 128, FILE_BYTES = 1 << 16 };

static const char *const names[FILES] = {"f_0000.vtp", "f_0001.vtp", "f.pvtp"};
static char folder[64];

// A sheet of 2 x 3 nodes, a rope of 3 and a single node.
static const uint32_t sheet_springs[][2] = {{0, 1}, {2, 3}, {4, 5}, {0, 2}, {2, 4}, {1, 3}, {3, 5}};
static const uint32_t sheet_faces[] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
static const uint32_t rope_springs[][2] = {{0, 1}, {1, 2}};
static struct frame_body bodies[] = {{.name = "sheet",
                                      .node_count = 6,
                                      .spring_count = 7,
                                      .springs = sheet_springs,
                                      .sheet = {2, 3},
                                      .face_count = 4,
                                      .face_arity = 3,
                                      .faces = sheet_faces},
                                     {.name = "rope",
                                      .first_node = 6,
                                      .node_count = 3,
                                      .first_spring = 7,
                                      .spring_count = 2,
                                      .springs = rope_springs},
                                     {.name = "node", .first_node = 9, .node_count = 1}};
enum { NODES = 10, SPRINGS = 9 };

static void path_of(char path[PATH_BYTES], int file)
{
    snprintf(path, PATH_BYTES, "%s/%s", folder, names[file]);
}

// In memory where there is such a folder: files are synchronised.
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/dev/shm/taut-fuzz-XXXXXX");
    if (mkdtemp(folder))
        return;
    snprintf(folder, sizeof folder, "/tmp/taut-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        abort();
}

// Alterations of 4 bytes each: what, of which piece or file, where, and a byte. First those of
// numbers.
enum { NODE, LINE, FACE, NUMBERS, BYTE = NUMBERS, TAIL, KINDS };

static void alter_numbers(const uint8_t *data, size_t size, struct cut *cuts)
{
    for (size_t k = 0; k + 4 <= size; k += 4) {
        struct cut *cut = &cuts[data[k + 1] % PIECES];
        const int64_t number = (int8_t)data[k + 3]; // also before the first
        if (data[k] % KINDS == NODE)
            cut->nodes[data[k + 2] % CUT_NODES] = (uint64_t)number;
        else if (data[k] % KINDS == LINE)
            cut->lines[data[k + 2] % CUT_SPRINGS].number = (uint64_t)number;
        else if (data[k] % KINDS == FACE)
            cut->face_numbers[data[k + 2] % CUT_FACES] = (uint64_t)number;
    }
}

// Offsets are twelfths of 256ths of a file, so that one byte and the kind reach all of it.
static void alter_file(const uint8_t *data, size_t size, int file)
{
    static uint8_t bytes[FILE_BYTES];
    char path[PATH_BYTES];
    path_of(path, file);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        abort();
    size_t length = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    for (size_t k = 0; k + 4 <= size; k += 4) {
        const int kind = data[k] % KINDS;
        const size_t offset =
            ((size_t)data[k + 2] * 12 + data[k] / KINDS % 12) * length / (256 * 12);
        if (data[k + 1] % FILES == file && kind == BYTE && offset < length)
            bytes[offset] = data[k + 3];
        else if (data[k + 1] % FILES == file && kind == TAIL)
            length = offset;
    }
    stream = fopen(path, "wb");
    if (!stream || fwrite(bytes, 1, length, stream) != length || fclose(stream) != 0)
        abort();
}

static void write_all(const uint8_t *data, size_t size)
{
    static double positions[3 * NODES], strains[SPRINGS];
    static uint8_t broken[SPRINGS];
    static struct cut cuts[PIECES];
    const struct vtp_options options = {.springs = size % 2 == 0};
    bool with_lines[3];
    for (size_t i = 0; i < 3 * NODES; i++)
        positions[i] = (double)i / 3;
    const struct frame whole = {.shape = {NODES, SPRINGS, 4, 3, .collider_count = 0},
                                .fields = FRAME_NODES | FRAME_SPRINGS | FRAME_BODIES | FRAME_LISTS,
                                .single = size % 4 < 2,
                                .positions = positions,
                                .velocities = positions,
                                .forces = positions,
                                .strains = strains,
                                .broken = broken,
                                .bodies = bodies};
    for (size_t b = 0; b < 3; b++)
        with_lines[b] = vtp_has_lines(&options, &bodies[b]);
    cut_piece(&whole, with_lines, 0, 3, &cuts[0]);
    cut_piece(&whole, with_lines, 3, NODES, &cuts[1]);
    alter_numbers(data, size, cuts);
    for (int file = 0; file < FILES; file++) {
        char path[PATH_BYTES];
        path_of(path, file);
        (void)unlink(path);
        if ((file < PIECES ? vtp_write(path, &cuts[file].frame, &options, NULL)
                           : vtp_write_pieces(path, &cuts[0].frame, &options, names, PIECES,
                                              NULL)) != TAUT_OK)
            abort();
    }
    for (int file = 0; file < FILES; file++)
        alter_file(data, size, file);
}

// Values are marked first, so that one which is left out shows. false: they were refused.
static bool read_all(struct vtp_frame *frame)
{
    const size_t points = frame->points, lines = frame->lines, polys = frame->polys;
    float *positions = malloc((3 * points + 1) * sizeof *positions);
    float *line_strains = malloc((lines + 1) * sizeof *line_strains);
    uint8_t *line_broken = malloc(lines + 1);
    uint32_t(*triangles)[3] = malloc((polys + 1) * sizeof *triangles);
    uint32_t *owners = malloc((polys + 1) * sizeof *owners);
    uint32_t *node_owners = malloc((points + 1) * sizeof *node_owners);
    taut_error error = {0};
    if (!positions || !line_strains || !line_broken || !triangles || !owners || !node_owners)
        abort(); // pieces are as long as the counts require
    for (size_t i = 0; i < 3 * points; i++)
        positions[i] = NAN;
    for (size_t i = 0; i < lines; i++)
        line_strains[i] = NAN;
    memset(triangles, 255, (polys + 1) * sizeof *triangles);
    memset(owners, 255, (polys + 1) * sizeof *owners);
    memset(node_owners, 255, (points + 1) * sizeof *node_owners);
    const bool has_points = vtp_frame_positions(frame, positions, &error) == TAUT_OK;
    const bool has_lines = vtp_frame_springs(frame, line_strains, line_broken, &error) == TAUT_OK;
    const bool has_polys = vtp_frame_triangles(frame, triangles, owners, &error) == TAUT_OK;
    const bool has_owners = vtp_frame_node_bodies(frame, node_owners, &error) == TAUT_OK;
    for (size_t i = 0; has_points && i < 3 * points; i++)
        if (!isfinite(positions[i]))
            abort();
    for (size_t i = 0; has_lines && i < lines; i++)
        if (!isfinite(line_strains[i]))
            abort();
    for (size_t i = 0; has_polys && i < polys; i++)
        if (triangles[i][0] >= points || triangles[i][1] >= points || triangles[i][2] >= points ||
            owners[i] >= frame->name_count)
            abort();
    for (size_t i = 0; has_owners && i < points; i++)
        if (node_owners[i] >= frame->name_count)
            abort();
    const bool has_all = has_points && has_lines && has_polys && has_owners;
    if (!has_all && !error.text[0])
        abort();
    free(positions);
    free(line_strains);
    free(line_broken);
    free(triangles);
    free(owners);
    free(node_owners);
    return has_all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vtp_frame frame;
    taut_error error = {0};
    char path[PATH_BYTES];
    if (!folder[0])
        make_folder();
    write_all(data, size);
    path_of(path, PIECES);
    bool has_all = false;
    if (vtp_frame_open(path, &frame, &error) == TAUT_OK) {
        has_all = read_all(&frame);
        vtp_frame_close(&frame);
    } else if (!error.text[0]) {
        abort();
    }
    if (size < 4 && !has_all) // nothing was altered
        abort();
    return 0;
}
