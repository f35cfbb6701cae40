#include "report/svg.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// On light paper and on dark; the series are Okabe and Ito's, lighter on dark where need be.
static const struct {
    const char *light, *dark;
} colours[COLOUR_NONE] = {
    [COLOUR_PAPER] = {"#ffffff", "#17191c"},       [COLOUR_INK] = {"#1a1a1a", "#ececec"},
    [COLOUR_SOFT] = {"#5c5c5c", "#a8adb3"},        [COLOUR_FRAME] = {"#8a8a8a", "#7d838a"},
    [COLOUR_GRID] = {"#dedede", "#34393f"},        [COLOUR_FAINT] = {"#f0f0f0", "#24282d"},
    [COLOUR_KEPT] = {"#e3eef5", "#1e3442"},        [COLOUR_LOST] = {"#9ccae3", "#31617f"},
    [COLOUR_LOST_MUCH] = {"#4a94c4", "#5fa6d3"},   [COLOUR_GAINED] = {"#f7dc9a", "#7a6220"},
    [COLOUR_GAINED_MUCH] = {"#e69f00", "#e69f00"}, [COLOUR_UNSTABLE] = {"#c64f00", "#b84a00"},
    [COLOUR_UNKNOWN] = {"#c4c4c4", "#55595e"},     [COLOUR_SERIES] = {"#d55e00", "#f07f2c"},
    [COLOUR_SERIES + 1] = {"#0072b2", "#4aa8e0"},  [COLOUR_SERIES + 2] = {"#56b4e9", "#8fd0f5"},
    [COLOUR_SERIES + 3] = {"#009e73", "#1fc795"},  [COLOUR_SERIES + 4] = {"#e69f00", "#f2b53a"},
    [COLOUR_SERIES + 5] = {"#cc79a7", "#e39cc3"},  [COLOUR_SERIES + 6] = {"#000000", "#f4f4f4"},
};

// ---- Text

// The bytes of the character at `text`, of which `length` are there; 0: no character of XML.
static size_t character_bytes(const unsigned char *text, size_t length)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
    size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || bytes > length)
        return 0;
    uint32_t code = first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool sound = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) &&
                 code != 0xfffe && code != 0xffff;
    return sound ? bytes : 0;
}

void xml_bytes(struct file *file, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes = character_bytes((const unsigned char *)text + i, length - i);
        switch (bytes == 1 ? text[i] : 0) {
        case '&':
            file_print(file, "&amp;");
            break;
        case '<':
            file_print(file, "&lt;");
            break;
        case '>':
            file_print(file, "&gt;");
            break;
        case '"':
            file_print(file, "&quot;");
            break;
        default:
            if (bytes == 0)
                file_print(file, "\xef\xbf\xbd");
            else
                file_write(file, text + i, bytes);
        }
        i += bytes == 0 ? 1 : bytes;
    }
}

void xml_text(struct file *file, const char *text)
{
    xml_bytes(file, text, strlen(text));
}

// Of the width of a letter of common sans-serif fonts, in parts of the size.
static const double LETTER = 0.54;

double svg_text_length(const char *text, double size)
{
    size_t count = 0;
    for (const char *c = text; *c; c++)
        count += (*c & 0xc0) != 0x80;
    return LETTER * size * (double)count;
}

// The bytes that fit the room with a mark of omission behind them; all of them where all fit.
static size_t fitting(const char *text, double size, double room)
{
    size_t length = strlen(text);
    if (!(room > 0) || svg_text_length(text, size) <= room)
        return length;
    double wide = LETTER * size;
    size_t i = 0;
    for (; i < length; i++) {
        if ((text[i] & 0xc0) == 0x80)
            continue;
        wide += LETTER * size;
        if (wide > room)
            break;
    }
    return i;
}

// ---- Shapes

static void put_place(struct file *file, const char *before, double value)
{
    file_print(file, "%s", before);
    file_number(file, round(value * 100) / 100, 9);
}

static void put_colours(struct file *file, enum colour fill, enum colour line)
{
    file_print(file, " class=\"");
    if (fill != COLOUR_NONE)
        file_print(file, "tf%d%s", (int)fill, line != COLOUR_NONE ? " " : "");
    if (line != COLOUR_NONE)
        file_print(file, "tl%d", (int)line);
    file_print(file, "\" fill=\"%s\"", fill == COLOUR_NONE ? "none" : colours[fill].light);
    if (line != COLOUR_NONE)
        file_print(file, " stroke=\"%s\"", colours[line].light);
}

static void put_width(struct file *file, double width, const char *dash)
{
    put_place(file, " stroke-width=\"", width);
    file_print(file, "\"");
    if (dash)
        file_print(file, " stroke-dasharray=\"%s\"", dash);
}

void svg_put_style(struct file *file)
{
    file_print(file, "@media screen and (prefers-color-scheme: dark) {\n");
    for (int i = 0; i < COLOUR_NONE; i++)
        file_print(file, ".tf%d { fill: %s } .tl%d { stroke: %s }\n", i, colours[i].dark, i,
                   colours[i].dark);
    file_print(file, "}\n");
}

static void put_head(struct svg *svg, double top, const char *name)
{
    struct file *file = svg->file;
    file_print(file, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_place(file, " width=\"", svg->width);
    put_place(file, "\" height=\"", svg->height - top);
    put_place(file, "\" viewBox=\"0 ", top);
    put_place(file, " ", svg->width);
    put_place(file, " ", svg->height - top);
    file_print(file, "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" role=\"img\" "
                     "aria-label=\"");
    xml_text(file, name);
    file_print(file, "\">\n");
}

void svg_open(struct svg *svg, struct file *file, double width, double height, const char *name)
{
    *svg = (struct svg){.file = file, .width = width, .height = height};
    file_print(file, SVG_OPENING "a picture of taut stability. -->\n");
    put_head(svg, 0, name);
    file_print(file, "<style>\n");
    svg_put_style(file);
    file_print(file, "</style>\n");
    svg_rectangle(svg, 0, 0, width, height, COLOUR_PAPER, COLOUR_NONE);
}

void svg_open_in_page(struct svg *svg, struct file *file, double width, double height, double top,
                      const char *name)
{
    *svg = (struct svg){.file = file, .width = width, .height = height};
    put_head(svg, top, name);
}

void svg_close(struct svg *svg)
{
    file_print(svg->file, "</svg>\n");
}

void svg_rectangle(struct svg *svg, double x, double y, double width, double height,
                   enum colour fill, enum colour line)
{
    struct file *file = svg->file;
    put_place(file, "<rect x=\"", x);
    put_place(file, "\" y=\"", y);
    put_place(file, "\" width=\"", width);
    put_place(file, "\" height=\"", height);
    file_print(file, "\"");
    put_colours(file, fill, line);
    // Those beside each other touch without a seam.
    file_print(file, line == COLOUR_NONE ? " shape-rendering=\"crispEdges\"/>\n" : "/>\n");
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, enum colour colour,
              double width, const char *dash)
{
    struct file *file = svg->file;
    put_place(file, "<line x1=\"", x1);
    put_place(file, "\" y1=\"", y1);
    put_place(file, "\" x2=\"", x2);
    put_place(file, "\" y2=\"", y2);
    file_print(file, "\"");
    put_colours(file, COLOUR_NONE, colour);
    put_width(file, width, dash);
    file_print(file, "/>\n");
}

void svg_path_begin(struct svg *svg)
{
    svg->path_points = 0;
}

void svg_path_point(struct svg *svg, double x, double y, bool move)
{
    if (svg->path_points++ == 0)
        file_print(svg->file, "<path d=\"");
    put_place(svg->file, move ? "M" : "L", x);
    put_place(svg->file, " ", y);
}

void svg_path_end(struct svg *svg, enum colour colour, double width, const char *dash)
{
    if (svg->path_points == 0)
        return;
    file_print(svg->file, "\"");
    put_colours(svg->file, COLOUR_NONE, colour);
    put_width(svg->file, width, dash);
    file_print(svg->file, " stroke-linejoin=\"round\"/>\n");
}

static const char *const outlines[SHAPE_COUNT] = {
    [SHAPE_CIRCLE] = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    [SHAPE_SQUARE] = "M-3.5 -3.5h7v7h-7z",
    [SHAPE_TRIANGLE] = "M0 -4.8L4.4 3.2H-4.4z",
    [SHAPE_DIAMOND] = "M0 -5L5 0L0 5L-5 0z",
    [SHAPE_DOWN] = "M0 4.8L4.4 -3.2H-4.4z",
    [SHAPE_PLUS] = "M-1.6 -4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",
};

void svg_mark(struct svg *svg, double x, double y, const struct stroke *stroke)
{
    struct file *file = svg->file;
    file_print(file, "<path d=\"%s\"", outlines[stroke->shape]);
    put_place(file, " transform=\"translate(", x);
    put_place(file, " ", y);
    file_print(file, ")\"");
    put_colours(file, stroke->filled ? stroke->colour : COLOUR_PAPER, stroke->colour);
    put_width(file, 1.6, NULL);
    file_print(file, "/>\n");
}

void svg_text(struct svg *svg, double x, double y, const struct lettering *lettering,
              const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    struct file *file = svg->file;
    put_place(file, "<text x=\"", x);
    put_place(file, "\" y=\"", y);
    put_place(file, "\" font-size=\"", lettering->size);
    file_print(file, "\" text-anchor=\"%s\"%s", anchors[lettering->anchor],
               lettering->bold ? " font-weight=\"bold\"" : "");
    put_colours(file, lettering->colour, COLOUR_NONE);
    if (lettering->upwards) {
        put_place(file, " transform=\"rotate(-90 ", x);
        put_place(file, " ", y);
        file_print(file, ")\"");
    }
    file_print(file, ">");
    size_t length = fitting(text, lettering->size, lettering->room);
    xml_bytes(file, text, length);
    file_print(file, text[length] ? "…</text>\n" : "</text>\n");
}
