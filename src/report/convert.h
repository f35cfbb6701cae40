// PNG from SVG, by a program that the machine may have: rsvg-convert, Inkscape or ImageMagick.
#ifndef TAUT_REPORT_CONVERT_H
#define TAUT_REPORT_CONVERT_H

#include <stdbool.h>

#include "base/status.h"

// Which of them works is found out with the first picture and kept.
struct converter {
    int chosen;  // of the programs; 0 at the start: the first
    bool absent; // none of them works: nothing is tried any more
    // Why, where it is another reason than that there is none, for people; else NULL.
    const char *reason;
};

// Writes the picture at `svg` as PNG, twice as large, to `png`, where all of it appears or nothing.
// *converted is false, with converter->absent set, where there is no program that does it. A
// failure is one of memory or of the disk.
taut_status convert_picture(struct converter *converter, const char *svg, const char *png,
                            bool *converted, taut_error *error);

// Their names, for people.
#define CONVERTERS "rsvg-convert, inkscape, magick or convert"

#endif
