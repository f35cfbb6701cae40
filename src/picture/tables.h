// What several parts of the renderer read on the graphics side: where the nodes are, which springs
// there are, what they are coloured by.
#ifndef TAUT_PICTURE_TABLES_H
#define TAUT_PICTURE_TABLES_H

#include "picture/gl.h"
#include "picture/values.h"

struct tables {
    struct gl_table positions; // 3 numbers a node; also a buffer of vertices
    struct gl_table ends;      // 2 nodes a spring
    struct gl_table kinds;     // a spring
    struct gl_table values;    // a spring
    GLuint maps;               // a row a colour map
};

void tables_make(struct tables *tables);
taut_status tables_set(struct tables *tables, const struct subject *subject, taut_error *error);
taut_status tables_fill(struct tables *tables, const struct subject *subject,
                        const struct subject_moment *moment, const struct values *values,
                        taut_error *error);
void tables_free(struct tables *tables);

// Binds the tables to their units, and tells the program in use the scale of the values.
void tables_bind(const struct tables *tables, const struct values *values, GLuint program);

#endif
