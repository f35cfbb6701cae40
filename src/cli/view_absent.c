// taut view where what the window is drawn with was missing when it was built
// (cmake/graphics.cmake).
#include "cli/command.h"

#include "cli/terminal.h"

static int view(const struct options *options)
{
    (void)options;
    complain("view: this taut was built without the viewer; to have it, type\n"
             "  apt-get install --no-install-recommends libglfw3-dev libimgui-dev libepoxy-dev "
             "libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}

const struct command view_command = {
    .name = "view",
    .does = "Shows a scene in a window, live, to be pulled, cut and changed",
    .operand = "SCENE",
    .kind = COMMAND_VIEWS,
    .run = view,
};
