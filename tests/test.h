// What every test runner includes first: cmocka, and the headers it wants before it. cmocka calls
// its own macro fail(); the library's function of that name (base/status.h) is what we mean by it.
#ifndef TAUT_TESTS_TEST_H
#define TAUT_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
