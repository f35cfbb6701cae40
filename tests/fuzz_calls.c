// libFuzzer: any sequence of calls of taut.h (calls_fixture.h). Any number of threads and a solver
// that was restored from a checkpoint must agree.
#include "calls_fixture.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const difference = calls_make(data, size);
    if (difference) {
        fprintf(stderr, "differ: %s\n", difference);
        abort();
    }
    return 0;
}
