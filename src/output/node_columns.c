#include "output/node_columns.h"

#include <inttypes.h>

void node_columns_put(struct file *file, const struct snapshot *now,
                      const struct snapshot_body *body, uint64_t node)
{
    const double *const vectors[] = {body->positions + 3 * node, body->velocities + 3 * node};
    file_print(file, "%s,%" PRIu64, body->name, node);
    for (int i = 0; i < 6; i++) {
        file_print(file, ",");
        file_number(file, vectors[i / 3][i % 3], now->single ? 9 : 17);
    }
}
