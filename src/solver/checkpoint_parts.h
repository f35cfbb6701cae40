// Ranks that hold only their parts of the nodes write the fields of a checkpoint together.
#ifndef TAUT_SOLVER_CHECKPOINT_PARTS_H
#define TAUT_SOLVER_CHECKPOINT_PARTS_H

#include "base/archive.h"
#include "solver/solver.h"

struct checkpoint_part;

// How an array with numbers of all nodes is divided into chunks.
struct checkpoint_field_chunks {
    char name[ARCHIVE_NAME];
    unsigned field; // enum checkpoint_field
    unsigned width; // numbers of a node
    enum archive_type type;
    uint64_t total, most; // numbers of the array, and of a chunk
};

// Collective; returns the same result on all ranks. `sink` must live as long.
taut_status checkpoint_part_make(const taut_solver *solver, const struct checkpoint_sink *sink,
                                 struct checkpoint_part **result, taut_error *error);
void checkpoint_part_free(struct checkpoint_part *part);

// Writes a field that begins at byte `at` of the file, and returns its bytes. Rank 0 calls it while
// the others are in solver_join_checkpoint.
uint64_t checkpoint_part_write(struct checkpoint_part *part,
                               const struct checkpoint_field_chunks *field, uint64_t at);

// Rank 0 calls it when there are no more fields; the others leave. Frees the part.
void checkpoint_part_end(struct checkpoint_part *part);

#endif
