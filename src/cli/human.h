// Formats numbers for people. Each function returns a small struct by value, whose text is valid
// until the end of the full expression: printf("%s", human_bytes(n).text).
#ifndef TAUT_CLI_HUMAN_H
#define TAUT_CLI_HUMAN_H

#include <stdint.h>

struct human {
    char text[40];
};

struct human human_count(uint64_t count);     // 12,345,678
struct human human_scaled(double value);      // 118 M, 2.05 G, 831
struct human human_bytes(double bytes);       // 4.1 MiB
struct human human_seconds(double seconds);   // 3.2 us, 14 ms, 1.52 s
struct human human_remaining(double seconds); // 0:07, 12:30, 3:04:00; "?" unless finite
struct human human_counted(uint64_t count, const char *noun); // "1 spring", "2,000 springs"

#endif
