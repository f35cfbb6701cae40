// Replaces libzstd, which would have to be installed for ARM: hashes.c neither writes nor reads
// checkpoints. Whatever calls these functions fails, as without memory.
#include <zstd.h>

#include <stddef.h>

ZSTD_CCtx *ZSTD_createCCtx(void)
{
    return NULL;
}

size_t ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    (void)context;
    return 0;
}

size_t ZSTD_compressBound(size_t size)
{
    return size;
}

size_t ZSTD_compressCCtx(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size,
                         int level)
{
    (void)context, (void)to, (void)room, (void)from, (void)size, (void)level;
    return (size_t)-1;
}

unsigned ZSTD_isError(size_t code)
{
    return code == (size_t)-1;
}

size_t ZSTD_decompress(void *to, size_t room, const void *from, size_t size)
{
    (void)to, (void)room, (void)from, (void)size;
    return (size_t)-1;
}
