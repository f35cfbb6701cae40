// The pictures of a study, each of which a person can look at alone.
#ifndef TAUT_REPORT_PICTURES_H
#define TAUT_REPORT_PICTURES_H

#include "output/file.h"
#include "study/study.h"

struct subject {
    const struct study *study;
    const taut_scene *scene;
};

struct picture {
    const char *name; // of its files, without .svg
    const char *title;
    const char *tells;                           // what is to be seen in it
    bool (*is_there)(const struct study *study); // whether there is anything to be drawn
    void (*draw)(const struct subject *subject, const struct picture *picture, struct file *file,
                 bool in_page);
};

enum { PICTURE_COUNT = 7 };
extern const struct picture pictures[PICTURE_COUNT];

// One file each.
bool limits_are_there(const struct study *study);
void draw_limits(const struct subject *subject, const struct picture *picture, struct file *file,
                 bool in_page);
bool map_is_there(const struct study *study);
void draw_map(const struct subject *subject, const struct picture *picture, struct file *file,
              bool in_page);
bool energies_are_there(const struct study *study);
void draw_energies(const struct subject *subject, const struct picture *picture, struct file *file,
                   bool in_page);
bool drifts_are_there(const struct study *study);
void draw_drifts(const struct subject *subject, const struct picture *picture, struct file *file,
                 bool in_page);
bool accuracies_are_there(const struct study *study);
void draw_convergence(const struct subject *subject, const struct picture *picture,
                      struct file *file, bool in_page);
void draw_work_precision(const struct subject *subject, const struct picture *picture,
                         struct file *file, bool in_page);
bool frequencies_are_there(const struct study *study);
void draw_frequencies(const struct subject *subject, const struct picture *picture,
                      struct file *file, bool in_page);

// What they share.
struct svg;
void picture_open(struct svg *svg, const struct subject *subject, const struct picture *picture,
                  struct file *file, double height, bool in_page);

enum { PICTURE_WIDTH = 820 };

#endif
