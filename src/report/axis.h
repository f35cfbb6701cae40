// From numbers to places on a picture: axes, the numbers marked on them, and how those are written.
#ifndef TAUT_REPORT_AXIS_H
#define TAUT_REPORT_AXIS_H

#include <stdbool.h>

// What is to be shown. Starts as span_of_nothing(); a value that cannot be shown is left out.
struct span {
    double low, high; // low > high: nothing
};

struct span span_of_nothing(void);
void span_add(struct span *range, double value);          // finite ones
void span_add_positive(struct span *range, double value); // finite and above 0, for logarithms
bool span_is_empty(struct span range);

struct axis {
    bool logarithmic;
    double low, high;   // numbers, low < high
    double first, last; // places of low and of high
};

// An axis that shows the range and `margin` of its length more on both sides. Of an empty range, or
// of a single value, it shows something sensible around it.
struct axis axis_make(bool logarithmic, struct span range, double margin, double first,
                      double last);

double axis_place(const struct axis *axis, double value);

enum { TICKS_MAX = 64 };

struct ticks {
    int count;
    double values[TICKS_MAX]; // in ascending order
    bool named[TICKS_MAX];    // false: a line without a number
    double step;              // linear ones: their distance; else 0
    bool powers;              // named ones are powers of ten
};

// Round numbers of the axis, at most `most` of them named (2 or more): multiples of 1, 2 or 5 times
// a power of ten; of logarithmic axes powers of ten, or, of short ones, 1, 2 and 5 times those.
struct ticks axis_ticks(const struct axis *axis, int most);

struct number_text {
    char text[40];
};

// A tick's number: no more digits than its neighbours need, 10^4 as people write it.
struct number_text tick_text(const struct ticks *ticks, double value);

// A number as people read it, with so many digits that count: 0.00358, 3.58·10⁻⁵, −2; "none"
// of a NAN. With a decimal point in every locale.
struct number_text number_text(double value, int digits);

// With so many decimals.
struct number_text fixed_text(double value, int decimals);

#endif
