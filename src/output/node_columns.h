// The columns that probes.csv and the final state have in common.
#ifndef TAUT_OUTPUT_NODE_COLUMNS_H
#define TAUT_OUTPUT_NODE_COLUMNS_H

#include "output/file.h"
#include "output/snapshot.h"

#define NODE_COLUMNS "body,node,x,y,z,vx,vy,vz"

// Writes those of one node, without a newline, in as many digits as the run's precision is worth: 9
// identify a float, 17 a double.
void node_columns_put(struct file *file, const struct snapshot *now,
                      const struct snapshot_body *body, uint64_t node);

#endif
