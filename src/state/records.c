// The names of a step's stages, as reports and benchmarks print them. The records themselves are
// plain structs (records.h), which the files that keep them fill.
#include "state/records.h"

const char *stage_name(enum stage stage)
{
    static const char *const names[STAGE_COUNT] = {
        [STAGE_GRAVITY_DRAG] = "gravity_drag",
        [STAGE_SPRINGS] = "springs",
        [STAGE_WIND] = "wind",
        [STAGE_PRESSURE] = "pressure",
        [STAGE_COLLIDERS] = "colliders",
        [STAGE_INTEGRATE] = "integrate",
        [STAGE_SOLVE] = "solve",
        [STAGE_MOTIONS] = "motions",
        [STAGE_WORK] = "work",
        [STAGE_CHECK] = "check",
    };
    return names[stage];
}
