#include "output/vtp_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/vtp_arrays.h"

static const uint64_t COUNT_MAX = (uint64_t)1 << 40; // of anything: no sum below overflows

static taut_status refuse(const struct vtp_frame *frame, const char *what, taut_error *error)
{
    return fail(error, TAUT_ERROR_IO, "'%s' %s", frame->path, what);
}

// As write_field_data in vtp.c writes it: names are lines of numbers.
static void pass_field_data(struct vtp_frame *frame)
{
    struct scan *scan = &frame->scan;
    scan_expect(scan, "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                      "NumberOfTuples=\"1\" format=\"ascii\">");
    frame->time = scan_number(scan, '<');
    scan_expect(scan, "/DataArray>\n      <Array type=\"String\" Name=\"body_names\" "
                      "NumberOfTuples=\"");
    uint64_t names = scan_count(scan, '"');
    scan_expect(scan, " format=\"ascii\">\n");
    for (uint64_t i = 0; i < names && !scan->failed; i++) {
        int letter;
        while ((letter = getc(scan->file)) != '\n' && !scan->failed)
            scan->failed = letter != ' ' && (letter < '0' || letter > '9');
    }
    scan_expect(scan, "      </Array>\n    </FieldData>\n");
}

static void pass_counts(struct vtp_frame *frame)
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

static bool is_array(const struct vtp_array *array, const char *section, const char *name)
{
    return strcmp(array->section, section) == 0 && strcmp(array->name, name) == 0;
}

// The line of one array. The first tells the precision of all.
static void pass_array(struct vtp_frame *frame, const struct vtp_array *array,
                       struct vtp_content *content, struct snapshot *now, uint64_t *offset)
{
    struct scan *scan = &frame->scan;
    char type[16];
    scan_expect(scan, "        <DataArray type=\"");
    scan_until(scan, '"', type, sizeof type);
    if (array == vtp_arrays)
        now->single = strcmp(type, "Float32") == 0;
    scan->failed |= strcmp(type, vtp_type_name(array->type, content)) != 0;
    scan_expect(scan, " Name=\"");
    scan_expect(scan, array->name);
    scan_expect(scan, "\" NumberOfComponents=\"");
    scan->failed |= scan_count(scan, '"') != (uint64_t)array->components;
    scan_expect(scan, " format=\"appended\" offset=\"");
    scan->failed |= scan_count(scan, '"') != *offset;
    scan_expect(scan, "/>\n");
    uint64_t values = *offset + sizeof(uint64_t);
    if (is_array(array, "Points", "Points"))
        frame->positions = values;
    else if (is_array(array, "CellData", "strain"))
        frame->strains = values;
    else if (is_array(array, "CellData", "broken"))
        frame->broken = values;
    *offset = values + vtp_array_bytes(array, content);
}

// The lines of all arrays; where the values are comes out as distances from the data's beginning.
// Returns how long the data is.
static uint64_t pass_arrays(struct vtp_frame *frame)
{
    struct snapshot now = {0};
    struct vtp_content content = {.now = &now,
                                  .points = frame->points,
                                  .verts = frame->verts,
                                  .lines = frame->lines,
                                  .polys = frame->polys};
    content.wide = vtp_is_wide(&content);
    struct scan *scan = &frame->scan;
    const char *section = NULL;
    uint64_t offset = 0;
    for (size_t i = 0; i < VTP_ARRAY_COUNT && !scan->failed; i++) {
        if (!section || strcmp(section, vtp_arrays[i].section) != 0) {
            if (section) {
                scan_expect(scan, "      </");
                scan_expect(scan, section);
                scan_expect(scan, ">\n");
            }
            section = vtp_arrays[i].section;
            scan_expect(scan, "      <");
            scan_expect(scan, section);
            scan_expect(scan, ">\n");
        }
        pass_array(frame, &vtp_arrays[i], &content, &now, &offset);
    }
    scan_expect(scan, "      </Polys>\n    </Piece>\n  </PolyData>\n"
                      "  <AppendedData encoding=\"raw\">\n   _");
    frame->single = now.single;
    return offset;
}

static taut_status pass_head(struct vtp_frame *frame, taut_error *error)
{
    struct scan *scan = &frame->scan;
    scan_expect(scan, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <PolyData>\n");
    pass_field_data(frame);
    pass_counts(frame);
    uint64_t length = pass_arrays(frame), data = scan_place(scan);
    if (scan->failed)
        return refuse(frame, "is not a frame that taut wrote: its head is another", error);
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    if (scan_length(scan) != data + length + strlen(tail) || scan->failed)
        return refuse(frame, "is not whole: it is shorter or longer than its head says", error);
    frame->positions += data;
    frame->strains += data;
    frame->broken += data;
    return TAUT_OK;
}

taut_status vtp_frame_take(FILE *file, const char *path, struct vtp_frame *frame, taut_error *error)
{
    *frame = (struct vtp_frame){.scan = {.file = file}, .path = text_format("%s", path)};
    taut_status status =
        frame->path ? pass_head(frame, error) : fail_memory(error, "the name of a frame");
    if (status != TAUT_OK)
        vtp_frame_close(frame);
    return status;
}

taut_status vtp_frame_open(const char *path, struct vtp_frame *frame, taut_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", path, strerror(errno));
    return vtp_frame_take(file, path, frame, error);
}

// To the values of an array that has this many bytes, and past some.
static void go_to(struct vtp_frame *frame, uint64_t values, uint64_t bytes, uint64_t skipped)
{
    scan_go(&frame->scan, values - sizeof(uint64_t));
    if (scan_u64(&frame->scan) != bytes)
        frame->scan.failed = true;
    scan_go(&frame->scan, values + skipped);
}

taut_status vtp_frame_positions(struct vtp_frame *frame, float *positions, taut_error *error)
{
    uint64_t size = frame->single ? 4 : 8;
    go_to(frame, frame->positions, 3 * size * frame->points, 0);
    scan_reals(&frame->scan, frame->single, positions, 3 * frame->points);
    return frame->scan.failed ? refuse(frame,
                                       "cannot be read to its end, or has positions that "
                                       "are not numbers",
                                       error)
                              : TAUT_OK;
}

taut_status vtp_frame_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                              taut_error *error)
{
    uint64_t cells = frame->verts + frame->lines + frame->polys, size = frame->single ? 4 : 8;
    struct scan *scan = &frame->scan;
    go_to(frame, frame->strains, size * cells, size * frame->verts);
    scan_reals(scan, frame->single, strains, frame->lines);
    go_to(frame, frame->broken, cells, frame->verts);
    if (fread(broken, 1, (size_t)frame->lines, scan->file) != frame->lines)
        scan->failed = true;
    return scan->failed ? refuse(frame,
                                 "cannot be read to its end, or has strains that are not "
                                 "numbers",
                                 error)
                        : TAUT_OK;
}

void vtp_frame_close(struct vtp_frame *frame)
{
    if (frame->scan.file)
        (void)fclose(frame->scan.file);
    free(frame->path);
    *frame = (struct vtp_frame){0};
}
