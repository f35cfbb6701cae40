// Cuts a whole frame into pieces as several ranks would have them (state/frame.h, struct
// frame_piece), in the plainest manner: it looks at every node, spring and face of the whole.
#ifndef TAUT_TESTS_PIECES_FIXTURE_H
#define TAUT_TESTS_PIECES_FIXTURE_H

#include "state/frame.h"

enum { CUT_BODIES = 4, CUT_NODES = 16, CUT_SPRINGS = 16, CUT_FACES = 8 }; // at most

// A piece and its frame, whose arrays are the following ones. It must stay where it is.
struct cut {
    struct frame frame;
    struct frame_piece piece;
    struct frame_body bodies[CUT_BODIES];
    struct frame_piece_body piece_bodies[CUT_BODIES + 1];
    double positions[CUT_NODES][3], velocities[CUT_NODES][3], forces[CUT_NODES][3];
    double strains[CUT_SPRINGS];
    uint8_t broken[CUT_SPRINGS];
    uint64_t nodes[CUT_NODES], face_numbers[CUT_FACES];
    struct frame_line_number lines[CUT_SPRINGS];
    uint32_t springs[CUT_SPRINGS][2], faces[CUT_FACES][3];
};

// The piece of the rank with nodes [first, end) of the whole. with_lines: of each body, whether its
// springs are in files.
void cut_piece(const struct frame *whole, const bool *with_lines, uint64_t first, uint64_t end,
               struct cut *cut);

#endif
