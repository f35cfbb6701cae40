// Random sequences of calls of taut.h (calls_fixture.h): setters, steps, critical steps, energies,
// contacts and checkpoints in any order, on one and three threads and on restored solvers.
#include "calls_fixture.h"
#include "physics.h"

// One sequence for each scene; fuzz_calls.c makes as many as it has time for.
enum { LENGTH = 300 };

static void test_any_order(void **state)
{
    (void)state;
    uint64_t random = 12345;
    for (size_t scene = 0; scene < calls_scene_count; scene++) {
        uint8_t bytes[LENGTH];
        for (size_t i = 0; i < LENGTH; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(random >> 56);
        }
        bytes[0] = (uint8_t)scene;
        const char *const difference = calls_make(bytes, LENGTH);
        if (difference)
            fail_msg("scene %zu: %s", scene, difference);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
