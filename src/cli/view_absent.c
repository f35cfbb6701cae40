// taut view where what the window is drawn with was missing when it was built
// (cmake/graphics.cmake).
#include "cli/command.h"

#include "cli/terminal.h"

int view_command_run(const struct options *options)
{
    (void)options;
    complain("view: this taut was built without the viewer; to have it, type\n"
             "  apt-get install --no-install-recommends libglfw3-dev libimgui-dev libepoxy-dev "
             "libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}
