#include "play/cuts.h"

#include <stdlib.h>
#include <string.h>

static void mark_numbers(uint8_t *mask, uint64_t length, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] < length)
            mask[numbers[i]] = 1;
}

bool cuts_add(const struct solver_cuts *before, const struct request *stroke,
              struct solver_cuts *cuts)
{
    *cuts = (struct solver_cuts){.spring_count = before->spring_count,
                                 .face_count = before->face_count};
    cuts->springs = calloc((size_t)cuts->spring_count + 1, sizeof *cuts->springs);
    cuts->faces = calloc((size_t)cuts->face_count + 1, sizeof *cuts->faces);
    if (!cuts->springs || !cuts->faces) {
        cuts_free(cuts);
        return false;
    }
    if (before->springs) {
        memcpy(cuts->springs, before->springs, (size_t)cuts->spring_count);
        memcpy(cuts->faces, before->faces, (size_t)cuts->face_count);
    }
    mark_numbers(cuts->springs, cuts->spring_count, stroke->springs, stroke->spring_count);
    mark_numbers(cuts->faces, cuts->face_count, stroke->faces, stroke->face_count);
    return true;
}

void cuts_free(struct solver_cuts *cuts)
{
    free(cuts->springs);
    free(cuts->faces);
    *cuts = (struct solver_cuts){0};
}
