// Draws overlays and the legend with cairo (legend.h); the colours are those of colours.h.
#include "picture/legend.h"

#include "picture/contacts.h"
#include "picture/shaders.h"
#include "picture/solids.h"

#include <stdio.h>
#include <string.h>

// ---- Overlays

// fontconfig, which cairo uses for text, never frees what it has read; leak checkers must ignore
// that.
#if defined(__SANITIZE_ADDRESS__)
#    define HAS_LEAK_CHECKER
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define HAS_LEAK_CHECKER
#    endif
#endif
#ifdef HAS_LEAK_CHECKER

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}
#endif

taut_status overlays_make(struct overlays *overlays, taut_error *error)
{
    *overlays = (struct overlays){0};
    glGenVertexArrays(1, &overlays->vertices);
    return gl_program_make("overlays", "", shader_overlays, &overlays->program, error);
}

void overlays_free(struct overlays *overlays)
{
    glDeleteProgram(overlays->program);
    glDeleteVertexArrays(1, &overlays->vertices);
    *overlays = (struct overlays){0};
}

void overlay_free(struct overlay *overlay)
{
    glDeleteTextures(1, &overlay->texture);
    *overlay = (struct overlay){0};
}

bool overlay_needs_update(struct overlay *overlay, const char *content)
{
    if (overlay->texture != 0 && strcmp(overlay->content, content) == 0)
        return false;
    snprintf(overlay->content, sizeof overlay->content, "%s", content);
    return true;
}

cairo_t *overlay_begin(struct overlay *overlay, double width, double height)
{
    overlay->width = ceil(width);
    overlay->height = ceil(height);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)overlay->width, (int)overlay->height);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface); // `cairo` has a reference
    return cairo;
}

taut_status overlay_finish(struct overlay *overlay, cairo_t *cairo, taut_error *error)
{
    cairo_surface_t *surface = cairo_get_target(cairo);
    cairo_surface_flush(surface);
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS) {
        taut_status status = fail(error, TAUT_ERROR_MEMORY, "cairo cannot draw a legend: %s",
                                  cairo_status_to_string(cairo_status(cairo)));
        cairo_destroy(cairo);
        return status;
    }
    if (overlay->texture == 0)
        glGenTextures(1, &overlay->texture);
    gl_texture_bind(overlay->texture, UNIT_PICTURE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    // cairo's pixels are native words of alpha, red, green, blue.
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, cairo_image_surface_get_width(surface),
                 cairo_image_surface_get_height(surface), 0, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV,
                 cairo_image_surface_get_data(surface));
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    cairo_destroy(cairo);
    return TAUT_OK;
}

void overlay_draw(const struct overlays *overlays, const struct overlay *overlay, double left,
                  double top)
{
    glUseProgram(overlays->program);
    gl_texture_bind(overlay->texture, UNIT_PICTURE);
    glUniform4f(glGetUniformLocation(overlays->program, "rectangle"), (float)floor(left),
                (float)floor(top), (float)overlay->width, (float)overlay->height);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glBindVertexArray(overlays->vertices);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
}

// ---- The legend

// Sizes in pixels of a picture of 720 rows.
static const double FONT = 15.0, PAD = 12.0, BAR_WIDTH = 250.0, BAR_HEIGHT = 14.0, EDGE = 18.0;

taut_status legend_make(struct legend *legend, taut_error *error)
{
    *legend = (struct legend){0};
    for (int map = 0; map < MAP_COUNT; map++)
        colour_map_fill((enum colour_map)map, legend->maps[map]);
    return overlays_make(&legend->overlays, error);
}

void legend_free(struct legend *legend)
{
    overlay_free(&legend->scale);
    overlay_free(&legend->caption);
    overlay_free(&legend->wind);
    overlay_free(&legend->contacts);
    overlays_free(&legend->overlays);
}

static double scale_of(const struct render_context *context)
{
    double rows = fmin(context->camera->height, 0.75 * context->camera->width);
    return fmax(rows / 720.0, 0.65);
}

// ---- Text

static void set_ink(cairo_t *cairo, bool dark)
{
    if (dark)
        cairo_set_source_rgb(cairo, 0.90, 0.91, 0.93);
    else
        cairo_set_source_rgb(cairo, 0.13, 0.15, 0.18);
}

static void set_font(cairo_t *cairo, double scale)
{
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, FONT * scale);
}

// Writes text that begins, is centred (0.5) or ends (1) at x, shifted to lie between 0 and `right`.
static void write_at(cairo_t *cairo, const char *text, double x, double y, double part,
                     double right)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text, &extents);
    double left = fmax(fmin(x - part * extents.x_advance, right - extents.x_advance), 0.0);
    cairo_move_to(cairo, left, y);
    cairo_show_text(cairo, text);
}

static double width_of(const char *text, double scale)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cairo = cairo_create(surface);
    cairo_text_extents_t extents;
    set_font(cairo, scale);
    cairo_text_extents(cairo, text, &extents);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return extents.x_advance;
}

// A slightly transparent panel with round corners.
static void draw_panel(cairo_t *cairo, double width, double height, double scale, bool dark)
{
    double radius = 6.0 * scale;
    cairo_arc(cairo, width - radius, radius, radius, -1.5708, 0.0);
    cairo_arc(cairo, width - radius, height - radius, radius, 0.0, 1.5708);
    cairo_arc(cairo, radius, height - radius, radius, 1.5708, 3.1416);
    cairo_arc(cairo, radius, radius, radius, 3.1416, 4.7124);
    cairo_close_path(cairo);
    if (dark)
        cairo_set_source_rgba(cairo, 0.12, 0.13, 0.15, 0.78);
    else
        cairo_set_source_rgba(cairo, 1.0, 1.0, 1.0, 0.78);
    cairo_fill(cairo);
}

// ---- The scale of strain, tension or curvature

static double bar_width(const struct render_context *context)
{
    return fmin(BAR_WIDTH * scale_of(context), 0.4 * context->camera->width);
}

// The displayed value: strains in per cent.
static double shown(const struct render_context *context, double value)
{
    return context->options->colouring == COLOURING_STRAIN ? 100.0 * value : value;
}

// A round distance between marks, so that about `marks` of them fit.
static double step_for(double range, double marks)
{
    double power = pow(10.0, floor(log10(range / marks)));
    double digits = range / marks / power;
    return power * (digits < 1.5 ? 1.0 : digits < 3.5 ? 2.0 : digits < 7.5 ? 5.0 : 10.0);
}

static void draw_bar(cairo_t *cairo, const uint8_t *map, double length, double scale)
{
    double width = length / MAP_LENGTH;
    for (int i = 0; i < MAP_LENGTH; i++) {
        const uint8_t *texel = map + 3 * i;
        cairo_set_source_rgb(cairo, texel[0] / 255.0, texel[1] / 255.0, texel[2] / 255.0);
        cairo_rectangle(cairo, PAD * scale + i * width, (PAD + FONT + 7.0) * scale, width + 0.7,
                        BAR_HEIGHT * scale);
        cairo_fill(cairo);
    }
}

static void draw_ticks(cairo_t *cairo, double least, double most, double length, double scale)
{
    double step = step_for(most - least, length / (6.0 * FONT * scale));
    double top = (PAD + FONT + 7.0 + BAR_HEIGHT) * scale;
    double first = ceil(least / step - 1e-6);
    int count = (int)fmin(floor(most / step + 1e-6) - first + 1.0, 100.0);
    cairo_set_line_width(cairo, fmax(1.0, scale));
    for (int i = 0; i < count; i++) {
        double value = (first + i) * step + 0.0; // never -0
        double x = PAD * scale + length * (value - least) / (most - least);
        char text[32];
        snprintf(text, sizeof text, "%.6g", value);
        cairo_move_to(cairo, x, top);
        cairo_line_to(cairo, x, top + 4.0 * scale);
        cairo_stroke(cairo);
        write_at(cairo, text, x, top + (6.0 + 0.8 * FONT) * scale, 0.5,
                 length + (2.0 * PAD - 2.0) * scale);
    }
}

static taut_status fill_scale(struct legend *legend, const struct render_context *context,
                              const struct values *values, taut_error *error)
{
    double least = shown(context, values->least), most = shown(context, values->most);
    double scale = scale_of(context);
    static const char *const titles[COLOURING_COUNT] = {[COLOURING_STRAIN] = "strain, %",
                                                        [COLOURING_TENSION] = "tension, N",
                                                        [COLOURING_CURVATURE] = "curvature, 1/m"};
    const enum colouring colouring = context->options->colouring;
    const bool dark = context->options->dark;
    char content[sizeof legend->scale.content];
    snprintf(content, sizeof content, "%d %d %.9g %.9g %.9g %.9g", (int)colouring, dark, least,
             most, scale, bar_width(context));
    if (!overlay_needs_update(&legend->scale, content) || !(least < most))
        return TAUT_OK;
    double length = bar_width(context), width = length + 2.0 * PAD * scale;
    double height = (2.0 * PAD + 2.0 * FONT + BAR_HEIGHT + 13.0) * scale;
    cairo_t *cairo = overlay_begin(&legend->scale, width, height);
    draw_panel(cairo, width, height, scale, dark);
    draw_bar(cairo, legend->maps[values->map], length, scale);
    set_ink(cairo, dark);
    set_font(cairo, scale);
    write_at(cairo, titles[colouring], PAD * scale, (PAD + 0.8 * FONT) * scale, 0.0, width);
    draw_ticks(cairo, least, most, length, scale);
    return overlay_finish(&legend->scale, cairo, error);
}

// ---- The kinds of springs

enum { ENTRIES_MAX = 10 };

struct entries {
    size_t count;
    enum body_type types[ENTRIES_MAX];
    size_t kinds[ENTRIES_MAX];
};

static void add_entry(struct entries *entries, enum body_type type, size_t kind)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->types[i] == type && entries->kinds[i] == kind)
            return;
    if (entries->count == ENTRIES_MAX)
        return;
    entries->types[entries->count] = type;
    entries->kinds[entries->count++] = kind;
}

// The kinds that the subject has, in the order of bodies and kinds.
static struct entries entries_of(const struct subject *subject)
{
    struct entries entries = {0};
    for (size_t b = 0; b < subject->body_count; b++) {
        const struct subject_body *body = &subject->bodies[b];
        bool present[SPRING_KINDS_MAX] = {false};
        for (uint64_t i = 0; i < body->spring_count; i++)
            present[subject->kinds[body->first_spring + i]] = true;
        for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
            if (present[kind])
                add_entry(&entries, body->type, kind);
    }
    return entries;
}

static void entry_name(const struct entries *entries, size_t i, char *text, size_t size)
{
    bool several = false;
    for (size_t other = 0; other < entries->count; other++)
        several |= entries->types[other] != entries->types[i];
    const char *kind = spring_kind_name(entries->types[i], entries->kinds[i]);
    snprintf(text, size, "%s%s%s", several ? body_type_name(entries->types[i]) : "",
             several ? ": " : "", kind ? kind : "");
}

static void draw_entry(cairo_t *cairo, const struct entries *entries, size_t i, double scale,
                       bool dark)
{
    struct colour colour = colour_of_kind(entries->kinds[i]);
    double top = (PAD + (double)i * (FONT + 7.0)) * scale;
    char text[64];
    entry_name(entries, i, text, sizeof text);
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
    cairo_rectangle(cairo, PAD * scale, top + 0.3 * FONT * scale, 26.0 * scale,
                    fmax(0.35 * FONT * scale, 2.0));
    cairo_fill(cairo);
    set_ink(cairo, dark);
    write_at(cairo, text, (PAD + 36.0) * scale, top + 0.8 * FONT * scale, 0.0, INFINITY);
}

static taut_status fill_kinds(struct legend *legend, const struct render_context *context,
                              taut_error *error)
{
    struct entries entries = entries_of(context->subject);
    double scale = scale_of(context), widest = 0.0;
    bool dark = context->options->dark;
    char content[sizeof legend->scale.content];
    int used = snprintf(content, sizeof content, "kinds %d %.9g", dark, scale);
    for (size_t i = 0; i < entries.count; i++) {
        char text[64];
        entry_name(&entries, i, text, sizeof text);
        widest = fmax(widest, width_of(text, scale));
        if (used < (int)sizeof content)
            used += snprintf(content + used, sizeof content - (size_t)used, " %s", text);
    }
    if (entries.count == 0 || !overlay_needs_update(&legend->scale, content))
        return TAUT_OK;
    double width = (2.0 * PAD + 36.0) * scale + widest;
    double height = (2.0 * PAD - 7.0 + (double)entries.count * (FONT + 7.0)) * scale;
    cairo_t *cairo = overlay_begin(&legend->scale, width, height);
    draw_panel(cairo, width, height, scale, dark);
    set_font(cairo, scale);
    for (size_t i = 0; i < entries.count; i++)
        draw_entry(cairo, &entries, i, scale, dark);
    return overlay_finish(&legend->scale, cairo, error);
}

// ---- Contacts

// Draws the number of contacts, the meaning of the needles' colours, and the force of the longest
// ones; or that the frame has none stored.
static taut_status fill_contacts(struct legend *legend, const struct render_context *context,
                                 taut_error *error)
{
    enum { LINES = 4 };
    static const char *const meanings[] = {[TAUT_CONTACT_FRICTIONLESS] = "without friction",
                                           [TAUT_CONTACT_STICKS] = "held by friction",
                                           [TAUT_CONTACT_SLIDES] = "slides"};
    const struct frame *frame = context->frame;
    const double full = contacts_full_force(context->options, frame), scale = scale_of(context);
    const bool dark = context->options->dark, known = frame_has(frame, FRAME_CONTACTS);
    char title[64], needle[64] = "", content[sizeof legend->contacts.content];
    snprintf(title, sizeof title, known ? "contacts: %llu" : "contacts: not stored",
             (unsigned long long)frame->all_contacts);
    if (known && full > 0)
        snprintf(needle, sizeof needle, ", longest %g N", full);
    snprintf(content, sizeof content, "%d %.9g %s%s", dark, scale, title, needle);
    if (!overlay_needs_update(&legend->contacts, content))
        return TAUT_OK;
    const double line = (FONT + 7.0) * scale, length = contacts_full_length(context);
    const double text_at = PAD * scale + length + 10.0 * scale;
    const size_t used = strlen(title);
    snprintf(title + used, sizeof title - used, "%s", needle);
    double width = fmax(width_of(title, scale) + 2.0 * PAD * scale,
                        text_at + width_of(meanings[0], scale) + PAD * scale);
    double height = 2.0 * PAD * scale + (known ? LINES : 1) * line - 7.0 * scale;
    cairo_t *cairo = overlay_begin(&legend->contacts, width, height);
    draw_panel(cairo, width, height, scale, dark);
    set_font(cairo, scale);
    set_ink(cairo, dark);
    write_at(cairo, title, PAD * scale, (PAD + 0.8 * FONT) * scale, 0.0, INFINITY);
    static const int order[] = {TAUT_CONTACT_STICKS, TAUT_CONTACT_SLIDES,
                                TAUT_CONTACT_FRICTIONLESS};
    for (int i = 0; known && i < LINES - 1; i++) {
        const struct colour colour = contacts_colour(order[i]);
        const double top = PAD * scale + (i + 1) * line;
        cairo_set_source_rgb(cairo, (double)colour.red, (double)colour.green, (double)colour.blue);
        cairo_rectangle(cairo, PAD * scale, top + 0.3 * FONT * scale, length,
                        fmax(0.35 * FONT * scale, 2.0));
        cairo_fill(cairo);
        set_ink(cairo, dark);
        write_at(cairo, meanings[order[i]], text_at, top + 0.8 * FONT * scale, 0.0, INFINITY);
    }
    return overlay_finish(&legend->contacts, cairo, error);
}

static taut_status draw_contacts(struct legend *legend, const struct render_context *context,
                                 taut_error *error)
{
    const double edge = EDGE * scale_of(context);
    taut_status status = fill_contacts(legend, context, error);
    if (status == TAUT_OK)
        overlay_draw(&legend->overlays, &legend->contacts, edge,
                     context->camera->height - edge - legend->contacts.height);
    return status;
}

// ---- Lines of text

static taut_status fill_text(struct overlay *overlay, const struct render_context *context,
                             const char *text, taut_error *error)
{
    double scale = scale_of(context);
    char content[sizeof overlay->content];
    snprintf(content, sizeof content, "%d %.9g %s", context->options->dark, scale, text);
    if (!overlay_needs_update(overlay, content))
        return TAUT_OK;
    double width = width_of(text, scale) + 4.0, height = 1.4 * FONT * scale;
    cairo_t *cairo = overlay_begin(overlay, width, height);
    set_ink(cairo, context->options->dark);
    set_font(cairo, scale);
    write_at(cairo, text, 2.0, FONT * scale, 0.0, INFINITY);
    return overlay_finish(overlay, cairo, error);
}

static taut_status draw_caption(struct legend *legend, const struct render_context *context,
                                taut_error *error)
{
    char text[64];
    snprintf(text, sizeof text, "t = %.3f s", context->frame->time);
    taut_status status = fill_text(&legend->caption, context, text, error);
    if (status == TAUT_OK)
        overlay_draw(&legend->overlays, &legend->caption, EDGE * scale_of(context),
                     EDGE * scale_of(context));
    return status;
}

static taut_status draw_wind(struct legend *legend, const struct render_context *context,
                             taut_error *error)
{
    const float *wind = context->frame->wind;
    char text[64];
    snprintf(text, sizeof text, "wind %.1f m/s", vec3_length(vec3_make(wind[0], wind[1], wind[2])));
    taut_status status = fill_text(&legend->wind, context, text, error);
    double x, y;
    arrows_wind_label(context, &x, &y);
    if (status == TAUT_OK)
        overlay_draw(
            &legend->overlays, &legend->wind,
            fmin(x - legend->wind.width / 2.0, context->camera->width - legend->wind.width - 4.0),
            y - legend->wind.height / 2.0);
    return status;
}

static taut_status draw_scale(struct legend *legend, const struct render_context *context,
                              const struct values *values, taut_error *error)
{
    taut_status status = context->options->colouring == COLOURING_KIND
                             ? fill_kinds(legend, context, error)
                             : fill_scale(legend, context, values, error);
    double edge = EDGE * scale_of(context);
    if (status == TAUT_OK && legend->scale.texture != 0)
        overlay_draw(&legend->overlays, &legend->scale,
                     context->camera->width - edge - legend->scale.width,
                     context->camera->height - edge - legend->scale.height);
    return status;
}

taut_status legend_draw(struct legend *legend, const struct render_context *context,
                        const struct values *values, taut_error *error)
{
    taut_status status = TAUT_OK;
    bool coloured = context->options->colouring != COLOURING_PLAIN;
    const bool has_values = context->options->colouring == COLOURING_CURVATURE
                                ? values->of_nodes
                                : context->subject->spring_count > 0;
    if (coloured && context->layers & LAYER_LEGEND && has_values)
        status = draw_scale(legend, context, values, error);
    if (status == TAUT_OK && context->options->caption)
        status = draw_caption(legend, context, error);
    if (status == TAUT_OK && arrows_have_wind(context) && context->layers & LAYER_LEGEND)
        status = draw_wind(legend, context, error);
    if (status == TAUT_OK && context->layers & LAYER_CONTACTS && context->layers & LAYER_LEGEND)
        status = draw_contacts(legend, context, error);
    return status;
}
