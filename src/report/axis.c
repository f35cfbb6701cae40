#include "report/axis.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct span span_of_nothing(void)
{
    return (struct span){INFINITY, -INFINITY};
}

void span_add(struct span *range, double value)
{
    if (!isfinite(value))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

void span_add_positive(struct span *range, double value)
{
    if (value > 0)
        span_add(range, value);
}

bool span_is_empty(struct span range)
{
    return !(range.low <= range.high);
}

// Numbers beyond these leave no room for a margin.
static const double LEAST = 1e-250, MOST = 1e250;

struct axis axis_make(bool logarithmic, struct span range, double margin, double first, double last)
{
    struct axis axis = {.logarithmic = logarithmic, .first = first, .last = last};
    if (span_is_empty(range))
        range = logarithmic ? (struct span){0.1, 10} : (struct span){0, 1};
    double least = logarithmic ? LEAST : -MOST;
    double low = fmin(fmax(range.low, least), MOST), high = fmin(fmax(range.high, least), MOST);
    if (logarithmic) {
        low = log10(low);
        high = log10(high);
    }
    // A range that its own rounding fills shows no more than a single value does.
    double size = fmax(fabs(low), fabs(high));
    if (!(high - low > 1e-9 * size)) {
        double room = logarithmic ? 0.5 : size > 0 ? 0.1 * size : 1;
        low -= room;
        high += room;
    }
    double more = margin * (high - low);
    axis.low = logarithmic ? pow(10, low - more) : low - more;
    axis.high = logarithmic ? pow(10, high + more) : high + more;
    return axis;
}

double axis_place(const struct axis *axis, double value)
{
    double part = axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                                    : (value - axis->low) / (axis->high - axis->low);
    return axis->first + part * (axis->last - axis->first);
}

static void add(struct ticks *ticks, const struct axis *axis, double value, bool named)
{
    double room = axis->logarithmic ? 1e-9 * value : 1e-9 * (axis->high - axis->low);
    if (ticks->count == TICKS_MAX || value < axis->low - room || value > axis->high + room)
        return;
    ticks->values[ticks->count] = value;
    ticks->named[ticks->count++] = named;
}

static struct ticks even_ticks(const struct axis *axis, int most)
{
    static const double parts[] = {1, 2, 5, 10, 20, 50};
    struct ticks ticks = {0};
    double length = axis->high - axis->low, power = pow(10, floor(log10(length / most)));
    int i = 0;
    while (i < 5 &&
           floor(axis->high / (parts[i] * power)) - ceil(axis->low / (parts[i] * power)) >= most)
        i++;
    ticks.step = parts[i] * power;
    double begin = ceil(axis->low / ticks.step - 1e-9);
    for (int k = 0; k <= most; k++)
        add(&ticks, axis, (begin + k) * ticks.step, true);
    return ticks;
}

// 10^power exactly where there is such a number: pow() may miss it.
static double power_of_ten(int power)
{
    char text[16];
    double value = 0;
    snprintf(text, sizeof text, "1e%d", power);
    return sscanf(text, "%lf", &value) == 1 ? value : pow(10, power);
}

static struct ticks decade_ticks(const struct axis *axis, int most)
{
    struct ticks ticks = {.powers = true};
    int begin = (int)floor(log10(axis->low)), end = (int)ceil(log10(axis->high));
    int inside = (int)(floor(log10(axis->high) + 1e-9) - ceil(log10(axis->low) - 1e-9)) + 1;
    int stride = (inside + most - 1) / most;
    for (int power = begin; power <= end; power++) {
        int off = ((power % stride) + stride) % stride;
        add(&ticks, axis, power_of_ten(power), off == 0);
        for (int part = 2; stride == 1 && inside <= 6 && part <= 9; part++)
            add(&ticks, axis, part * power_of_ten(power), false);
    }
    return ticks;
}

// 1, 2 and 5 times powers of ten.
static struct ticks part_ticks(const struct axis *axis)
{
    static const int parts[] = {1, 2, 5};
    struct ticks ticks = {0};
    for (int power = (int)floor(log10(axis->low)); power <= (int)ceil(log10(axis->high)); power++)
        for (int i = 0; i < 3; i++)
            add(&ticks, axis, parts[i] * power_of_ten(power), true);
    return ticks;
}

struct ticks axis_ticks(const struct axis *axis, int most)
{
    assert(most >= 2 && axis->low < axis->high);
    if (!axis->logarithmic)
        return even_ticks(axis, most);
    double decades = log10(axis->high / axis->low);
    if (decades < 0.8)
        return even_ticks(axis, most);
    if (decades < 2.2) {
        struct ticks ticks = part_ticks(axis);
        if (ticks.count >= 2 && ticks.count <= most)
            return ticks;
    }
    return decade_ticks(axis, most);
}

// printf writes the decimal point as the locale likes, and a hyphen for the minus. There is room
// for two bytes more.
static void mend(char *text)
{
    static const char minus[] = "−";
    if (text[0] == '-') {
        memmove(text + sizeof minus - 1, text + 1, strlen(text));
        memcpy(text, minus, sizeof minus - 1);
    }
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (!found)
        return;
    size_t length = strlen(point);
    memmove(found + 1, found + length, strlen(found + length) + 1);
    *found = '.';
}

static void put_power(char *out, size_t size, int power)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", power);
    size_t used = (size_t)snprintf(out, size, "10");
    for (const char *c = plain; *c && used + 4 < size; c++)
        used += (size_t)snprintf(out + used, size - used, "%s", *c == '-' ? "⁻" : digits[*c - '0']);
}

// As %.*e of C, but 3.58·10⁻⁵.
static struct number_text scientific(double value, int digits)
{
    struct number_text number = {{0}};
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits > 1 ? digits - 1 : 0, value);
    mend(text);
    char *e = strchr(text, 'e');
    int power = 0;
    if (!e || sscanf(e + 1, "%d", &power) != 1) {
        snprintf(number.text, sizeof number.text, "%.30s", text);
        return number;
    }
    *e = '\0';
    if (strchr(text, '.'))
        for (char *last = e - 1; last > text && (*last == '0' || *last == '.'); last--) {
            bool point = *last == '.';
            *last = '\0';
            if (point)
                break;
        }
    bool one = strcmp(text, "1") == 0, minus = strcmp(text, "−1") == 0;
    int used = one ? 0 : snprintf(number.text, sizeof number.text, minus ? "−" : "%.20s·", text);
    put_power(number.text + used, sizeof number.text - (size_t)used, power);
    return number;
}

struct number_text number_text(double value, int digits)
{
    struct number_text number = {{0}};
    if (!isfinite(value)) {
        snprintf(number.text, sizeof number.text, "none");
        return number;
    }
    double size = fabs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e6))
        return scientific(value, digits);
    int whole = size >= 1 ? (int)floor(log10(size)) + 1 : 0;
    if (whole >= digits)
        snprintf(number.text, sizeof number.text, "%.0f", value);
    else
        snprintf(number.text, sizeof number.text, "%.*g", digits, value);
    mend(number.text);
    return number;
}

struct number_text fixed_text(double value, int decimals)
{
    struct number_text number = {{0}};
    if (!(fabs(value) < 1e15))
        return number_text(value, 6);
    snprintf(number.text, sizeof number.text, "%.*f", decimals, value);
    mend(number.text);
    return number;
}

struct number_text tick_text(const struct ticks *ticks, double value)
{
    struct number_text number = {{0}};
    double largest = ticks->count
                         ? fmax(fabs(ticks->values[0]), fabs(ticks->values[ticks->count - 1]))
                         : fabs(value);
    if (value == 0 || (ticks->step > 0 && fabs(value) < 1e-6 * ticks->step)) {
        snprintf(number.text, sizeof number.text, "0");
        return number;
    }
    bool strange = largest >= 1e6 || (ticks->step > 0 ? ticks->step : fabs(value)) < 1e-4;
    if (ticks->powers && (ticks->values[0] < 1e-3 || largest > 1e4))
        return scientific(value, 1);
    if (ticks->step > 0 && !strange) {
        int decimals = (int)fmax(0, -floor(log10(ticks->step) + 1e-9));
        return fixed_text(value, decimals);
    }
    if (strange) {
        double step = ticks->step > 0 ? ticks->step : fabs(value);
        int digits = (int)(floor(log10(fabs(value)) + 1e-9) - floor(log10(step) + 1e-9)) + 1;
        return scientific(value, digits > 1 ? digits : 1);
    }
    return number_text(value, 6);
}
