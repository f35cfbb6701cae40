#include "output/vtp.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "output/file.h"
#include "output/vtp_arrays.h"

// Time, and the bodies' names: VTK writes a string as the codes of its characters and a 0.
static void write_field_data(struct file *file, const struct vtp_content *content)
{
    const struct snapshot *now = content->now;
    file_print(file, "    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
                     "NumberOfTuples=\"1\" format=\"ascii\">");
    file_number(file, now->time, 17);
    file_print(file,
               "</DataArray>\n      <Array type=\"String\" Name=\"body_names\" "
               "NumberOfTuples=\"%zu\" format=\"ascii\">\n",
               now->body_count);
    for (size_t b = 0; b < now->body_count; b++) {
        for (const char *c = now->bodies[b].name; *c; c++)
            file_print(file, "%d ", (unsigned char)*c);
        file_print(file, "0\n");
    }
    file_print(file, "      </Array>\n    </FieldData>\n");
}

static void write_head(struct file *file, const struct vtp_content *content)
{
    file_print(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <PolyData>\n");
    write_field_data(file, content);
    file_print(file,
               "    <Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfVerts=\"%" PRIu64
               "\" NumberOfLines=\"%" PRIu64 "\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRIu64
               "\">\n",
               content->points, content->verts, content->lines, content->polys);
    uint64_t offset = 0;
    const char *section = NULL;
    for (size_t i = 0; i < VTP_ARRAY_COUNT; i++) {
        const struct vtp_array *array = &vtp_arrays[i];
        if (!section || strcmp(section, array->section) != 0) {
            if (section)
                file_print(file, "      </%s>\n", section);
            section = array->section;
            file_print(file, "      <%s>\n", section);
        }
        file_print(file,
                   "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                   "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                   vtp_type_name(array->type, content), array->name, array->components, offset);
        offset += sizeof(uint64_t) + vtp_array_bytes(array, content);
    }
    file_print(file, "      </%s>\n    </Piece>\n  </PolyData>\n", section);
}

static void write_data(struct file *file, const struct vtp_content *content)
{
    file_print(file, "  <AppendedData encoding=\"raw\">\n   _");
    for (size_t i = 0; i < VTP_ARRAY_COUNT && !file->failure; i++) {
        uint64_t bytes = vtp_array_bytes(&vtp_arrays[i], content);
        file_put_u64(file, bytes);
        uint64_t before = file_length(file);
        vtp_arrays[i].write(file, content);
        assert(file->failure || file_length(file) - before == bytes);
        (void)before;
    }
    file_print(file, "\n  </AppendedData>\n</VTKFile>\n");
}

taut_status vtp_write(const char *path, const struct snapshot *now, taut_error *error)
{
    struct vtp_content content = vtp_count(now);
    uint64_t nodes = content.scratch_nodes;
    content.strain_sums = memory_allocate(NULL, nodes, sizeof *content.strain_sums);
    content.strain_counts = memory_allocate(NULL, nodes, sizeof *content.strain_counts);
    taut_status status = TAUT_OK;
    struct file file = {0};
    if (!content.strain_sums || !content.strain_counts)
        status = fail_memory(error, "the strains of faces");
    else
        status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        write_head(&file, &content);
        write_data(&file, &content);
        status = file_commit(&file, error);
    }
    memory_release(NULL, content.strain_sums, nodes, sizeof *content.strain_sums);
    memory_release(NULL, content.strain_counts, nodes, sizeof *content.strain_counts);
    return status;
}
