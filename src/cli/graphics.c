// The commands that need OpenGL: the same to users whether this build has it or only says what to
// install (render_absent.c, view_absent.c).
#include "cli/command.h"

const struct command render_command = {
    .name = "render",
    .does = "Draws a picture, a strip of frames or a film of a scene or of a finished run",
    .operand = "SCENE|RUN",
    .kind = COMMAND_DRAWS,
    .run = render_command_run,
};

const struct command view_command = {
    .name = "view",
    .does = "Shows a scene in a window, live, to be pulled, cut and changed",
    .operand = "SCENE",
    .kind = COMMAND_VIEWS,
    .run = view_command_run,
};
