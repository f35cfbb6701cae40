// Reads .vtp files that vtp.c wrote, array by array, without loading the whole file (vtp_reader.h).
#include "output/vtp_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "output/vtp.h"
#include "output/vtp_pieces.h"

static const uint64_t COUNT_MAX = (uint64_t)1 << 40; // for any count: no sum below overflows

static taut_status refuse(const struct vtp_frame *frame, const char *what, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO, "'%s' %s", frame->path, what);
}

// ---- The header

// One digit per line. Earlier versions wrote all springs and no such list.
static taut_status parse_body_springs(struct vtp_frame *frame, taut_error *error)
{
    struct scan *scan = &frame->scan;
    size_t capacity = 0;
    scan_expect(scan, "      <DataArray type=\"UInt8\" Name=\"body_springs\" NumberOfTuples=\"");
    uint64_t count = scan_count(scan, '"');
    scan_expect(scan, " format=\"ascii\">\n");
    for (uint64_t i = 0; i < count && !scan->failed; i++) {
        if (!array_reserve((void **)&frame->body_springs, &capacity, (size_t)i + 1, 1))
            return fail_memory(error, "the bodies of a frame");
        int digit = getc(scan->file);
        scan->failed |= (digit != '0' && digit != '1') || getc(scan->file) != '\n';
        frame->body_springs[i] = digit == '1';
    }
    frame->body_count = count;
    scan_expect(scan, "      </DataArray>\n    ");
    frame->is_piece = !scan->failed && scan_next_is(scan, ' ');
    if (frame->is_piece) {
        scan_expect(scan, "  <DataArray type=\"UInt64\" Name=\"whole_counts\" "
                          "NumberOfTuples=\"4\" format=\"ascii\">");
        for (int i = 0; i < 4; i++) {
            frame->whole_counts[i] = scan_count(scan, i < 3 ? ' ' : '<');
            scan->failed |= frame->whole_counts[i] > COUNT_MAX;
        }
        scan_expect(scan, "/DataArray>\n    ");
    }
    scan_expect(scan, "</FieldData>\n");
    return TAUT_OK;
}

// A name is a line of numbers, its bytes and a 0.
static taut_status parse_name(struct vtp_frame *frame, taut_error *error)
{
    struct scan *scan = &frame->scan;
    char *name = NULL;
    size_t length = 0, capacity = 0;
    int letter, number = 0;
    while ((letter = getc(scan->file)) != '\n' && !scan->failed) {
        scan->failed = letter != ' ' && (letter < '0' || letter > '9');
        if (letter == ' ') {
            if (!array_reserve((void **)&name, &capacity, length + 2, 1)) {
                free(name);
                return fail_memory(error, "the bodies of a frame");
            }
            name[length++] = (char)(number & 255);
            name[length] = '\0';
            number = 0;
        } else if (!scan->failed) {
            number = number < 256 ? 10 * number + (letter - '0') : number;
        }
    }
    frame->names[frame->name_count++] = name;
    return TAUT_OK;
}

static taut_status parse_field_data(struct vtp_frame *frame, taut_error *error)
{
    struct scan *scan = &frame->scan;
    scan_expect(scan, "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                      "NumberOfTuples=\"1\" format=\"ascii\">");
    frame->time = scan_number(scan, '<');
    scan_expect(scan, "/DataArray>\n      <Array type=\"String\" Name=\"body_names\" "
                      "NumberOfTuples=\"");
    uint64_t names = scan_count(scan, '"');
    scan_expect(scan, " format=\"ascii\">\n");
    size_t capacity = 0;
    for (uint64_t i = 0; i < names && !scan->failed; i++) {
        if (!array_reserve((void **)&frame->names, &capacity, (size_t)i + 1, sizeof *frame->names))
            return fail_memory(error, "the bodies of a frame");
        taut_status status = parse_name(frame, error);
        if (status != TAUT_OK)
            return status;
    }
    scan_expect(scan, "      </Array>\n");
    if (frame->compressed)
        return parse_body_springs(frame, error);
    scan_expect(scan, "    </FieldData>\n");
    return TAUT_OK;
}

static void parse_counts(struct vtp_frame *frame)
{
    struct scan *scan = &frame->scan;
    scan_expect(scan, "    <Piece NumberOfPoints=\"");
    frame->points = scan_count(scan, '"');
    scan_expect(scan, " NumberOfVerts=\"");
    frame->verts = scan_count(scan, '"');
    scan_expect(scan, " NumberOfLines=\"");
    frame->lines = scan_count(scan, '"');
    scan_expect(scan, " NumberOfStrips=\"0\" NumberOfPolys=\"");
    frame->polys = scan_count(scan, '"');
    scan_expect(scan, ">\n");
    if (frame->points > COUNT_MAX || frame->verts > COUNT_MAX || frame->lines > COUNT_MAX ||
        frame->polys > COUNT_MAX)
        scan->failed = true;
}

// An array as the header describes it.
struct line {
    char type[16], name[24];
    uint64_t components, offset;
};

enum { LINES_MAX = 20 };

struct header {
    struct line lines[LINES_MAX];
    int sections[LINES_MAX];
    int count;
};

static const char *const sections[] = {"PointData", "CellData", "Points",
                                       "Verts",     "Lines",    "Polys"};
enum { POINT_DATA, CELL_DATA, POINTS, VERTS, LINES, POLYS, SECTION_COUNT };

static void parse_line(struct vtp_frame *frame, int section, struct header *header)
{
    struct scan *scan = &frame->scan;
    if (header->count == LINES_MAX) {
        scan->failed = true;
        return;
    }
    struct line *line = &header->lines[header->count];
    header->sections[header->count++] = section;
    scan_expect(scan, "  <DataArray type=\"");
    scan_until(scan, '"', line->type, sizeof line->type);
    scan_expect(scan, " ");
    if (!scan->failed && scan_next_is(scan, 'I'))
        scan_expect(scan, "IdType=\"1\" ");
    scan_expect(scan, "Name=\"");
    scan_until(scan, '"', line->name, sizeof line->name);
    scan_expect(scan, " NumberOfComponents=\"");
    line->components = scan_count(scan, '"');
    scan_expect(scan, " format=\"appended\" offset=\"");
    line->offset = scan_count(scan, '"');
    while (!scan->failed && scan_next_is(scan, ' ')) // padding after the number
        scan_expect(scan, " ");
    scan_expect(scan, "/>\n");
}

static void parse_attributes(struct vtp_frame *frame, int section)
{
    struct scan *scan = &frame->scan;
    while (section <= CELL_DATA && !scan->failed && scan_next_is(scan, ' ')) {
        scan_expect(scan, " ");
        scan_expect(scan, section == CELL_DATA      ? "GlobalIds=\"GlobalCellIds\""
                          : scan_next_is(scan, 'T') ? "TCoords=\"TextureCoordinates\""
                                                    : "GlobalIds=\"GlobalPointIds\"");
    }
}

static void parse_sections(struct vtp_frame *frame, struct header *header)
{
    struct scan *scan = &frame->scan;
    for (int section = 0; section < SECTION_COUNT && !scan->failed; section++) {
        scan_expect(scan, "      <");
        scan_expect(scan, sections[section]);
        parse_attributes(frame, section);
        scan_expect(scan, ">\n      ");
        while (!scan->failed && scan_next_is(scan, ' ')) {
            parse_line(frame, section, header);
            scan_expect(scan, "      ");
        }
        scan_expect(scan, "</");
        scan_expect(scan, sections[section]);
        scan_expect(scan, ">\n");
    }
    scan_expect(scan, "    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n   _");
}

// ---- The arrays

static uint64_t tuples_of(const struct vtp_frame *frame, int section, const char *name)
{
    bool ends = strcmp(name, "connectivity") == 0;
    switch (section) {
    case CELL_DATA:
        return frame->verts + frame->lines + frame->polys;
    case VERTS:
        return frame->verts;
    case LINES:
        return frame->lines * (ends ? 2 : 1);
    case POLYS:
        return frame->polys * (ends ? 3 : 1);
    default:
        return frame->points;
    }
}

// Bytes of a type; 0: unknown.
static uint64_t type_bytes(const char *type)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"Float32", 4}, {"Float64", 8}, {"Int32", 4}, {"Int64", 8}, {"UInt8", 1}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}

// Components of an array; 0: unknown.
static uint64_t known_components(int section, const char *name)
{
    static const struct {
        int section;
        const char *name;
        uint64_t components;
    } known[] = {{POINT_DATA, "velocity", 3},
                 {POINT_DATA, "force", 3},
                 {POINT_DATA, "strain", 1},
                 {POINT_DATA, "body", 1},
                 {POINT_DATA, "TextureCoordinates", 2},
                 {POINT_DATA, "GlobalPointIds", 1},
                 {POINT_DATA, "vtkGhostType", 1},
                 {CELL_DATA, "GlobalCellIds", 1},
                 {CELL_DATA, "strain", 1},
                 {CELL_DATA, "body", 1},
                 {CELL_DATA, "broken", 1},
                 {POINTS, "Points", 3}};
    if (section >= VERTS)
        return strcmp(name, "connectivity") == 0 || strcmp(name, "offsets") == 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].section == section && strcmp(known[i].name, name) == 0)
            return known[i].components;
    return 0;
}

// Bytes of a unit, the values of one point or cell that vtp.c keeps in the same block.
static uint64_t unit_bytes(int section, const struct line *line)
{
    uint64_t values = line->components;
    if (strcmp(line->name, "connectivity") == 0)
        values = section == LINES ? 2 : section == POLYS ? 3 : 1;
    return values * type_bytes(line->type);
}

// Reads the header before the values of an array, which must match the header of the file. Returns
// the bytes of header and values in the file.
static uint64_t parse_values(struct vtp_frame *frame, uint64_t offset, uint64_t length,
                             struct vtp_array *array)
{
    struct scan *scan = &frame->scan;
    scan_seek(scan, offset);
    if (!frame->compressed) {
        scan->failed |= scan_u64(scan) != array->bytes;
        return 8 + array->bytes;
    }
    uint64_t blocks = (array->bytes + array->block - 1) / array->block;
    uint64_t header = 8 * (3 + blocks), sum = header;
    if (header > length - offset) { // checked before it is read beyond the end of the file
        scan->failed = true;
        return header;
    }
    scan->failed |= scan_u64(scan) != blocks || scan_u64(scan) != array->block ||
                    scan_u64(scan) != array->bytes % array->block;
    uint64_t most = compressBound(VTP_BLOCK_BYTES);
    for (uint64_t i = 0; i < blocks && !scan->failed; i++) {
        uint64_t bytes = scan_u64(scan);
        uint64_t raw = i + 1 < blocks ? array->block : array->bytes - i * array->block;
        // Deflate expands data by a factor of at most 1032.
        scan->failed |= bytes > most || bytes < raw / 1040;
        sum += bytes;
    }
    return sum;
}

// Finds the arrays, which follow each other without gaps. Returns the end of the last one.
static uint64_t find_arrays(struct vtp_frame *frame, const struct header *header, uint64_t data,
                            uint64_t length)
{
    struct scan *scan = &frame->scan;
    uint64_t end = data;
    for (int i = 0; i < header->count && !scan->failed; i++) {
        const struct line *line = &header->lines[i];
        int section = header->sections[i];
        uint64_t unit = unit_bytes(section, line);
        scan->failed |= unit == 0 || end - data != line->offset ||
                        line->components != known_components(section, line->name);
        if (scan->failed)
            break;

        struct vtp_array array = {
            .present = true,
            .offset = end,
            .bytes =
                tuples_of(frame, section, line->name) * line->components * type_bytes(line->type),
            .block = VTP_BLOCK_BYTES / unit * unit,
        };
        uint64_t consumed = parse_values(frame, end, length, &array);
        bool real = strncmp(line->type, "Float", 5) == 0;

        if (section == POINTS) {
            frame->positions = array;
            frame->single = strcmp(line->type, "Float32") == 0;
            scan->failed |= line->components != 3 || !real;
        } else if (section == CELL_DATA && strcmp(line->name, "strain") == 0) {
            frame->strains = array;
            scan->failed |= line->components != 1 || !real;
        } else if (section == CELL_DATA && strcmp(line->name, "broken") == 0) {
            frame->broken = array;
            scan->failed |= line->components != 1 || strcmp(line->type, "UInt8") != 0;
        } else if (section <= CELL_DATA && strncmp(line->name, "Global", 6) == 0) {
            frame->numbers[section == POINT_DATA ? VTP_POINT_NUMBERS : VTP_CELL_NUMBERS] = array;
            scan->failed |= strcmp(line->type, "Int64") != 0;
        } else if (section <= CELL_DATA && strcmp(line->name, "body") == 0) {
            *(section == POINT_DATA ? &frame->node_bodies : &frame->cell_bodies) = array;
            scan->failed |= strcmp(line->type, "Int32") != 0;
        } else if (section == POLYS && strcmp(line->name, "connectivity") == 0) {
            frame->triangles = array;
            frame->wide = strcmp(line->type, "Int64") == 0;
            scan->failed |= !frame->wide && strcmp(line->type, "Int32") != 0;
        }

        scan->failed |= consumed > length - end;
        end += consumed;
    }

    // The arrays present must be complete.
    uint64_t real = frame->single ? 4 : 8, cells = tuples_of(frame, CELL_DATA, "");
    scan->failed |= !frame->positions.present || frame->strains.present != frame->broken.present ||
                    (frame->lines > 0 && !frame->strains.present) ||
                    frame->positions.bytes != 3 * real * frame->points ||
                    (frame->strains.present && frame->strains.bytes != real * cells);
    return end;
}

static taut_status parse_header(struct vtp_frame *frame, taut_error *error)
{
    struct scan *scan = &frame->scan;
    struct header header = {.count = 0};
    uint64_t length = scan_length(scan);
    scan_expect(scan, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt64\"");
    frame->compressed = !scan->failed && scan_next_is(scan, ' ');
    scan_expect(scan, frame->compressed ? " compressor=\"vtkZLibDataCompressor\">\n  <PolyData>\n"
                                        : ">\n  <PolyData>\n");
    taut_status status = parse_field_data(frame, error);
    if (status != TAUT_OK)
        return status;
    parse_counts(frame);
    parse_sections(frame, &header);
    uint64_t data = scan_position(scan);
    if (scan->failed)
        return refuse(frame, "is not a frame that taut wrote: its header is different", error);
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    uint64_t end = find_arrays(frame, &header, data, length);
    scan_seek(scan, end);
    scan_expect(scan, tail);
    if (scan->failed || length != end + strlen(tail))
        return refuse(frame, "is incomplete: its length is not that in its header", error);
    return TAUT_OK;
}

taut_status vtp_frame_read_file(FILE *file, const char *path, struct vtp_frame *frame,
                                taut_error *error)
{
    *frame = (struct vtp_frame){.scan = {.file = file}, .path = text_format("%s", path)};
    taut_status status =
        frame->path ? parse_header(frame, error) : fail_memory(error, "the name of a frame");
    if (status != TAUT_OK)
        vtp_frame_close(frame);
    return status;
}

taut_status vtp_frame_open(const char *path, struct vtp_frame *frame, taut_error *error)
{
    const char *reason;
    if (text_ends_with_any_case(path, ".pvtp"))
        return vtp_pieces_open(path, frame, error);
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, reason);
    return vtp_frame_read_file(file, path, frame, error);
}

// ---- Values

// Reads an array from its beginning, one block at a time.
struct stream {
    struct vtp_frame *frame;
    const struct vtp_array *array;
    uint64_t block;     // the next block
    uint64_t size_at;   // position of its compressed size in the file
    uint64_t values_at; // position of its bytes in the file
    unsigned char *values;
    unsigned char *packed; // compressed bytes; NULL: not compressed
    size_t count, used;    // in `values`
};

static bool stream_open(struct vtp_frame *frame, const struct vtp_array *array,
                        struct stream *stream)
{
    uint64_t blocks = (array->bytes + array->block - 1) / array->block;
    *stream = (struct stream){
        .frame = frame,
        .array = array,
        .size_at = array->offset + 24,
        .values_at = array->offset + (frame->compressed ? 24 + 8 * blocks : 8),
        .values = malloc(VTP_BLOCK_BYTES),
        .packed = frame->compressed ? malloc(compressBound(VTP_BLOCK_BYTES)) : NULL,
    };
    return stream->values && (stream->packed || !frame->compressed);
}

static void stream_close(struct stream *stream)
{
    free(stream->values);
    free(stream->packed);
}

static void read_bytes(struct scan *scan, unsigned char *bytes, size_t count)
{
    if (!scan->failed)
        scan->failed = fread(bytes, 1, count, scan->file) != count;
}

// Reads the next block. Its uncompressed size follows from the header, not from the block.
static void stream_fill(struct stream *stream)
{
    struct scan *scan = &stream->frame->scan;
    const struct vtp_array *array = stream->array;
    uint64_t left = array->bytes - stream->block * array->block;
    stream->count = (size_t)(left < array->block ? left : array->block);
    stream->used = 0;
    stream->block++;
    if (!stream->packed) {
        scan_seek(scan, stream->values_at);
        read_bytes(scan, stream->values, stream->count);
        stream->values_at += stream->count;
        return;
    }
    scan_seek(scan, stream->size_at);
    uint64_t packed = scan_u64(scan);
    scan->failed |= packed > compressBound(VTP_BLOCK_BYTES);
    if (scan->failed)
        return;
    scan_seek(scan, stream->values_at);
    read_bytes(scan, stream->packed, (size_t)packed);
    stream->size_at += 8;
    stream->values_at += packed;
    uLongf got = stream->count;
    scan->failed |= scan->failed ||
                    uncompress(stream->values, &got, stream->packed, (uLong)packed) != Z_OK ||
                    got != stream->count;
}

// Returns up to `count` bytes of one block; 0 after a failure.
static size_t stream_next(struct stream *stream, uint64_t count, const unsigned char **bytes)
{
    *bytes = stream->values;
    if (stream->used == stream->count)
        stream_fill(stream);
    if (stream->frame->scan.failed)
        return 0;
    size_t there = stream->count - stream->used;
    size_t consumed = count < there ? (size_t)count : there;
    *bytes += stream->used;
    stream->used += consumed;
    return consumed;
}

static void stream_skip(struct stream *stream, uint64_t count)
{
    const unsigned char *bytes;
    while (count > 0 && !stream->frame->scan.failed)
        count -= stream_next(stream, count, &bytes);
}

// Blocks end where a value ends.
static void stream_reals(struct stream *stream, bool single, float *values, uint64_t count)
{
    struct scan *scan = &stream->frame->scan;
    const unsigned char *bytes;
    size_t size = single ? 4 : 8;
    for (uint64_t done = 0; done < count && !scan->failed;) {
        size_t batch = stream_next(stream, (count - done) * size, &bytes) / size;
        scan_decode_reals(bytes, single, values + done, batch);
        for (size_t i = 0; i < batch && !scan->failed; i++)
            scan->failed = !isfinite(values[done + i]);
        done += batch;
    }
}

static void stream_doubles(struct stream *stream, bool single, double *values, uint64_t count)
{
    struct scan *scan = &stream->frame->scan;
    const unsigned char *bytes;
    size_t size = single ? 4 : 8;
    for (uint64_t done = 0; done < count && !scan->failed;) {
        size_t batch = stream_next(stream, (count - done) * size, &bytes) / size;
        scan_decode_doubles(bytes, single, values + done, batch);
        for (size_t i = 0; i < batch && !scan->failed; i++)
            scan->failed = !isfinite(values[done + i]);
        done += batch;
    }
}

// Into one of both arrays.
static taut_status read_positions(struct vtp_frame *frame, float *rounded, double *exact,
                                  taut_error *error)
{
    struct stream stream;
    if (frame->is_list)
        return vtp_pieces_positions(frame, rounded, exact, error);
    if (!stream_open(frame, &frame->positions, &stream)) {
        stream_close(&stream);
        return fail_memory(error, "a frame");
    }
    if (exact)
        stream_doubles(&stream, frame->single, exact, 3 * frame->points);
    else
        stream_reals(&stream, frame->single, rounded, 3 * frame->points);
    stream_close(&stream);
    return frame->scan.failed ? refuse(frame,
                                       "cannot be read to its end, or has positions that "
                                       "are not numbers",
                                       error)
                              : TAUT_OK;
}

taut_status vtp_frame_positions(struct vtp_frame *frame, float *positions, taut_error *error)
{
    return read_positions(frame, positions, NULL, error);
}

taut_status vtp_frame_exact_positions(struct vtp_frame *frame, double *positions, taut_error *error)
{
    return read_positions(frame, NULL, positions, error);
}

static void read_broken(struct stream *stream, uint8_t *broken, uint64_t count)
{
    const unsigned char *bytes;
    for (uint64_t done = 0; done < count && !stream->frame->scan.failed;) {
        size_t batch = stream_next(stream, count - done, &bytes);
        memcpy(broken + done, bytes, batch);
        done += batch;
    }
}

taut_status vtp_frame_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                              taut_error *error)
{
    if (frame->lines == 0)
        return TAUT_OK;
    if (frame->is_list)
        return vtp_pieces_springs(frame, strains, broken, error);
    struct stream stream;
    bool sound = stream_open(frame, &frame->strains, &stream);
    if (sound) {
        stream_skip(&stream, frame->verts * (frame->single ? 4 : 8));
        stream_reals(&stream, frame->single, strains, frame->lines);
    }
    stream_close(&stream);
    if (sound) {
        sound = stream_open(frame, &frame->broken, &stream);
        if (sound) {
            stream_skip(&stream, frame->verts);
            read_broken(&stream, broken, frame->lines);
        }
        stream_close(&stream);
    }
    if (!sound)
        return fail_memory(error, "a frame");
    return frame->scan.failed ? refuse(frame,
                                       "cannot be read to its end, or has strains that are not "
                                       "numbers",
                                       error)
                              : TAUT_OK;
}

// Whole numbers of 4 or 8 bytes, each of which must be below a limit.
static void stream_wholes(struct stream *stream, size_t size, uint64_t limit, uint32_t *values,
                          uint64_t count)
{
    struct scan *scan = &stream->frame->scan;
    const unsigned char *bytes;
    for (uint64_t done = 0; done < count && !scan->failed;) {
        size_t batch = stream_next(stream, (count - done) * size, &bytes) / size;
        for (size_t i = 0; i < batch && !scan->failed; i++) {
            uint64_t value = 0;
            for (size_t byte = size; byte > 0; byte--)
                value = value << 8 | bytes[i * size + byte - 1];
            scan->failed = value >= limit || value > UINT32_MAX;
            values[done + i] = (uint32_t)value;
        }
        done += batch;
    }
}

// Numbers first .. first + count - 1 of an array.
static taut_status read_wholes(struct vtp_frame *frame, const struct vtp_array *array, size_t size,
                               uint64_t limit, uint64_t first, uint64_t count, uint32_t *values,
                               taut_error *error)
{
    struct stream stream;
    if (count == 0)
        return TAUT_OK;
    if (!array->present)
        return refuse(frame, "lacks the triangles or bodies of a frame that taut wrote", error);
    bool sound = stream_open(frame, array, &stream);
    if (sound) {
        stream_skip(&stream, first * size);
        stream_wholes(&stream, size, limit, values, count);
    }
    stream_close(&stream);
    if (!sound)
        return fail_memory(error, "a frame");
    return frame->scan.failed
               ? refuse(frame, "cannot be read to its end, or has wrong numbers of nodes or bodies",
                        error)
               : TAUT_OK;
}

taut_status vtp_frame_triangles(struct vtp_frame *frame, uint32_t (*triangles)[3], uint32_t *bodies,
                                taut_error *error)
{
    if (frame->is_list)
        return vtp_pieces_triangles(frame, triangles, bodies, error);
    taut_status status = read_wholes(frame, &frame->triangles, frame->wide ? 8 : 4, frame->points,
                                     0, 3 * frame->polys, &triangles[0][0], error);
    if (status == TAUT_OK)
        status = read_wholes(frame, &frame->cell_bodies, 4, frame->name_count,
                             frame->verts + frame->lines, frame->polys, bodies, error);
    return status;
}

taut_status vtp_frame_node_bodies(struct vtp_frame *frame, uint32_t *bodies, taut_error *error)
{
    if (frame->is_list)
        return vtp_pieces_node_bodies(frame, bodies, error);
    return read_wholes(frame, &frame->node_bodies, 4, frame->name_count, 0, frame->points, bodies,
                       error);
}

taut_status vtp_frame_numbers(struct vtp_frame *frame, enum vtp_numbers which, uint64_t first,
                              uint64_t count, uint64_t limit, uint64_t *numbers, taut_error *error)
{
    const struct vtp_array *array = &frame->numbers[which];
    struct scan *scan = &frame->scan;
    struct stream stream;
    if (count == 0)
        return TAUT_OK;
    if (!array->present)
        return refuse(frame, "lacks the numbers of a piece that taut wrote", error);
    const bool sound = stream_open(frame, array, &stream);
    if (sound)
        stream_skip(&stream, 8 * first);
    for (uint64_t done = 0; sound && done < count && !scan->failed; done++) {
        const unsigned char *bytes;
        numbers[done] = 0;
        if (stream_next(&stream, 8, &bytes) < 8)
            break;
        for (int byte = 8; byte > 0; byte--)
            numbers[done] = numbers[done] << 8 | bytes[byte - 1];
        scan->failed |= numbers[done] >= limit;
    }
    stream_close(&stream);
    if (!sound)
        return fail_memory(error, "a frame");
    return scan->failed ? refuse(frame, "cannot be read to its end, or has wrong numbers", error)
                        : TAUT_OK;
}

void vtp_frame_close(struct vtp_frame *frame)
{
    if (frame->is_list) {
        vtp_pieces_close(frame);
        return;
    }
    for (uint64_t i = 0; i < frame->name_count; i++)
        free(frame->names[i]);
    free(frame->names);
    if (frame->scan.file)
        (void)fclose(frame->scan.file);
    free(frame->body_springs);
    free(frame->path);
    *frame = (struct vtp_frame){0};
}
