// base/: memory, growing arrays, status, hash, clock.
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

// ---- Memory

// An allocator that counts, and that fails after `left` allocations.
struct counting {
    size_t blocks, bytes, left;
};

static void *counting_allocate(void *context, size_t bytes, size_t alignment)
{
    struct counting *counting = context;
    if (counting->left == 0)
        return NULL;
    counting->left--;
    counting->blocks++;
    counting->bytes += bytes;
    return memory_default_allocator.allocate(NULL, bytes, alignment);
}

static void counting_release(void *context, void *block, size_t bytes)
{
    struct counting *counting = context;
    counting->blocks--;
    counting->bytes -= bytes;
    memory_default_allocator.release(NULL, block, bytes);
}

static void test_size_multiply(void **state)
{
    (void)state;
    size_t product = 7;
    assert_true(size_multiply(6, 7, &product));
    assert_int_equal(product, 42);
    assert_true(size_multiply(SIZE_MAX, 1, &product));
    assert_true(product == SIZE_MAX);
    assert_true(size_multiply(SIZE_MAX, 0, &product));
    assert_int_equal(product, 0);
    product = 7;
    assert_false(size_multiply(SIZE_MAX / 2 + 1, 2, &product));
    assert_false(size_multiply((size_t)1 << 33, (size_t)1 << 33, &product));
    assert_int_equal(product, 7);
}

static void test_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t count = 1; count < 300; count += 7) {
        unsigned char *block = memory_allocate(NULL, count, 3);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % MEMORY_ALIGNMENT, 0);
        for (size_t i = 0; i < 3 * count; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xA5, 3 * count); // the allocator may reuse this block
        memory_release(NULL, block, count, 3);
    }
}

// Large blocks come zeroed from the system, also after others have been released.
static void test_large_memory(void **state)
{
    (void)state;
    enum { MEBIBYTE = 1 << 20, BLOCKS = 5 };
    static const size_t bytes[BLOCKS] = {4 * MEBIBYTE - 1, 4 * MEBIBYTE, 4 * MEBIBYTE + 1,
                                         6 * MEBIBYTE + 4097, 33 * MEBIBYTE};
    for (int round = 0; round < 3; round++) {
        unsigned char *blocks[BLOCKS];
        for (int b = 0; b < BLOCKS; b++) {
            blocks[b] = memory_allocate(NULL, bytes[b], 1);
            assert_non_null(blocks[b]);
            assert_int_equal((uintptr_t)blocks[b] % MEMORY_ALIGNMENT, 0);
            for (size_t i = 0; i < bytes[b]; i += 1021)
                assert_int_equal(blocks[b][i], 0);
            assert_int_equal(blocks[b][bytes[b] - 1], 0);
            memset(blocks[b], b + 1, bytes[b]);
        }
        for (int b = 0; b < BLOCKS; b++) {
            assert_int_equal(blocks[b][0], b + 1);
            assert_int_equal(blocks[b][bytes[b] - 1], b + 1);
            memory_release(NULL, blocks[b], bytes[b], 1);
        }
    }
}

static void test_memory_refuses_overflow(void **state)
{
    (void)state;
    assert_null(memory_allocate(NULL, SIZE_MAX / 8 + 1, 8));
    assert_null(memory_allocate(NULL, (size_t)1 << 40, (size_t)1 << 40));
    // Fits in a size_t, but rounding up to the alignment does not.
    assert_null(memory_allocate(NULL, SIZE_MAX - 5, 1));
}

static void test_memory_of_nothing(void **state)
{
    (void)state;
    void *block = memory_allocate(NULL, 0, 8);
    assert_non_null(block);
    memory_release(NULL, block, 0, 8);
    memory_release(NULL, NULL, 5, 8);
}

static void test_memory_uses_the_given_allocator(void **state)
{
    (void)state;
    struct counting counting = {.left = 2};
    const taut_allocator allocator = {counting_allocate, counting_release, &counting};
    void *first = memory_allocate(&allocator, 10, 8);
    void *second = memory_allocate(&allocator, 0, 8);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(counting.blocks, 2);
    assert_true(counting.bytes >= 80);
    assert_null(memory_allocate(&allocator, 10, 8));
    memory_release(&allocator, first, 10, 8);
    memory_release(&allocator, second, 0, 8);
    assert_int_equal(counting.blocks, 0);
    assert_int_equal(counting.bytes, 0); // releases pass the sizes that were requested
}

static void test_array_reserve_grows_and_keeps(void **state)
{
    (void)state;
    int *array = NULL;
    size_t capacity = 0, moves = 0;
    for (int i = 0; i < 1000; i++) {
        size_t before = capacity;
        assert_true(array_reserve((void **)&array, &capacity, (size_t)i + 1, sizeof *array));
        moves += capacity != before;
        assert_true(capacity > (size_t)i);
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_true(moves <= 8); // capacity doubles
    size_t before = capacity;
    assert_true(array_reserve((void **)&array, &capacity, 3, sizeof *array));
    assert_int_equal(capacity, before);
    free(array);
}

static void test_array_reserve_refuses_overflow(void **state)
{
    (void)state;
    char *array = NULL;
    size_t capacity = 0;
    assert_true(array_reserve((void **)&array, &capacity, 4, 1));
    memcpy(array, "kept", 4);
    char *before = array;
    size_t capacity_before = capacity;
    assert_false(array_reserve((void **)&array, &capacity, SIZE_MAX, 1));
    assert_false(array_reserve((void **)&array, &capacity, SIZE_MAX / 4, 16));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, capacity_before);
    assert_memory_equal(array, "kept", 4);
    free(array);
}

// ---- Status

static void test_fail_writes_the_sentence(void **state)
{
    (void)state;
    taut_error error = {0};
    assert_int_equal(fail(&error, TAUT_ERROR_IO, "cannot write '%s': %d", "a.csv", 28),
                     TAUT_ERROR_IO);
    assert_int_equal(error.code, TAUT_ERROR_IO);
    assert_string_equal(error.text, "cannot write 'a.csv': 28");
    assert_int_equal(fail_memory(&error, "springs"), TAUT_ERROR_MEMORY);
    assert_int_equal(error.code, TAUT_ERROR_MEMORY);
    assert_string_equal(error.text, "out of memory for springs");
    assert_int_equal(fail(NULL, TAUT_ERROR_SCENE, "nobody listens"), TAUT_ERROR_SCENE);
}

static void test_fail_cuts_a_long_sentence(void **state)
{
    (void)state;
    taut_error error = {0};
    char longer[2 * sizeof error.text];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    fail(&error, TAUT_ERROR_IO, "%s", longer);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void test_every_status_has_its_own_text(void **state)
{
    (void)state;
    for (int a = TAUT_OK; a <= TAUT_ERROR_UNSUPPORTED; a++) {
        assert_string_not_equal(taut_status_text((taut_status)a), "unknown status");
        for (int b = TAUT_OK; b < a; b++)
            assert_string_not_equal(taut_status_text((taut_status)a),
                                    taut_status_text((taut_status)b));
    }
    assert_string_equal(taut_status_text((taut_status)(TAUT_ERROR_UNSUPPORTED + 1)),
                        "unknown status");
}

// ---- Hash

static uint64_t hash_of(const void *bytes, size_t length)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, length);
    return hash_end(&hash);
}

// Bytes that look random and are the same on every machine.
static void fill_bytes(unsigned char *bytes, size_t length)
{
    uint32_t word = 1;
    for (size_t i = 0; i < length; i++) {
        word = word * UINT32_C(1664525) + UINT32_C(1013904223);
        bytes[i] = (unsigned char)(word >> 24);
    }
}

// Values of the reference implementation (xxhsum -H64).
static void test_hash_of_known_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {
        {"", UINT64_C(0xEF46DB3751D8E999)},
        {"a", UINT64_C(0xD24EC4F1A98C6E5B)},
        {"abc", UINT64_C(0x44BC2CF5AD770999)},
        {"spring", UINT64_C(0x5CC0F0871E0ED5E6)},
        {"mass and spring", UINT64_C(0x81E09E44BCC83218)},
        {"Hooke: ut tensio, sic vis (1678)", UINT64_C(0xAC9F2A0126E29892)},
        {"The quick brown fox jumps over the lazy dog, 47", UINT64_C(0xFB03D4466DBE2F6E)},
        {"a mass hangs on a spring, and the spring on a mass, and so on: a rope of eighty.",
         UINT64_C(0xA94A6AA279F64ED1)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(hash_of(known[i].text, strlen(known[i].text)) == known[i].hash);
}

static void test_hash_does_not_see_the_cuts(void **state)
{
    (void)state;
    enum { LENGTH = 167 };
    unsigned char bytes[LENGTH];
    fill_bytes(bytes, LENGTH);
    uint64_t whole = hash_of(bytes, LENGTH);
    for (size_t piece = 1; piece <= LENGTH; piece++) {
        struct hash hash;
        hash_begin(&hash);
        for (size_t at = 0; at < LENGTH; at += piece) {
            hash_add(&hash, bytes + at, LENGTH - at < piece ? LENGTH - at : piece);
            hash_add(&hash, NULL, 0);
        }
        assert_true(hash_end(&hash) == whole);
        assert_true(hash_end(&hash) == whole); // hash_end does not change the state
    }
}

static void test_hash_sees_every_bit(void **state)
{
    (void)state;
    enum { LENGTH = 77 };
    unsigned char bytes[LENGTH];
    fill_bytes(bytes, LENGTH);
    uint64_t before = hash_of(bytes, LENGTH);
    unsigned long changed_bits = 0;
    for (size_t bit = 0; bit < 8 * LENGTH; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        uint64_t difference = hash_of(bytes, LENGTH) ^ before;
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(difference != 0);
        for (; difference != 0; difference &= difference - 1)
            changed_bits++;
    }
    // A good hash changes half of the 64 bits on average; the mean of 616 such counts is 32 +- 0.2.
    double mean = (double)changed_bits / (8.0 * LENGTH);
    assert_true(mean > 31 && mean < 33);
}

static void test_hash_sees_the_length_and_the_order(void **state)
{
    (void)state;
    static const unsigned char zeros[64];
    for (size_t a = 0; a <= sizeof zeros; a++)
        for (size_t b = 0; b < a; b++)
            assert_true(hash_of(zeros, a) != hash_of(zeros, b));
    assert_true(hash_of("abcdefgh12345678", 16) != hash_of("12345678abcdefgh", 16));
}

// ---- Clock

static void test_clock_runs_forward(void **state)
{
    (void)state;
    double before = clock_seconds();
    for (int i = 0; i < 1000; i++) {
        double now = clock_seconds();
        assert_true(now >= before);
        before = now;
    }
}

static void test_clock_counts_seconds(void **state)
{
    (void)state;
    double before = clock_seconds();
    struct timespec pause = {.tv_nsec = 20000000};
    while (nanosleep(&pause, &pause) != 0)
        ;
    double passed = clock_seconds() - before;
    assert_true(passed >= 0.0199 && passed < 20); // the machine may be busy, but not that busy
}

static void test_text_endings(void **state)
{
    (void)state;
    assert_true(text_ends_with("a.pvd", ".pvd"));
    assert_true(text_ends_with_any_case("a.OBJ", ".obj"));
    assert_false(text_ends_with("a.OBJ", ".obj"));
    assert_false(text_ends_with(".pvd", ".pvd")); // nothing before it
    assert_false(text_ends_with_any_case(".PVD", ".pvd"));
    assert_false(text_ends_with("vd", ".pvd"));
    assert_false(text_ends_with("a.pvda", ".pvd"));
}

// A shell makes the path of the word again, and takes it for no option.
static void test_shell_path(void **state)
{
    (void)state;
    static const struct {
        const char *path, *word;
    } cases[] = {
        {"out/flag_1.2", "out/flag_1.2"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$HOME", "'$HOME'"},
        {"-f", "./-f"},
        {"-f g", "'./-f g'"},
        {"~", "'~'"},
        {"a\nb\\\"`!*?[#", "'a\nb\\\"`!*?[#'"},
        {"\303\244", "'\303\244'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *word = text_shell_path(cases[i].path), back[64] = "";
        assert_string_equal(word, cases[i].word);
        char *line = text_format("printf %%s %s", word);
        FILE *shell = popen(line, "r");
        assert_non_null(shell);
        back[fread(back, 1, sizeof back - 1, shell)] = '\0';
        assert_int_equal(pclose(shell), 0);
        const bool option = cases[i].path[0] == '-';
        assert_string_equal(back + (option ? 2 : 0), cases[i].path);
        free(line);
        free(word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_endings),
        cmocka_unit_test(test_shell_path),
        cmocka_unit_test(test_size_multiply),
        cmocka_unit_test(test_memory_is_zeroed_and_aligned),
        cmocka_unit_test(test_large_memory),
        cmocka_unit_test(test_memory_refuses_overflow),
        cmocka_unit_test(test_memory_of_nothing),
        cmocka_unit_test(test_memory_uses_the_given_allocator),
        cmocka_unit_test(test_array_reserve_grows_and_keeps),
        cmocka_unit_test(test_array_reserve_refuses_overflow),
        cmocka_unit_test(test_fail_writes_the_sentence),
        cmocka_unit_test(test_fail_cuts_a_long_sentence),
        cmocka_unit_test(test_every_status_has_its_own_text),
        cmocka_unit_test(test_hash_of_known_texts),
        cmocka_unit_test(test_hash_does_not_see_the_cuts),
        cmocka_unit_test(test_hash_sees_every_bit),
        cmocka_unit_test(test_hash_sees_the_length_and_the_order),
        cmocka_unit_test(test_clock_runs_forward),
        cmocka_unit_test(test_clock_counts_seconds),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
