// Numbers by our own grammar (number.h): strtod only converts text that the grammar has accepted,
// and only if exact arithmetic is not possible.
#include "scene/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_NUMBER = 1000,
    EXACT_DIGITS = 15,  // every integer with so many digits is a double
    EXACT_POWERS = 22,  // and so is every power of 10 up to this one
    EXPONENT_CAP = 9999 // beyond this every number is 0 or infinite
};

// A number as parsed by the grammar.
struct digits {
    bool negative;
    uint64_t significand; // the first EXACT_DIGITS significant digits
    int digit_count;      // significant digits in the text, without leading zeros
    int exponent;         // power of ten of the last digit
    bool zero;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool equals(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)text[i]) != word[i])
            return false;
    return true;
}

// The fault of a text that the grammar does not accept.
static enum number_fault name_fault(const char *text, size_t length)
{
    static const char *const not_finite[] = {"inf", ".inf", "infinity", "nan", ".nan"};
    if (length > 0 && (text[0] == '+' || text[0] == '-')) {
        text++;
        length--;
    }
    for (size_t i = 0; i < sizeof not_finite / sizeof not_finite[0]; i++)
        if (equals(text, length, not_finite[i]))
            return NUMBER_NOT_FINITE;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return NUMBER_HEXADECIMAL;
    if (length > 2 && text[0] == '0' && (text[1] == 'o' || text[1] == 'O'))
        return NUMBER_OCTAL;
    bool digits = false, underscore = false, comma = false;
    for (size_t i = 0; i < length; i++) {
        digits = digits || is_digit(text[i]);
        underscore = underscore || text[i] == '_';
        comma = comma || text[i] == ',';
        if (!is_digit(text[i]) && !strchr("_,.eE+-", text[i]))
            return NUMBER_JUNK;
    }
    return digits && underscore ? NUMBER_UNDERSCORE : digits && comma ? NUMBER_COMMA : NUMBER_JUNK;
}

static void append_digit(struct digits *number, char c)
{
    if (number->digit_count == 0 && c == '0')
        return;
    number->zero = false;
    if (number->digit_count < EXACT_DIGITS)
        number->significand = 10 * number->significand + (uint64_t)(c - '0');
    number->digit_count++;
}

// Reads the exponent that starts at text[*at]; false if it has no digits.
static bool parse_exponent(const char *text, size_t length, size_t *at, int *exponent)
{
    size_t i = *at + 1;
    bool negative = i < length && text[i] == '-';
    if (i < length && (text[i] == '-' || text[i] == '+'))
        i++;
    size_t start = i;
    int value = 0;
    for (; i < length && is_digit(text[i]); i++)
        value = value < EXPONENT_CAP ? 10 * value + (text[i] - '0') : value;
    *exponent += negative ? -value : value;
    *at = i;
    return i > start;
}

static enum number_fault parse_digits(const char *text, size_t length, struct digits *number)
{
    size_t i = 0;
    *number = (struct digits){.zero = true};
    if (length > 0 && (text[0] == '-' || text[0] == '+'))
        number->negative = text[i++] == '-';
    size_t whole_start = i;
    for (; i < length && is_digit(text[i]); i++)
        append_digit(number, text[i]);
    size_t whole = i - whole_start, fraction = 0;
    if (i < length && text[i] == '.') {
        size_t start = ++i;
        for (; i < length && is_digit(text[i]); i++)
            append_digit(number, text[i]);
        fraction = i - start;
        number->exponent -= (int)fraction;
    }
    if (whole + fraction == 0)
        return name_fault(text, length);
    if (i < length && (text[i] == 'e' || text[i] == 'E') &&
        !parse_exponent(text, length, &i, &number->exponent))
        return name_fault(text, length);
    if (i < length)
        return name_fault(text, length);
    if (whole > 1 && text[whole_start] == '0')
        return NUMBER_OCTAL;
    return NUMBER_OK;
}

// Converts without strtod if that is exact: an integer that a double represents, multiplied or
// divided by a power of ten that a double represents, is rounded once (Clinger 1990, "How to read
// floating point numbers").
static bool compose_exactly(const struct digits *number, double *value)
{
    static const double powers[EXACT_POWERS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int exponent = number->exponent;
    if (FLT_EVAL_METHOD != 0 || number->digit_count > EXACT_DIGITS || exponent < -EXACT_POWERS ||
        exponent > EXACT_POWERS)
        return false;
    double magnitude = (double)number->significand;
    magnitude = exponent < 0 ? magnitude / powers[-exponent] : magnitude * powers[exponent];
    *value = number->negative ? -magnitude : magnitude;
    return true;
}

// strtod uses the decimal point of the thread's locale, so that is set to "C" during the call.
static bool convert(const char *text, double *value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    locale_t before = uselocale(plain);
    *value = strtod(text, NULL);
    uselocale(before);
    freelocale(plain);
    return true;
}

enum number_fault number_parse(const char *text, size_t length, double *value)
{
    struct digits number;
    if (length == 0)
        return NUMBER_EMPTY;
    if (length > LONGEST_NUMBER)
        return NUMBER_TOO_LONG;
    enum number_fault fault = parse_digits(text, length, &number);
    if (fault != NUMBER_OK)
        return fault;
    double result;
    if (number.zero) {
        result = number.negative ? -0.0 : 0.0;
    } else if (!compose_exactly(&number, &result)) {
        char copy[LONGEST_NUMBER + 1];
        memcpy(copy, text, length);
        copy[length] = '\0';
        if (!convert(copy, &result))
            return NUMBER_JUNK;
    }
    if (isinf(result))
        return NUMBER_TOO_LARGE;
    if (result == 0 && !number.zero)
        return NUMBER_TOO_SMALL;
    *value = result;
    return NUMBER_OK;
}

enum number_fault number_parse_count(const char *text, size_t length, uint64_t *value)
{
    double number;
    enum number_fault fault = number_parse(text, length, &number);
    if (fault != NUMBER_OK)
        return fault;
    if (number < 0)
        return NUMBER_NEGATIVE;
    if (number != floor(number))
        return NUMBER_NOT_WHOLE;
    uint64_t count = 0;
    for (size_t i = text[0] == '+'; i < length; i++) {
        if (!is_digit(text[i])) {
            // A decimal point or an exponent: only values up to 2^53 are exact.
            if (number > 9007199254740992.0)
                return NUMBER_TOO_LARGE;
            *value = (uint64_t)number;
            return NUMBER_OK;
        }
        unsigned digit = (unsigned)(text[i] - '0');
        if (count > (UINT64_MAX - digit) / 10)
            return NUMBER_TOO_LARGE;
        count = 10 * count + digit;
    }
    *value = count;
    return NUMBER_OK;
}

const char *number_fault_text(enum number_fault fault)
{
    switch (fault) {
    case NUMBER_OK:
        return "is a number";
    case NUMBER_EMPTY:
        return "is empty";
    case NUMBER_JUNK:
        return "is not a number";
    case NUMBER_UNDERSCORE:
        return "has an underscore; write the digits only";
    case NUMBER_HEXADECIMAL:
        return "is hexadecimal; write it in decimal";
    case NUMBER_OCTAL:
        return "has a leading zero, which YAML reads as octal; write it in decimal";
    case NUMBER_NOT_FINITE:
        return "is not a finite number";
    case NUMBER_COMMA:
        return "has a comma; the decimal separator is a point";
    case NUMBER_TOO_LARGE:
        return "is too large";
    case NUMBER_TOO_SMALL:
        return "is too close to zero; write 0 or a number of at least 1e-307";
    case NUMBER_TOO_LONG:
        return "has too many characters for a number";
    case NUMBER_NOT_WHOLE:
        return "is not a whole number";
    case NUMBER_NEGATIVE:
        return "is negative";
    }
    return "is not a number";
}
