#include "checkpoint_fixture.h"

#include <string.h>

// The largest instruction set of this machine.
enum isa best_isa(void)
{
    enum isa best = ISA_BASE;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (isa_available((enum isa)isa))
            best = (enum isa)isa;
    return best;
}

struct saved save(taut_solver *solver)
{
    struct saved saved;
    taut_error error = {0};
    if (taut_solver_save_memory(solver, &saved.bytes, &saved.count, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return saved;
}

struct saved save_and_end(taut_solver *solver)
{
    struct saved saved = save(solver);
    taut_solver_destroy(solver);
    return saved;
}

static taut_config config_of(int threads, enum isa isa)
{
    return (taut_config){.threads = threads, .isa = (taut_isa)(TAUT_ISA_BASE + (int)isa)};
}

taut_solver *create_with(const taut_scene *scene, const taut_config *config)
{
    taut_error error = {0};
    taut_solver *solver;
    if (taut_solver_create(scene, config, &solver, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return solver;
}

taut_solver *create(const taut_scene *scene, int threads, enum isa isa)
{
    const taut_config config = config_of(threads, isa);
    return create_with(scene, &config);
}

taut_solver *restore_with(const taut_scene *scene, struct saved saved, const taut_config *config)
{
    taut_error error = {0};
    taut_solver *solver;
    if (taut_solver_restore_memory(scene, saved.bytes, saved.count, config, &solver, &error) !=
        TAUT_OK)
        fail_msg("%s", error.text);
    return solver;
}

taut_solver *restore(const taut_scene *scene, struct saved saved, int threads, enum isa isa)
{
    const taut_config config = config_of(threads, isa);
    return restore_with(scene, saved, &config);
}

size_t feed_reader(void *context, void *bytes, size_t count, int *failure)
{
    struct saved *left = context;
    (void)failure;
    const size_t got = count < left->count ? count : left->count;
    memcpy(bytes, left->bytes, got);
    left->bytes = (unsigned char *)left->bytes + got;
    left->count -= got;
    return got;
}

// Prints the first array that differs.
static void report_difference(struct saved a, struct saved b, const char *what)
{
    struct archive_reader readers[2];
    struct archive_chunk chunks[2];
    taut_error error = {0};
    assert_int_equal(archive_open(&readers[0], feed_reader, &a, "a", &error), TAUT_OK);
    assert_int_equal(archive_open(&readers[1], feed_reader, &b, "b", &error), TAUT_OK);
    if (readers[0].header.step != readers[1].header.step ||
        readers[0].header.dt != readers[1].header.dt)
        print_error("%s: another step or dt\n", what);
    do {
        for (int i = 0; i < 2; i++)
            assert_int_equal(archive_next(&readers[i], &chunks[i], &error), TAUT_OK);
        const size_t size = (size_t)chunks[0].count * archive_type_bytes(chunks[0].type);
        if (strcmp(chunks[0].name, chunks[1].name) != 0 || chunks[0].count != chunks[1].count)
            print_error("%s: '%s' is not '%s'\n", what, chunks[0].name, chunks[1].name);
        else if (size > 0 && memcmp(chunks[0].numbers, chunks[1].numbers, size) != 0)
            print_error("%s: '%s' differs\n", what, chunks[0].name);
    } while (chunks[0].name[0] && chunks[1].name[0]);
    archive_close(&readers[0]);
    archive_close(&readers[1]);
}

void assert_same_saved(struct saved a, struct saved b, const char *what)
{
    if (a.count == b.count && memcmp(a.bytes, b.bytes, a.count) == 0)
        return;
    report_difference(a, b, what);
    fail_msg("%s: the run that was restored is another one", what);
}
