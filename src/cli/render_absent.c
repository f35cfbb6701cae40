// taut render in a build without pictures (cmake/graphics.cmake).
#include "cli/command.h"
#include "cli/terminal.h"

int render_command_run(const struct options *options)
{
    (void)options;
    complain("render: this taut was built without pictures. To have them, type\n"
             "  apt-get install --no-install-recommends libepoxy-dev libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}
