// How much memory a scene will take, by formula and before anything is built; and whether there is
// so much. What is allocated without having been asked for here first fails late, after minutes of
// building, or not at all: where the system promises more than it has, it kills the process when
// the pages are touched.
#ifndef TAUT_SOLVER_MEMORY_H
#define TAUT_SOLVER_MEMORY_H

#include "solver.h"

struct memory_estimate {
    double nodes, springs, faces; // of all bodies
    bool exact;                   // false: some counts are guessed from files (scene/bodies.h)
    // Bytes, on top of the scene as it was read:
    double building; // the most while the bodies are built
    double making;   // the most until a solver has been made of them, they included
    double solver;   // what the solver then holds
    double sharp;    // what solver_sharp_step takes beside the solver
    size_t largest;  // the body that takes most
};

// `options` may be NULL: those of a run without options. Opens the scene's mesh and CSV files,
// reads samples of them, and allocates nothing.
void memory_estimate_make(const taut_scene *scene, const struct solver_options *options,
                          struct memory_estimate *estimate);

// Bytes of a view of a moment (moment_view_make), by enum moment_want.
double memory_of_view(const struct memory_estimate *estimate, unsigned wanted);

// TAUT_ERROR_MEMORY, with both figures, where `bytes` more are more than this process may take now
// (parallel/quota.h). Small numbers of bytes are not looked into. "%s needs about ..." begins the
// sentence.
taut_status memory_check(double bytes, const char *what, taut_error *error);

// The same before a solver is made of a scene (options->beside included), with the body that takes
// most; TAUT_ERROR_UNSUPPORTED where all nodes together are more than can be numbered.
taut_status memory_check_scene(const taut_scene *scene, const struct solver_options *options,
                               taut_error *error);

// And before its largest stable step is found beside the solver that has been made of it.
taut_status memory_check_sharp(const taut_scene *scene, taut_error *error);

// And before its bodies alone are built.
taut_status memory_check_bodies(const taut_scene *scene, taut_error *error);

#endif
