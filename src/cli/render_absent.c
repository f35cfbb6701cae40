// taut render in a build without pictures (cmake/graphics.cmake).
#include "cli/command.h"
#include "cli/terminal.h"

static int render(const struct options *options)
{
    (void)options;
    complain("render: this taut was built without pictures. To have them, type\n"
             "  apt-get install --no-install-recommends libepoxy-dev libegl-dev libcairo2-dev\n"
             "and build it again");
    return EXIT_CODE_FAILED;
}

const struct command render_command = {
    .name = "render",
    .does = "Draws a picture, a strip of frames or a film of a scene or of a finished run",
    .operand = "SCENE|RUN",
    .kind = COMMAND_DRAWS,
    .run = render,
};
