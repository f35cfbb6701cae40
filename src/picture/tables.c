#include "picture/tables.h"

static GLuint maps_make(void)
{
    uint8_t texels[MAP_COUNT][3 * MAP_LENGTH];
    for (int map = 0; map < MAP_COUNT; map++)
        colour_map_fill((enum colour_map)map, texels[map]);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, MAP_LENGTH, MAP_COUNT, 0, GL_RGB, GL_UNSIGNED_BYTE,
                 texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

void tables_make(struct tables *tables)
{
    *tables = (struct tables){.positions = gl_table_make(GL_R32F),
                              .ends = gl_table_make(GL_RG32UI),
                              .kinds = gl_table_make(GL_R8UI),
                              .values = gl_table_make(GL_R32F),
                              .maps = maps_make()};
}

taut_status tables_set(struct tables *tables, const struct subject *subject, taut_error *error)
{
    uint64_t count = subject->spring_count;
    taut_status status = gl_table_fill(&tables->ends, subject->springs, count,
                                       sizeof *subject->springs, GL_STATIC_DRAW, error);
    if (status == TAUT_OK)
        status = gl_table_fill(&tables->kinds, subject->kinds, count, sizeof *subject->kinds,
                               GL_STATIC_DRAW, error);
    return status;
}

taut_status tables_fill(struct tables *tables, const struct subject *subject,
                        const struct subject_moment *moment, const struct values *values,
                        taut_error *error)
{
    taut_status status =
        gl_table_fill(&tables->positions, moment->positions, 3 * subject->node_count, sizeof(float),
                      GL_STREAM_DRAW, error);
    if (status == TAUT_OK && values->of_springs)
        status = gl_table_fill(&tables->values, values->springs, values->spring_count,
                               sizeof(float), GL_STREAM_DRAW, error);
    return status;
}

void tables_free(struct tables *tables)
{
    gl_table_free(&tables->positions);
    gl_table_free(&tables->ends);
    gl_table_free(&tables->kinds);
    gl_table_free(&tables->values);
    glDeleteTextures(1, &tables->maps);
    *tables = (struct tables){0};
}

void tables_bind(const struct tables *tables, const struct values *values, GLuint program)
{
    gl_table_bind(&tables->positions, UNIT_POSITIONS);
    gl_table_bind(&tables->ends, UNIT_ENDS);
    gl_table_bind(&tables->values, UNIT_VALUES);
    gl_table_bind(&tables->kinds, UNIT_KINDS);
    gl_texture_bind(tables->maps, UNIT_MAP);
    double range = values->most - values->least;
    glUniform3f(glGetUniformLocation(program, "scale"), (float)values->least,
                (float)(range > 0.0 ? 1.0 / range : 0.0),
                ((float)values->map + 0.5f) / (float)MAP_COUNT);
}
