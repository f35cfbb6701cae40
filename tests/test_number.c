// scene/number: strict, independent of the locale, correctly rounded.
#include "test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/text/number.h"

// Compares bits, so that -0 differs from 0.
static void expect_number(const char *text, double expected)
{
    double value = 12345;
    assert_int_equal(number_parse(text, strlen(text), &value), NUMBER_OK);
    assert_memory_equal(&value, &expected, sizeof value);
}

static void expect_fault(const char *text, enum number_fault expected)
{
    double value = 12345;
    if (number_parse(text, strlen(text), &value) != expected)
        fail_msg("'%s' gives %d", text, (int)number_parse(text, strlen(text), &value));
    assert_true(value == 12345); // not written
}

static void test_plain(void **state)
{
    (void)state;
    expect_number("0", 0.0);
    expect_number("-0", -0.0);
    expect_number("+7", 7.0);
    expect_number("0.001", 0.001);
    expect_number("-9.81", -9.81);
    expect_number("1.", 1.0);
    expect_number(".5", 0.5);
    expect_number("-.5e-3", -.5e-3);
    expect_number("1e6", 1e6);
    expect_number("1E+06", 1e6);
    expect_number("6.02214076e23", 6.02214076e23);
    expect_number("0.000", 0.0);
    expect_number("0e999999999", 0.0);
}

// Numbers for which a careless conversion is off by one unit in the last place.
static void test_rounding(void **state)
{
    (void)state;
    expect_number("9007199254740993", 9007199254740992.0);                // a tie, to even
    expect_number("9007199254740993.00000000000001", 9007199254740994.0); // just above it
    expect_number("0.1", 0x1.999999999999ap-4);
    expect_number("2.2250738585072014e-308", DBL_MIN);
    expect_number("2.2250738585072011e-308", 0x0.fffffffffffffp-1022);
    expect_number("4.9406564584124654e-324", 0x0.0000000000001p-1022);
    expect_number("1.7976931348623157e308", DBL_MAX);
    expect_number("123456789012345678", 123456789012345680.0);
    expect_number("8.589973e9", 8589973000.0);
    expect_number("3.518437208883201171875e13", 0x1.0000000000002p+45);
}

// 17 digits identify every double: each is written and read back.
static void test_round_trip(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value, back;
        char text[40];
        memcpy(&value, &random, sizeof value);
        if (!isfinite(value))
            continue;
        int length = snprintf(text, sizeof text, "%.17g", value);
        assert_int_equal(number_parse(text, (size_t)length, &back), NUMBER_OK);
        assert_memory_equal(&back, &value, sizeof value);
        length = snprintf(text, sizeof text, "%.*g", 1 + i % 15, value);
        if (number_parse(text, (size_t)length, &back) == NUMBER_OK)
            assert_true(back == strtod(text, NULL));
    }
}

static void test_faults(void **state)
{
    (void)state;
    static const char *const junk[] = {"1.0e-3x", "abc",   "-",  "+",  ".",   "e5",    "1e",
                                       "1e+",     "1 2",   " 1", "1 ", "--1", "1.2.3", "1-2",
                                       "1:30",    "1e5.0", "0x", "1f", "\n1", "٣"};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
        expect_fault(junk[i], NUMBER_JUNK);
    expect_fault("", NUMBER_EMPTY);
    expect_fault("1_000", NUMBER_UNDERSCORE);
    expect_fault("0x10", NUMBER_HEXADECIMAL);
    expect_fault("-0XfF", NUMBER_HEXADECIMAL);
    expect_fault("017", NUMBER_OCTAL);
    expect_fault("0o17", NUMBER_OCTAL);
    expect_fault("-00.5", NUMBER_OCTAL);
    expect_fault(".inf", NUMBER_NOT_FINITE);
    expect_fault("-INF", NUMBER_NOT_FINITE);
    expect_fault("infinity", NUMBER_NOT_FINITE);
    expect_fault("nan", NUMBER_NOT_FINITE);
    expect_fault(".NaN", NUMBER_NOT_FINITE);
    expect_fault("1,5", NUMBER_COMMA);
    expect_fault("1e309", NUMBER_TOO_LARGE);
    expect_fault("-1e999999999999999999", NUMBER_TOO_LARGE);
    expect_fault("1e-400", NUMBER_TOO_SMALL);
    expect_fault("1e-99999999999999999999", NUMBER_TOO_SMALL);
}

static void test_length(void **state)
{
    (void)state;
    char text[2000];
    double value;
    memset(text, '1', sizeof text);
    text[1] = '.';
    assert_int_equal(number_parse(text, 1000, &value), NUMBER_OK);
    assert_true(value == 1.0 + 1.0 / 9);
    assert_int_equal(number_parse(text, 1001, &value), NUMBER_TOO_LONG);
    // The text may continue after the number.
    assert_int_equal(number_parse("12345", 2, &value), NUMBER_OK);
    assert_true(value == 12);
}

static void test_count(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum number_fault fault;
        uint64_t count;
    } cases[] = {
        {"0", NUMBER_OK, 0},
        {"42", NUMBER_OK, 42},
        {"+42", NUMBER_OK, 42},
        {"1e6", NUMBER_OK, 1000000},
        {"8000.0", NUMBER_OK, 8000},
        {"-0", NUMBER_OK, 0},
        {"9007199254740993", NUMBER_OK, 9007199254740993u},
        {"18446744073709551615", NUMBER_OK, UINT64_MAX},
        {"18446744073709551616", NUMBER_TOO_LARGE, 7},
        {"1e20", NUMBER_TOO_LARGE, 7},
        {"-1", NUMBER_NEGATIVE, 7},
        {"1.5", NUMBER_NOT_WHOLE, 7},
        {"010", NUMBER_OCTAL, 7},
        {"", NUMBER_EMPTY, 7},
        {"ten", NUMBER_JUNK, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = 7;
        assert_int_equal(number_parse_count(cases[i].text, strlen(cases[i].text), &count),
                         cases[i].fault);
        assert_true(count == cases[i].count);
    }
}

// A locale with a decimal comma, if the system has one.
static const char *comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "pl_PL.UTF-8", "fr_FR.UTF-8",
                                        "ru_RU.UTF-8", "de_DE",       "de_DE.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_NUMERIC, names[i]) && localeconv()->decimal_point[0] == ',')
            return names[i];
    return NULL;
}

static void test_locale(void **state)
{
    (void)state;
    if (!comma_locale()) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    expect_number("0.001", 0.001);
    expect_number("2.2250738585072014e-308", DBL_MIN);
    expect_fault("0,001", NUMBER_COMMA);
    setlocale(LC_NUMERIC, "C");
}

static void test_fault_text(void **state)
{
    (void)state;
    for (int i = 0; i <= NUMBER_NEGATIVE; i++)
        for (int j = 0; j < i; j++)
            if (i != NUMBER_OK)
                assert_string_not_equal(number_fault_text((enum number_fault)i),
                                        number_fault_text((enum number_fault)j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_length),     cmocka_unit_test(test_count),
        cmocka_unit_test(test_locale),     cmocka_unit_test(test_fault_text),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
