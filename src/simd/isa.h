// Instruction sets that kernels are built for, and which of them this machine has.
#ifndef TAUT_SIMD_ISA_H
#define TAUT_SIMD_ISA_H

#include <stdbool.h>

#include "taut.h"

enum isa {
    ISA_BASE, // what every machine of the architecture has: SSE2 on x86-64, NEON on 64-bit ARM,
              // plain C elsewhere
    ISA_V3,   // x86-64-v3: AVX2
    ISA_V4,   // x86-64-v4: AVX-512
    ISA_COUNT
};

// "base", "v3", "v4".
const char *isa_name(enum isa isa);

// The registers that it uses here: "SSE2", "NEON", "plain C", "AVX2", "AVX-512".
const char *isa_registers(enum isa isa);

// Whether this build has kernels for it and this machine can run them.
bool isa_available(enum isa isa);

// The instruction set to use for a wish: the one named; for TAUT_ISA_AUTO that of the environment
// variable TAUT_ISA, and without it the widest available. TAUT_ERROR_UNSUPPORTED if it cannot be
// had, TAUT_ERROR_ARGUMENT if TAUT_ISA names none.
taut_status isa_choose(taut_isa wish, enum isa *isa, taut_error *error);

#endif
