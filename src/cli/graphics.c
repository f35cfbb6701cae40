// The commands that need OpenGL. They look the same to users whether this build has them (render.c,
// view.c; cmake/graphics.cmake) or only prints what to install.
#include "cli/command.h"
#include "cli/terminal.h"

#ifndef TAUT_HAS_PICTURES
int render_command_run(const struct options *options)
{
    (void)options;
    complain("render: this taut was built without pictures. To have them, type\n"
             "  apt-get install --no-install-recommends libepoxy-dev libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}
#endif

#ifndef TAUT_HAS_VIEWER
int view_command_run(const struct options *options)
{
    (void)options;
    complain("view: this taut was built without the viewer; to have it, type\n"
             "  apt-get install --no-install-recommends libglfw3-dev libimgui-dev libepoxy-dev "
             "libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}
#endif

const struct command render_command = {
    .name = "render",
    .does = "Draws a picture, a strip of frames or a video of a scene or of a finished run",
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
