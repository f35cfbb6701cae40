// Included first by every test runner: cmocka, and the headers that it requires. cmocka defines a
// macro fail(), which is removed here: tests mean the library's function of that name
// (base/status.h).
#ifndef TAUT_TESTS_TEST_H
#define TAUT_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

// Asserts that `part` is in the text; prints both if it is not.
#define assert_contains(text, part) assert_contains_at(text, part, __FILE__, __LINE__)

static inline void assert_contains_at(const char *text, const char *part, const char *file,
                                      int line)
{
    if (strstr(text, part))
        return;
    print_error("'%s' is not in\n%s\n", part, text);
    _fail(file, line);
}

#endif
