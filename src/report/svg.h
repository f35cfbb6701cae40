// Pictures as SVG: the few shapes that diagrams are made of, in a few colours.
//
// Colours are of Okabe and Ito, which people who see few colours tell apart; lines and marks differ
// in more than colour. Every shape has its colours as attributes, which any program understands,
// and a class, by which a style sheet changes them where dark pages are preferred.
//
// Like file.h: nothing is returned; the first failure is the file's, and is told when it ends.
#ifndef TAUT_REPORT_SVG_H
#define TAUT_REPORT_SVG_H

#include "output/file.h"

enum colour {
    COLOUR_PAPER,
    COLOUR_INK,
    COLOUR_SOFT, // text of less weight
    COLOUR_FRAME,
    COLOUR_GRID,
    COLOUR_FAINT, // lines between those of the grid
    COLOUR_KEPT,  // of a map: energy kept, lost, gained
    COLOUR_LOST,
    COLOUR_LOST_MUCH,
    COLOUR_GAINED,
    COLOUR_GAINED_MUCH,
    COLOUR_UNSTABLE,
    COLOUR_UNKNOWN,
    COLOUR_SERIES, // the first of SERIES_COLOURS
    COLOUR_NONE = COLOUR_SERIES + 7
};

enum { SERIES_COLOURS = COLOUR_NONE - COLOUR_SERIES };

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

enum shape {
    SHAPE_CIRCLE,
    SHAPE_SQUARE,
    SHAPE_TRIANGLE,
    SHAPE_DIAMOND,
    SHAPE_DOWN,
    SHAPE_PLUS,
    SHAPE_COUNT
};

// How a line is drawn, with its marks.
struct stroke {
    enum colour colour;
    double width;
    const char *dash; // of stroke-dasharray; NULL: none
    enum shape shape;
    bool filled; // the mark
};

struct svg {
    struct file *file;
    double width, height;
    size_t path_points; // of the path that is being drawn
};

// How a file of ours begins.
#define SVG_OPENING "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- taut: "

// A picture in a file of its own. `name` says what it shows, to whom cannot see it.
void svg_open(struct svg *svg, struct file *file, double width, double height, const char *name);

// The same within a page of HTML that has the style sheet, without what lies above `top`.
void svg_open_in_page(struct svg *svg, struct file *file, double width, double height, double top,
                      const char *name);
void svg_close(struct svg *svg);

// What dark pages change, for a <style>.
void svg_put_style(struct file *file);

void svg_rectangle(struct svg *svg, double x, double y, double width, double height,
                   enum colour fill, enum colour line);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, enum colour colour,
              double width, const char *dash);
void svg_mark(struct svg *svg, double x, double y, const struct stroke *stroke);

// A path of straight lines: begun, given its points, ended. `move`: no line leads to the point.
void svg_path_begin(struct svg *svg);
void svg_path_point(struct svg *svg, double x, double y, bool move);
void svg_path_end(struct svg *svg, enum colour colour, double width, const char *dash);

struct lettering {
    double size;
    enum colour colour;
    enum anchor anchor;
    bool bold, upwards;
    double room; // text that would be longer is cut; 0: it never is
};

void svg_text(struct svg *svg, double x, double y, const struct lettering *lettering,
              const char *text);

// About how long a text is.
double svg_text_length(const char *text, double size);

// Text with what XML reserves escaped; what is no UTF-8 or no character of XML becomes U+FFFD.
void xml_text(struct file *file, const char *text);

// The same of its first `length` bytes.
void xml_bytes(struct file *file, const char *text, size_t length);

#endif
