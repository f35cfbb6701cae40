// libFuzzer: any bytes as a frame (.vtp). The reader must reject it, or read what its head
// declares.
#include "output/vtp_reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_triangles(struct vtp_frame *frame)
{
    uint32_t(*triangles)[3] = calloc(frame->polys + 1, sizeof *triangles);
    uint32_t *bodies = calloc(frame->polys + 1, sizeof *bodies);
    uint32_t *node_bodies = calloc(frame->points + 1, sizeof *node_bodies);
    if (!triangles || !bodies || !node_bodies)
        abort();
    if (vtp_frame_triangles(frame, triangles, bodies, NULL) == TAUT_OK)
        for (uint64_t i = 0; i < frame->polys; i++)
            if (triangles[i][0] >= frame->points || triangles[i][1] >= frame->points ||
                triangles[i][2] >= frame->points || bodies[i] >= frame->name_count)
                abort();
    (void)vtp_frame_node_bodies(frame, node_bodies, NULL);
    free(triangles);
    free(bodies);
    free(node_bodies);
}

static void read_all(struct vtp_frame *frame)
{
    float *positions = calloc(3 * frame->points + 1, sizeof *positions);
    float *strains = calloc(frame->lines + 1, sizeof *strains);
    uint8_t *broken = calloc(frame->lines + 1, sizeof *broken);
    if (!positions || !strains || !broken) // the file is as long as its counts require
        abort();
    taut_error error = {0};
    if (vtp_frame_positions(frame, positions, &error) == TAUT_OK) {
        for (uint64_t i = 0; i < 3 * frame->points; i++)
            if (!isfinite(positions[i]))
                abort();
    } else if (!error.text[0]) {
        abort();
    }
    (void)vtp_frame_springs(frame, strains, broken, NULL);
    read_triangles(frame);
    free(positions);
    free(strains);
    free(broken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "rb");
    if (!file)
        abort();
    struct vtp_frame frame;
    taut_error error = {0};
    if (vtp_frame_read_file(file, "fuzz", &frame, &error) == TAUT_OK) {
        read_all(&frame);
        vtp_frame_close(&frame);
    } else if (!error.text[0]) {
        abort();
    }
    return 0;
}
