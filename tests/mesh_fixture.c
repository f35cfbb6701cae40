// Writes binary files, and renders diagnostics (mesh_fixture.h).
#include "test.h"

#include "mesh_fixture.h"

#include "base/vec3.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_bytes(struct bytes *bytes, const void *data, size_t size)
{
    assert_true(bytes->size + size <= sizeof bytes->data);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void put_text(struct bytes *bytes, const char *text)
{
    put_bytes(bytes, text, strlen(text));
}

void put_whole(struct bytes *bytes, uint64_t value, size_t size)
{
    unsigned char data[8];
    for (size_t i = 0; i < size; ++i)
        data[bytes->big_endian ? size - 1 - i : i] = (unsigned char)(value >> (8 * i));
    put_bytes(bytes, data, size);
}

void put_float(struct bytes *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_whole(bytes, bits, sizeof bits);
}

void put_double(struct bytes *bytes, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_whole(bytes, bits, sizeof bits);
}

const char *write_file(const char *name, const void *data, size_t size)
{
    static char path[1024];
    assert_true(mkdir(TAUT_TEST_OUT, 0777) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s", TAUT_TEST_OUT, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *findings_text(struct diagnostics *diagnostics)
{
    static char text[16384];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < diagnostics->count; ++i) {
        char *rendered = diagnostic_render(&diagnostics->items[i]);
        assert_non_null(rendered);
        char *end = strchr(rendered, '\n');
        assert_non_null(end);
        end[1] = '\0';
        assert_true(length + strlen(rendered) < sizeof text);
        memcpy(text + length, rendered, strlen(rendered) + 1);
        length += strlen(rendered);
        free(rendered);
    }
    diagnostics_free(diagnostics);
    return text;
}

static vec3 corner_of(const struct mesh *mesh, uint64_t corner)
{
    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[corner];
    return vec3_make(p[0], p[1], p[2]);
}

double six_volumes(const struct mesh *mesh)
{
    double sum = 0;
    for (uint64_t t = 0; t < mesh->triangle_count; ++t)
        sum += vec3_dot(corner_of(mesh, 3 * t),
                        vec3_cross(corner_of(mesh, 3 * t + 1), corner_of(mesh, 3 * t + 2)));
    return sum;
}
