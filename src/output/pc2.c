#include "output/pc2.h"

#include <string.h>

enum { SAMPLE_COUNT_OFFSET = 28 };

taut_status pc2_open(struct pc2 *cache, const char *path, uint64_t node_count, double start,
                     double sample_seconds, taut_error *error)
{
    memset(cache, 0, sizeof *cache);
    if (node_count > INT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "cannot write '%s': a point cache holds at most 2147483647 points", path);
    taut_status status = file_grow(&cache->file, path, error);
    if (status != TAUT_OK)
        return status;
    cache->node_count = node_count;
    file_write(&cache->file, "POINTCACHE2", 12);
    file_put_u32(&cache->file, 1);
    file_put_u32(&cache->file, (uint32_t)node_count);
    file_put_f32(&cache->file, start);
    file_put_f32(&cache->file, sample_seconds > 0 ? sample_seconds : 1);
    file_put_u32(&cache->file, 0);
    status = file_keep(&cache->file, error);
    if (status != TAUT_OK)
        file_abandon(&cache->file);
    return status;
}

taut_status pc2_add(struct pc2 *cache, const double *positions, taut_error *error)
{
    if (cache->sample_count == INT32_MAX)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "cannot write '%s': a point cache holds at most 2147483647 samples",
                    cache->file.path);
    for (uint64_t i = 0; i < 3 * cache->node_count; i++)
        file_put_f32(&cache->file, positions[i]);
    uint32_t count = cache->sample_count + 1;
    unsigned char bytes[4] = {(unsigned char)count, (unsigned char)(count >> 8),
                              (unsigned char)(count >> 16), (unsigned char)(count >> 24)};
    file_patch(&cache->file, SAMPLE_COUNT_OFFSET, bytes, sizeof bytes);
    taut_status status = file_keep(&cache->file, error);
    if (status == TAUT_OK)
        cache->sample_count = count;
    return status;
}

taut_status pc2_close(struct pc2 *cache, taut_error *error)
{
    return file_close(&cache->file, error);
}
