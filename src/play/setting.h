// A scene and what is drawn of it, as they stand between two changes. Written once, before anybody
// else sees it; then held by whoever uses it, on whatever thread, and freed with the last.
#ifndef TAUT_PLAY_SETTING_H
#define TAUT_PLAY_SETTING_H

#include <stdatomic.h>

#include "picture/subject.h"
#include "play/changes.h"
#include "solver_live.h"

struct shown {
    atomic_int holders;
    uint64_t generation; // grows whenever it is another one
    struct subject subject;
};

struct setting {
    atomic_int holders;
    taut_scene *scene;
    struct changes changes; // of its file, that make it
    struct shown *shown;    // held: most changes leave it as it is, and settings share it
    const struct subject *subject;
    uint64_t origin; // grows whenever the uncut scene numbers its springs or faces otherwise
    // Where something is cut: of each spring and face that is left, its number in the uncut scene.
    uint32_t *springs, *faces; // NULL: nothing is cut
};

// Takes the scene over, after a failure as well, and copies the rest; `cuts` may be NULL. The
// solver must stand as built. The caller holds it, and gives it its numbers (setting_follow).
taut_status setting_make(taut_scene *scene, const struct changes *changes,
                         const taut_solver *solver, const struct solver_cuts *cuts,
                         struct setting **setting, taut_error *error);

// Another setting of the same subject, solver and cuts, whose scene says something else; takes the
// scene over, after a failure as well.
taut_status setting_make_again(const struct setting *before, taut_scene *scene,
                               const struct changes *changes, struct setting **setting,
                               taut_error *error);

// Numbers a setting that nobody else sees yet, after the one before it, whose subject it shares if
// its own is the same.
void setting_follow(struct setting *setting, const struct setting *before, bool same_origin);

struct setting *setting_hold(struct setting *setting);
void setting_release(struct setting *setting); // NULL is ignored

#endif
