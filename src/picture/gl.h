// OpenGL 3.3 core as the parts of the renderer use it: programs, tables of numbers that shaders
// look up, buffers of indices; what fails says so.
#ifndef TAUT_PICTURE_GL_H
#define TAUT_PICTURE_GL_H

#include "base/status.h"

#include <epoxy/gl.h>
#include <stdint.h>

// Compiles a shader file (shaders.h) behind common.glsl; `name` is for messages. Its uniform block
// `frame` is bound to point 0.
taut_status gl_program_make(const char *name, const char *source, GLuint *program,
                            taut_error *error);

// Numbers that a vertex shader finds by index (a buffer texture).
struct gl_table {
    GLuint buffer, texture;
    GLenum format; // GL_R32F, GL_RG32UI, GL_R8UI
};

struct gl_table gl_table_make(GLenum format);
taut_status gl_table_fill(const struct gl_table *table, const void *values, uint64_t count,
                          size_t size, GLenum usage, taut_error *error);
void gl_table_bind(const struct gl_table *table, int unit);
void gl_table_free(struct gl_table *table);

// Tells a program which texture unit a sampler reads. The program must be in use.
void gl_sampler(GLuint program, const char *name, int unit);

// TAUT_ERROR_IO where OpenGL has failed since the last time it was asked; `what` was being done.
taut_status gl_check(const char *what, taut_error *error);

#endif
