#include "report/pictures.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/panel.h"

const struct picture pictures[PICTURE_COUNT] = {
    {"limits", "Largest stable step",
     "How large a step may be before the energy grows, found by bisection on real runs. The "
     "upright strokes are what is predicted from the scene's fastest oscillation.",
     limits_are_there, draw_limits},
    {"map", "Stability map",
     "Each cell is a run. What is stable is shaded by how its energy changes; the line is the "
     "predicted limit.",
     map_is_there, draw_map},
    {"energy", "Energy over time",
     "Above, the energy gained since the start; below, how far it is from that of the reference "
     "run. Lines that leave the panel are of runs that became unstable.",
     energies_are_there, draw_energies},
    {"drift", "Energy drift",
     "How fast the energy strays from that of the reference run. Where a line ends to the right, "
     "larger steps are unstable.",
     drifts_are_there, draw_drifts},
    {"work_precision", "Work and precision",
     "What it costs to come within an error: the lower left is best. Seconds are of one thread of "
     "this machine.",
     accuracies_are_there, draw_work_precision},
    {"convergence", "Convergence",
     "How the error falls with the step. The order is the slope at the smallest steps that show "
     "one, above rounding and what implicit solves leave.",
     accuracies_are_there, draw_convergence},
    {"frequency", "Frequency and amplitude",
     "What becomes of one undamped oscillator as fast as the scene's fastest: how far its "
     "frequency "
     "is off, and what is left of its amplitude after a period.",
     frequencies_are_there, draw_frequencies},
};

void picture_open(struct svg *svg, const struct subject *subject, const struct picture *picture,
                  struct file *file, double height, bool in_page)
{
    // The page has its own headings.
    if (in_page) {
        svg_open_in_page(svg, file, PICTURE_WIDTH, height, HEADING_HEIGHT - 8, picture->title);
        return;
    }
    svg_open(svg, file, PICTURE_WIDTH, height, picture->title);
    const taut_scene *scene = subject->scene;
    char *below = text_format("%s%s%s", scene->name, scene->title ? ": " : "",
                              scene->title ? scene->title : "");
    picture_heading(svg, picture->title, below ? below : scene->name);
    free(below);
}
