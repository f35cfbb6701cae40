#include "output/file.h"
#include "output/node_columns.h"
#include "output/recording.h"

taut_status state_csv_write(const char *path, const struct snapshot *now, taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, NODE_COLUMNS "\n");
    for (size_t b = 0; b < now->body_count; b++) {
        const struct snapshot_body *body = &now->bodies[b];
        for (uint64_t node = 0; node < body->node_count && !file.failure; node++) {
            node_columns_put(&file, now, body, node);
            file_print(&file, "\n");
        }
    }
    return file_commit(&file, error);
}
