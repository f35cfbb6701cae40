// Sums over nodes for the check of divergence, in double. Plain loops over eight parts of a sum at
// a time, which a compiler vectorises at any width; the parts are added in their order at the end,
// so the bits are the same. kernels/table.h compiles them for each instruction set.
#include "kernels/kernels.h"

enum { SUM_PARTS = 8 };

// Node i of a part has the mass masses[i], or `each` if there is no list.
struct node_parts {
    double kinetic[SUM_PARTS], gravity[SUM_PARTS], coordinates[SUM_PARTS];
};

static inline void add_node(const struct state *s, size_t i, double mass, const double g[3],
                            struct node_parts *parts, size_t part)
{
    double x = (double)s->x[i], y = (double)s->y[i], z = (double)s->z[i];
    double vx = (double)s->vx[i], vy = (double)s->vy[i], vz = (double)s->vz[i];
    parts->kinetic[part] += mass * (vx * vx + vy * vy + vz * vz);
    parts->gravity[part] += mass * (g[0] * x + g[1] * y + g[2] * z);
    parts->coordinates[part] += x + y + z;
}

static void add_nodes(const struct state *s, struct range range, const double *masses, double each,
                      const double gravity[3], struct node_parts *result)
{
    struct node_parts parts = *result;
    const double g[3] = {gravity[0], gravity[1], gravity[2]};
    size_t i = range.first;
    for (; i + SUM_PARTS <= range.end; i += SUM_PARTS)
        for (size_t part = 0; part < SUM_PARTS; part++)
            add_node(s, i + part, masses ? masses[i + part - range.first] : each, g, &parts, part);
    for (size_t part = 0; i < range.end; i++, part++)
        add_node(s, i, masses ? masses[i - range.first] : each, g, &parts, part);
    *result = parts;
}

static void node_sums(const struct state *s, struct range range, const double *masses, double each,
                      const double gravity[3], struct node_sums *sums)
{
    struct node_parts parts = {{0}, {0}, {0}};
    if (masses)
        add_nodes(s, range, masses, 0, gravity, &parts);
    else
        add_nodes(s, range, NULL, each, gravity, &parts);
    for (int part = 0; part < SUM_PARTS; part++) {
        sums->kinetic += 0.5 * parts.kinetic[part];
        sums->gravity -= parts.gravity[part];
        sums->coordinates += parts.coordinates[part];
    }
}
