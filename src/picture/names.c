#include "picture/names.h"

#include <stddef.h>

const char *colouring_name(enum colouring colouring)
{
    static const char *const names[COLOURING_COUNT] = {"plain", "kind", "strain", "tension"};
    return names[colouring];
}

const char *layer_name(int number)
{
    static const char *const names[] = {"faces",     "springs", "nodes",  "pins",
                                        "colliders", "wind",    "ground", "legend"};
    return number < (int)(sizeof names / sizeof names[0]) ? names[number] : NULL;
}
