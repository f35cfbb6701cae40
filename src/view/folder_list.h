// The files of a folder whose names end in a certain way, in alphabetical order.
#ifndef TAUT_VIEW_FOLDER_LIST_H
#define TAUT_VIEW_FOLDER_LIST_H

#include <stddef.h>

struct folder_list {
    char **paths; // with the folder
    size_t count, capacity;
};

// Replaces what the list had. A folder that cannot be read gives an empty list.
void folder_list_read(struct folder_list *list, const char *folder, const char *ending);
void folder_list_free(struct folder_list *list);

#endif
