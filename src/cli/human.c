// Formats numbers for people, in tables and live lines. JSON and CSV are written in full precision
// elsewhere.
#include "cli/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct human human_count(uint64_t count)
{
    char digits[24];
    struct human human = {{0}};
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *out = human.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    return human;
}

// Decimals for three significant digits, without the form 1e+02.
static int decimals(double value)
{
    return fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
}

static struct human scaled(double value, double base, const char *const *units, int count)
{
    struct human human = {{0}};
    int unit = 0;
    while (unit + 1 < count && fabs(value) >= base * 0.9995) {
        value /= base;
        unit++;
    }
    int digits = unit == 0 && value == floor(value) ? 0 : decimals(value);
    snprintf(human.text, sizeof human.text, "%.*f%s%s", digits, value, units[unit][0] ? " " : "",
             units[unit]);
    return human;
}

struct human human_scaled(double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    return scaled(value, 1000, units, 5);
}

struct human human_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled(bytes, 1024, units, 5);
}

struct human human_seconds(double seconds)
{
    struct human human = {{0}};
    double size = fabs(seconds), value = seconds;
    const char *unit = "s";
    if (size > 0 && size < 0.9995e-3) {
        value = seconds * 1e6;
        unit = "us";
    } else if (size > 0 && size < 0.9995) {
        value = seconds * 1e3;
        unit = "ms";
    }
    snprintf(human.text, sizeof human.text, "%.3g %s", value, unit);
    if (size >= 999.5)
        snprintf(human.text, sizeof human.text, "%.0f s", value);
    return human;
}

struct human human_remaining(double seconds)
{
    struct human human = {"?"};
    if (!(seconds >= 0) || seconds > 1e9)
        return human;
    uint64_t whole = (uint64_t)ceil(seconds);
    unsigned hours = (unsigned)(whole / 3600), minutes = (unsigned)(whole / 60 % 60);
    unsigned rest = (unsigned)(whole % 60);
    if (hours > 0)
        snprintf(human.text, sizeof human.text, "%u:%02u:%02u", hours, minutes, rest);
    else
        snprintf(human.text, sizeof human.text, "%u:%02u", minutes, rest);
    return human;
}

struct human human_counted(uint64_t count, const char *noun)
{
    struct human human = human_count(count);
    size_t length = strlen(human.text);
    const char *plural = count == 1 ? noun : strcmp(noun, "body") == 0 ? "bodies" : NULL;
    if (plural)
        snprintf(human.text + length, sizeof human.text - length, " %s", plural);
    else
        snprintf(human.text + length, sizeof human.text - length, " %ss", noun);
    return human;
}
