#include "view/folder_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add(struct folder_list *list, char *path)
{
    if (path &&
        array_reserve((void **)&list->paths, &list->capacity, list->count + 1, sizeof *list->paths))
        list->paths[list->count++] = path;
    else
        free(path);
}

void folder_list_read(struct folder_list *list, const char *folder, const char *ending)
{
    folder_list_free(list);
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (length > tail && strcmp(entry->d_name + length - tail, ending) == 0)
            add(list, strcmp(folder, ".") == 0 ? text_format("%s", entry->d_name)
                                               : text_format("%s/%s", folder, entry->d_name));
    }
    closedir(directory);
    if (list->count > 0)
        qsort(list->paths, list->count, sizeof *list->paths, compare);
}

void folder_list_free(struct folder_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct folder_list){0};
}
