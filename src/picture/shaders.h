// The source text of the shaders (src/picture/shaders/NAME.glsl). Each file has both stages,
// separated by VERTEX and FRAGMENT, and is compiled after common.glsl.
#ifndef TAUT_PICTURE_SHADERS_H
#define TAUT_PICTURE_SHADERS_H

extern const char shader_common[];
extern const char shader_background[];
extern const char shader_blur[];
extern const char shader_contacts[];
extern const char shader_faces[];
extern const char shader_outlines[];
extern const char shader_overlays[];
extern const char shader_planes[];
extern const char shader_points[];
extern const char shader_solids[];
extern const char shader_springs[];

#endif
