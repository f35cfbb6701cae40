#include "picture/shadow.h"

#include "picture/shaders.h"

#include <string.h>

enum { DEPTHS_SIZE = 1024, COVERED_SIZE = 256 };

static void set_filter(GLenum filter, GLenum wrap)
{
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)wrap);
}

static bool depths_make(struct shadow *shadow)
{
    static const float lit[] = {1.0f, 1.0f, 1.0f, 1.0f};
    glGenTextures(1, &shadow->depths);
    glBindTexture(GL_TEXTURE_2D, shadow->depths);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, DEPTHS_SIZE, DEPTHS_SIZE, 0,
                 GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, NULL);
    set_filter(GL_LINEAR, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, lit);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    glGenFramebuffers(1, &shadow->depths_target);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->depths_target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, shadow->depths, 0);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool covered_make(struct shadow *shadow, int which)
{
    static const float nothing[] = {0.0f, 0.0f, 0.0f, 0.0f};
    glBindTexture(GL_TEXTURE_2D, shadow->covered[which]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, COVERED_SIZE, COVERED_SIZE, 0, GL_RED, GL_UNSIGNED_BYTE,
                 NULL);
    set_filter(GL_LINEAR, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, nothing);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->covered_target[which]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           shadow->covered[which], 0);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

taut_status shadow_make(struct shadow *shadow, taut_error *error)
{
    *shadow = (struct shadow){0};
    GLint before;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
    glGenVertexArrays(1, &shadow->vertices);
    glGenTextures(2, shadow->covered);
    glGenFramebuffers(2, shadow->covered_target);
    bool complete = depths_make(shadow) && covered_make(shadow, 0) && covered_make(shadow, 1);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    if (!complete)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "'%s' cannot draw shadows",
                    (const char *)glGetString(GL_RENDERER));
    return gl_program_make("blur", "", shader_blur, &shadow->program, error);
}

void shadow_free(struct shadow *shadow)
{
    glDeleteProgram(shadow->program);
    glDeleteVertexArrays(1, &shadow->vertices);
    glDeleteTextures(1, &shadow->depths);
    glDeleteTextures(2, shadow->covered);
    glDeleteFramebuffers(1, &shadow->depths_target);
    glDeleteFramebuffers(2, shadow->covered_target);
    *shadow = (struct shadow){0};
}

// ---- What the light sees: a parallel projection of the box of what casts shadows.

// A row of a matrix that takes what lies between `least` and `most` along an axis to -1 and 1.
static void set_row(float matrix[16], int row, vec3 axis, double least, double most)
{
    double scale = 2.0 / (most - least);
    matrix[row] = (float)(scale * axis.x);
    matrix[4 + row] = (float)(scale * axis.y);
    matrix[8 + row] = (float)(scale * axis.z);
    matrix[12 + row] = (float)(-scale * 0.5 * (least + most));
}

static void extent_along(const struct frame *frame, vec3 axis, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (unsigned i = 0; i < 8; i++) {
        vec3 corner = vec3_make(i & 1 ? frame->casters_high.x : frame->casters_low.x,
                                i & 2 ? frame->casters_high.y : frame->casters_low.y,
                                i & 4 ? frame->casters_high.z : frame->casters_low.z);
        *least = fmin(*least, vec3_dot(corner, axis));
        *most = fmax(*most, vec3_dot(corner, axis));
    }
    double margin = 0.08 * (*most - *least) + 0.01 * frame->size;
    *least -= margin;
    *most += margin;
}

void shadow_aim(struct frame *frame, struct frame_block *seen)
{
    const float *from = frame->block.light;
    vec3 light = vec3_make(from[0], from[1], from[2]);
    vec3 other = fabs(light.y) < 0.9 ? vec3_make(0, 1, 0) : vec3_make(1, 0, 0);
    vec3 right = vec3_cross(other, light);
    right = vec3_scale(1.0 / vec3_length(right), right);
    const vec3 axes[3] = {right, vec3_cross(light, right), vec3_scale(-1.0, light)};
    *seen = frame->block;
    memset(seen->world_to_clip, 0, sizeof seen->world_to_clip);
    for (int row = 0; row < 3; row++) {
        double least, most;
        extent_along(frame, axes[row], &least, &most);
        set_row(seen->world_to_clip, row, axes[row], least, most);
    }
    seen->world_to_clip[15] = 1.0f;
    seen->eye[3] = 0.0f;
    seen->light[3] = 0.0f;
    seen->viewport[0] = seen->viewport[1] = (float)DEPTHS_SIZE;
    seen->viewport[2] = seen->viewport[3] = 1.0f / (float)DEPTHS_SIZE;

    // The same, with what is seen between 0 and 1.
    for (int i = 0; i < 16; i++) {
        bool is_row = i % 4 < 3;
        frame->block.world_to_shadow[i] =
            is_row ? 0.5f * seen->world_to_clip[i] + (i >= 12 ? 0.5f : 0.0f)
                   : seen->world_to_clip[i];
    }
    frame->block.light[3] = frame->options->dark ? 0.55f : 0.38f;
}

void shadow_begin(const struct shadow *shadow)
{
    gl_texture_bind(0, UNIT_SHADOW);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->depths_target);
    glViewport(0, 0, DEPTHS_SIZE, DEPTHS_SIZE);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_BLEND);
    glDisable(GL_CULL_FACE);
    glDepthMask(GL_TRUE);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_CLAMP);
}

static void blur(const struct shadow *shadow, int to, bool from_map, float x, float y)
{
    gl_texture_bind(from_map ? 0 : shadow->covered[0], UNIT_COVERAGE);
    glBindFramebuffer(GL_FRAMEBUFFER, shadow->covered_target[to]);
    gl_set_int(shadow->program, "from_map", from_map);
    glUniform2f(glGetUniformLocation(shadow->program, "direction"), x, y);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void shadow_end(const struct shadow *shadow)
{
    const float step = 1.0f / (float)COVERED_SIZE;
    glDisable(GL_DEPTH_CLAMP);
    glDisable(GL_DEPTH_TEST);
    glViewport(0, 0, COVERED_SIZE, COVERED_SIZE);
    glUseProgram(shadow->program);
    glBindVertexArray(shadow->vertices);
    gl_texture_bind(shadow->depths, UNIT_SHADOW);
    blur(shadow, 0, true, step, 0.0f);
    blur(shadow, 1, false, 0.0f, step);
    glBindVertexArray(0);
}

void shadow_bind(const struct shadow *shadow)
{
    gl_texture_bind(shadow->depths, UNIT_SHADOW);
    gl_texture_bind(shadow->covered[1], UNIT_COVERAGE);
}
