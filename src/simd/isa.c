// Names of the instruction sets, and which of them this processor supports (isa.h). The kernels for
// them are in kernels/.
#include "simd/isa.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const char *const names[ISA_COUNT] = {"base", "v3", "v4"};

// The registers that wide.h uses for ISA_BASE.
#if defined(__x86_64__)
#    define BASE_REGISTERS "SSE2"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#    define BASE_REGISTERS "NEON"
#else
#    define BASE_REGISTERS "plain C"
#endif
static const char *const registers[ISA_COUNT] = {BASE_REGISTERS, "AVX2", "AVX-512"};

const char *isa_name(enum isa isa)
{
    return names[isa];
}

const char *isa_registers(enum isa isa)
{
    return registers[isa];
}

bool isa_available(enum isa isa)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (isa) {
    case ISA_BASE:
        return true;
    case ISA_V3:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case ISA_V4:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    case ISA_COUNT:
        break;
    }
    return false;
#else
    return isa == ISA_BASE;
#endif
}

static taut_status request_of_environment(taut_isa *request, taut_error *error)
{
    const char *text = getenv("TAUT_ISA");
    if (!text || strcmp(text, "auto") == 0 || *text == '\0')
        return TAUT_OK;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (strcmp(text, names[isa]) == 0) {
            *request = (taut_isa)(TAUT_ISA_BASE + isa);
            return TAUT_OK;
        }
    return fail(error, TAUT_ERROR_ARGUMENT,
                "environment variable TAUT_ISA is '%s'; choose auto, base, v3 or v4", text);
}

taut_status isa_choose(taut_isa request, enum isa *isa, taut_error *error)
{
    if (request == TAUT_ISA_AUTO) {
        taut_status status = request_of_environment(&request, error);
        if (status != TAUT_OK)
            return status;
    }
    if (request == TAUT_ISA_AUTO) {
        *isa = ISA_COUNT - 1;
        while (!isa_available(*isa))
            (*isa)--;
        return TAUT_OK;
    }
    if ((int)request < TAUT_ISA_BASE || (int)request >= TAUT_ISA_BASE + ISA_COUNT)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "instruction set %d: choose TAUT_ISA_AUTO, TAUT_ISA_BASE, TAUT_ISA_V3 or "
                    "TAUT_ISA_V4",
                    (int)request);
    *isa = (enum isa)(request - TAUT_ISA_BASE);
    if (!isa_available(*isa))
        return fail(error, TAUT_ERROR_UNSUPPORTED, "this machine cannot run instruction set %s",
                    names[*isa]);
    return TAUT_OK;
}
