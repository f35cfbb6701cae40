// Instruction sets that kernels are built for, and which of them this machine supports.
#ifndef TAUT_SIMD_ISA_H
#define TAUT_SIMD_ISA_H

#include <stdbool.h>

#include "taut.h"

enum isa {
    ISA_BASE, // on every machine of the architecture: SSE2 on x86-64, NEON on 64-bit ARM, plain C
              // elsewhere
    ISA_V3,   // x86-64-v3: AVX2
    ISA_V4,   // x86-64-v4: AVX-512
    ISA_COUNT
};

// "base", "v3", "v4".
const char *isa_name(enum isa isa);

// The registers that kernels use: "SSE2", "NEON", "plain C", "AVX2", "AVX-512".
const char *isa_registers(enum isa isa);

// Whether this build has kernels for the instruction set and this machine can run them.
bool isa_available(enum isa isa);

// The instruction set to use: `request` if it names one; for TAUT_ISA_AUTO the one in the
// environment variable TAUT_ISA, otherwise the widest available. TAUT_ERROR_UNSUPPORTED if it is
// not available, TAUT_ERROR_ARGUMENT if TAUT_ISA is not a name.
taut_status isa_choose(taut_isa request, enum isa *isa, taut_error *error);

#endif
