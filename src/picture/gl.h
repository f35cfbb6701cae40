// OpenGL 3.3 core for the parts of the renderer: programs, tables that shaders read by index,
// uniforms and errors. It draws nothing itself, and creates no context (canvas.h).
#ifndef TAUT_PICTURE_GL_H
#define TAUT_PICTURE_GL_H

#include "base/status.h"
#include "base/vec3.h"
#include "picture/colours.h"

#include <epoxy/gl.h>
#include <stdint.h>

// Texture units. A shader's sampler reads the unit of its name.
enum {
    UNIT_POSITIONS,
    UNIT_ENDS,
    UNIT_VALUES,
    UNIT_KINDS,
    UNIT_MAP,
    UNIT_SHADOW,
    UNIT_COVERAGE,
    UNIT_PICTURE,
    UNIT_COUNT
};

// Compiles a shader file (shaders.h) after `defines` (lines of #define) and common.glsl; `name` is
// for messages. Its uniform block `frame` is bound to point 0. Prefer a define to a uniform for
// differences between programs: without a graphics card both sides of every branch are computed.
taut_status gl_program_make(const char *name, const char *defines, const char *source,
                            GLuint *program, taut_error *error);

// Numbers that a vertex shader reads by index (a buffer texture).
struct gl_table {
    GLuint buffer, texture;
    GLenum format; // GL_R32F, GL_RG32UI, GL_R8UI
};

struct gl_table gl_table_make(GLenum format);
taut_status gl_table_fill(const struct gl_table *table, const void *values, uint64_t count,
                          size_t size, GLenum usage, taut_error *error);
void gl_table_bind(const struct gl_table *table, int unit);
void gl_table_free(struct gl_table *table);

void gl_texture_bind(GLuint texture, int unit);

// Set uniforms of the current program by name.
void gl_set_colour(GLuint program, const char *name, struct colour colour);
void gl_set_vector(GLuint program, const char *name, vec3 vector);
void gl_set_float(GLuint program, const char *name, double value);
void gl_set_int(GLuint program, const char *name, uint64_t value);

// TAUT_ERROR_IO if OpenGL has failed since the last check; `what` is the operation for the message.
taut_status gl_check(const char *what, taut_error *error);

// A renderbuffer with that many samples per pixel, attached to the bound framebuffer.
GLuint gl_renderbuffer_make(GLenum format, GLenum attachment, int samples, int width, int height);

#endif
