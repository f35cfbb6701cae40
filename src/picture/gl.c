// Programs, tables, uniforms and errors of OpenGL (gl.h). Drawing is left to the parts of the
// renderer.
#include "picture/gl.h"

#include "picture/shaders.h"

#include <inttypes.h>

static taut_status stage_make(const char *name, GLenum type, const char *defines,
                              const char *source, GLuint *stage, taut_error *error)
{
    const char *which = type == GL_VERTEX_SHADER ? "#define VERTEX\n" : "#define FRAGMENT\n";
    const GLchar *texts[] = {"#version 330 core\n", which, defines, shader_common, source};
    *stage = glCreateShader(type);
    glShaderSource(*stage, 5, texts, NULL);
    glCompileShader(*stage);
    GLint compiled = GL_FALSE;
    glGetShaderiv(*stage, GL_COMPILE_STATUS, &compiled);
    if (compiled)
        return TAUT_OK;
    char log[400] = "";
    glGetShaderInfoLog(*stage, sizeof log, NULL, log);
    return fail(error, TAUT_ERROR_UNSUPPORTED, "shader '%s' does not compile here: %s", name, log);
}

// A sampler reads the same unit in all programs, determined by its name.
static void set_samplers(GLuint program)
{
    static const struct {
        const char *name;
        int unit;
    } samplers[] = {
        {"positions", UNIT_POSITIONS}, {"ends", UNIT_ENDS},      {"values", UNIT_VALUES},
        {"kinds", UNIT_KINDS},         {"map", UNIT_MAP},        {"shadow_map", UNIT_SHADOW},
        {"coverage", UNIT_COVERAGE},   {"picture", UNIT_PICTURE}};
    glUseProgram(program);
    for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
        GLint location = glGetUniformLocation(program, samplers[i].name);
        if (location >= 0)
            glUniform1i(location, samplers[i].unit);
    }
    glUseProgram(0);
}

static taut_status link_program(const char *name, GLuint program, taut_error *error)
{
    glLinkProgram(program);
    GLint linked = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        char log[400] = "";
        glGetProgramInfoLog(program, sizeof log, NULL, log);
        return fail(error, TAUT_ERROR_UNSUPPORTED, "shader '%s' does not link here: %s", name, log);
    }
    GLuint frame = glGetUniformBlockIndex(program, "frame");
    if (frame != GL_INVALID_INDEX)
        glUniformBlockBinding(program, frame, 0);
    set_samplers(program);
    return TAUT_OK;
}

taut_status gl_program_make(const char *name, const char *defines, const char *source,
                            GLuint *program, taut_error *error)
{
    GLuint vertex = 0, fragment = 0;
    taut_status status = stage_make(name, GL_VERTEX_SHADER, defines, source, &vertex, error);
    if (status == TAUT_OK)
        status = stage_make(name, GL_FRAGMENT_SHADER, defines, source, &fragment, error);
    *program = glCreateProgram();
    if (status == TAUT_OK) {
        glAttachShader(*program, vertex);
        glAttachShader(*program, fragment);
        status = link_program(name, *program, error);
    }
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    if (status != TAUT_OK) {
        glDeleteProgram(*program);
        *program = 0;
    }
    return status;
}

struct gl_table gl_table_make(GLenum format)
{
    struct gl_table table = {.format = format};
    glGenBuffers(1, &table.buffer);
    glGenTextures(1, &table.texture);
    glBindBuffer(GL_TEXTURE_BUFFER, table.buffer);
    glBindTexture(GL_TEXTURE_BUFFER, table.texture);
    glTexBuffer(GL_TEXTURE_BUFFER, format, table.buffer);
    return table;
}

taut_status gl_table_fill(const struct gl_table *table, const void *values, uint64_t count,
                          size_t size, GLenum usage, taut_error *error)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
    if (count > (uint64_t)most)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "'%s' draws from tables of %d numbers at most; the scene needs %" PRIu64,
                    (const char *)glGetString(GL_RENDERER), most, count);
    glBindBuffer(GL_TEXTURE_BUFFER, table->buffer);
    glBufferData(GL_TEXTURE_BUFFER, (GLsizeiptr)(count * size), values, usage);
    return TAUT_OK;
}

void gl_table_bind(const struct gl_table *table, int unit)
{
    glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
    glBindTexture(GL_TEXTURE_BUFFER, table->texture);
}

void gl_table_free(struct gl_table *table)
{
    glDeleteTextures(1, &table->texture);
    glDeleteBuffers(1, &table->buffer);
    *table = (struct gl_table){0};
}

void gl_texture_bind(GLuint texture, int unit)
{
    glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
    glBindTexture(GL_TEXTURE_2D, texture);
}

void gl_set_colour(GLuint program, const char *name, struct colour colour)
{
    glUniform3f(glGetUniformLocation(program, name), colour.red, colour.green, colour.blue);
}

void gl_set_vector(GLuint program, const char *name, vec3 vector)
{
    glUniform3f(glGetUniformLocation(program, name), (float)vector.x, (float)vector.y,
                (float)vector.z);
}

void gl_set_float(GLuint program, const char *name, double value)
{
    glUniform1f(glGetUniformLocation(program, name), (float)value);
}

void gl_set_int(GLuint program, const char *name, uint64_t value)
{
    glUniform1i(glGetUniformLocation(program, name), (GLint)value);
}

taut_status gl_check(const char *what, taut_error *error)
{
    GLenum first = glGetError();
    if (first == GL_NO_ERROR)
        return TAUT_OK;
    for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; i++)
        continue;
    if (first == GL_OUT_OF_MEMORY)
        return fail(error, TAUT_ERROR_MEMORY, "OpenGL has no memory for %s", what);
    return fail(error, TAUT_ERROR_IO, "OpenGL error 0x%x while drawing %s", first, what);
}

GLuint gl_renderbuffer_make(GLenum format, GLenum attachment, int samples, int width, int height)
{
    GLuint name;
    glGenRenderbuffers(1, &name);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, name);
    return name;
}
