// The names of the stages of a step, as printed by reports and benchmarks. The records are plain
// structs (records.h), filled by the files that keep them.
#include "state/records.h"

const char *stage_name(enum stage stage)
{
    static const char *const names[STAGE_COUNT] = {
        [STAGE_GRAVITY_DRAG] = "gravity_drag",
        [STAGE_SPRINGS] = "springs",
        [STAGE_ELEMENTS] = "elements",
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
