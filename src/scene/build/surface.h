// The springs of a triangulated surface: its edges, the far vertices of adjacent triangles, second
// neighbours. Each function gives false without memory, and an empty table then.
#ifndef TAUT_SCENE_SURFACE_H
#define TAUT_SCENE_SURFACE_H

#include "scene/build/pairs.h"

// Every edge once, as (lower, higher).
bool surface_edges(const uint32_t *triangles, uint64_t triangle_count, uint64_t vertex_count,
                   struct pair_table *edges);

// The far vertices of every two triangles that meet at an edge (of more than two, each with the one
// listed before it): once, and not where an edge joins them already.
bool surface_bends(const uint32_t *triangles, uint64_t triangle_count,
                   const struct pair_table *edges, struct pair_table *bends);

// All pairs at graph distance 2 along the edges, without those of `except` (which may be NULL).
bool surface_seconds(const struct pair_table *edges, const struct pair_table *except,
                     struct pair_table *seconds);

#endif
