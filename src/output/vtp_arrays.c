#include "output/vtp_arrays.h"

#include <string.h>

static bool has_triangles(const struct snapshot_body *body)
{
    return body->face_arity == 3 && body->face_count > 0;
}

static bool has_verts(const struct snapshot_body *body)
{
    return body->spring_count == 0 && !has_triangles(body);
}

static uint64_t vert_count(const struct snapshot_body *body)
{
    return has_verts(body) ? body->node_count : 0;
}

static uint64_t poly_count(const struct snapshot_body *body)
{
    return has_triangles(body) ? body->face_count : 0;
}

static uint64_t count_points(const struct vtp_content *content)
{
    return content->points;
}

static uint64_t count_verts(const struct vtp_content *content)
{
    return content->verts;
}

static uint64_t count_lines(const struct vtp_content *content)
{
    return content->lines;
}

static uint64_t count_line_ends(const struct vtp_content *content)
{
    return 2 * content->lines;
}

static uint64_t count_polys(const struct vtp_content *content)
{
    return content->polys;
}

static uint64_t count_poly_corners(const struct vtp_content *content)
{
    return 3 * content->polys;
}

static uint64_t count_cells(const struct vtp_content *content)
{
    return content->verts + content->lines + content->polys;
}

static void put_real(struct file *file, const struct vtp_content *content, double value)
{
    if (content->now->single)
        file_put_f32(file, value);
    else
        file_put_f64(file, value);
}

static void put_index(struct file *file, const struct vtp_content *content, uint64_t value)
{
    if (content->wide)
        file_put_u64(file, value);
    else
        file_put_u32(file, (uint32_t)value);
}

static void put_reals(struct file *file, const struct vtp_content *content, const double *values,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_real(file, content, values[i]);
}

static void write_positions(struct file *file, const struct vtp_content *content)
{
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        put_reals(file, content, body->positions, 3 * body->node_count);
    }
}

static void write_velocities(struct file *file, const struct vtp_content *content)
{
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        put_reals(file, content, body->velocities, 3 * body->node_count);
    }
}

static void write_forces(struct file *file, const struct vtp_content *content)
{
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        put_reals(file, content, body->forces, 3 * body->node_count);
    }
}

static void put_repeated_u32(struct file *file, uint32_t value, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        file_put_u32(file, value);
}

static void put_repeated_u8(struct file *file, uint8_t value, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        file_put_u8(file, value);
}

static void write_point_bodies(struct file *file, const struct vtp_content *content)
{
    for (size_t b = 0; b < content->now->body_count; b++)
        put_repeated_u32(file, (uint32_t)b, content->now->bodies[b].node_count);
}

static void write_verts(struct file *file, const struct vtp_content *content)
{
    uint64_t base = 0;
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        for (uint64_t i = 0; i < vert_count(body); i++)
            put_index(file, content, base + i);
        base += body->node_count;
    }
}

static void write_lines(struct file *file, const struct vtp_content *content)
{
    uint64_t base = 0;
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        for (uint64_t i = 0; i < body->spring_count; i++) {
            put_index(file, content, base + body->springs[i][0]);
            put_index(file, content, base + body->springs[i][1]);
        }
        base += body->node_count;
    }
}

static void write_polys(struct file *file, const struct vtp_content *content)
{
    uint64_t base = 0;
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        for (uint64_t i = 0; i < 3 * poly_count(body); i++)
            put_index(file, content, base + body->faces[i]);
        base += body->node_count;
    }
}

// VTK wants, for each cell, where the next one's points begin.
static void write_offsets(struct file *file, const struct vtp_content *content, uint64_t cells,
                          uint64_t corners)
{
    for (uint64_t i = 1; i <= cells; i++)
        put_index(file, content, corners * i);
}

static void write_vert_offsets(struct file *file, const struct vtp_content *content)
{
    write_offsets(file, content, content->verts, 1);
}

static void write_line_offsets(struct file *file, const struct vtp_content *content)
{
    write_offsets(file, content, content->lines, 2);
}

static void write_poly_offsets(struct file *file, const struct vtp_content *content)
{
    write_offsets(file, content, content->polys, 3);
}

static bool is_broken(const struct snapshot_body *body, uint64_t spring)
{
    return body->broken && body->broken[spring];
}

static void gather_strains(const struct vtp_content *content, const struct snapshot_body *body)
{
    memset(content->strain_sums, 0, body->node_count * sizeof *content->strain_sums);
    memset(content->strain_counts, 0, body->node_count * sizeof *content->strain_counts);
    for (uint64_t i = 0; i < body->spring_count; i++) {
        for (int end = 0; end < 2 && !is_broken(body, i); end++) {
            content->strain_sums[body->springs[i][end]] += body->strains[i];
            content->strain_counts[body->springs[i][end]]++;
        }
    }
}

static void write_face_strains(struct file *file, const struct vtp_content *content,
                               const struct snapshot_body *body)
{
    gather_strains(content, body);
    for (uint64_t i = 0; i < body->face_count; i++) {
        double sum = 0;
        uint64_t count = 0;
        for (int corner = 0; corner < 3; corner++) {
            uint32_t node = body->faces[3 * i + (uint64_t)corner];
            sum += content->strain_sums[node];
            count += content->strain_counts[node];
        }
        put_real(file, content, count ? sum / (double)count : 0);
    }
}

static void write_strains(struct file *file, const struct vtp_content *content)
{
    for (uint64_t i = 0; i < content->verts; i++)
        put_real(file, content, 0);
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        put_reals(file, content, body->strains, body->spring_count);
    }
    for (size_t b = 0; b < content->now->body_count; b++)
        if (has_triangles(&content->now->bodies[b]))
            write_face_strains(file, content, &content->now->bodies[b]);
}

static void write_cell_bodies(struct file *file, const struct vtp_content *content)
{
    const struct snapshot *now = content->now;
    for (size_t b = 0; b < now->body_count; b++)
        put_repeated_u32(file, (uint32_t)b, vert_count(&now->bodies[b]));
    for (size_t b = 0; b < now->body_count; b++)
        put_repeated_u32(file, (uint32_t)b, now->bodies[b].spring_count);
    for (size_t b = 0; b < now->body_count; b++)
        put_repeated_u32(file, (uint32_t)b, poly_count(&now->bodies[b]));
}

static void write_broken(struct file *file, const struct vtp_content *content)
{
    put_repeated_u8(file, 0, content->verts);
    for (size_t b = 0; b < content->now->body_count; b++) {
        const struct snapshot_body *body = &content->now->bodies[b];
        for (uint64_t i = 0; i < body->spring_count; i++)
            file_put_u8(file, is_broken(body, i));
    }
    put_repeated_u8(file, 0, content->polys);
}

const struct vtp_array vtp_arrays[VTP_ARRAY_COUNT] = {
    {"PointData", "velocity", VTP_REAL, 3, count_points, write_velocities},
    {"PointData", "force", VTP_REAL, 3, count_points, write_forces},
    {"PointData", "body", VTP_INT32, 1, count_points, write_point_bodies},
    {"CellData", "strain", VTP_REAL, 1, count_cells, write_strains},
    {"CellData", "body", VTP_INT32, 1, count_cells, write_cell_bodies},
    {"CellData", "broken", VTP_UINT8, 1, count_cells, write_broken},
    {"Points", "Points", VTP_REAL, 3, count_points, write_positions},
    {"Verts", "connectivity", VTP_INDEX, 1, count_verts, write_verts},
    {"Verts", "offsets", VTP_INDEX, 1, count_verts, write_vert_offsets},
    {"Lines", "connectivity", VTP_INDEX, 1, count_line_ends, write_lines},
    {"Lines", "offsets", VTP_INDEX, 1, count_lines, write_line_offsets},
    {"Polys", "connectivity", VTP_INDEX, 1, count_poly_corners, write_polys},
    {"Polys", "offsets", VTP_INDEX, 1, count_polys, write_poly_offsets},
};

const char *vtp_type_name(enum vtp_type type, const struct vtp_content *content)
{
    switch (type) {
    case VTP_REAL:
        return content->now->single ? "Float32" : "Float64";
    case VTP_INDEX:
        return content->wide ? "Int64" : "Int32";
    case VTP_INT32:
        return "Int32";
    case VTP_UINT8:
        return "UInt8";
    }
    return "";
}

static uint64_t type_size(enum vtp_type type, const struct vtp_content *content)
{
    switch (type) {
    case VTP_REAL:
        return content->now->single ? 4 : 8;
    case VTP_INDEX:
        return content->wide ? 8 : 4;
    case VTP_INT32:
        return 4;
    case VTP_UINT8:
        return 1;
    }
    return 0;
}

uint64_t vtp_array_bytes(const struct vtp_array *array, const struct vtp_content *content)
{
    return array->tuples(content) * (uint64_t)array->components * type_size(array->type, content);
}

bool vtp_is_wide(const struct vtp_content *content)
{
    return content->points > INT32_MAX || count_line_ends(content) > INT32_MAX ||
           count_poly_corners(content) > INT32_MAX;
}

struct vtp_content vtp_count(const struct snapshot *now)
{
    struct vtp_content content = {.now = now};
    for (size_t b = 0; b < now->body_count; b++) {
        const struct snapshot_body *body = &now->bodies[b];
        content.points += body->node_count;
        content.verts += vert_count(body);
        content.lines += body->spring_count;
        content.polys += poly_count(body);
        if (has_triangles(body) && body->node_count > content.scratch_nodes)
            content.scratch_nodes = body->node_count;
    }
    content.wide = vtp_is_wide(&content);
    return content;
}
