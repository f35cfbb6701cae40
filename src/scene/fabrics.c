// Measured fabrics and solids (fabrics.h).
#include "scene/fabrics.h"

// ---- Fabrics
//
// H. Wang, J. F. O'Brien and R. Ramamoorthi measured ten fabrics and published their constants as
// files. A file has the density; C11, C12, C22 and C66 at six strains, of which the first row, at
// no strain, is used here; and the bending stiffness in three directions at five curvatures, of
// which the first number is used here, for both directions. Their first direction is along u. Not
// here: navy-sparkle-sweat, whose C11 C22 < C12^2 stores negative energy, and tango-red-jet-set,
// whose C12 > C11 needs springs of negative stiffness.
static const char wang_2011[] =
    "H. Wang, J. F. O'Brien, R. Ramamoorthi: Data-Driven Elastic Models for Cloth: Modeling and "
    "Measurement, ACM Transactions on Graphics 30(4), 71 (2011)";

struct measured_fabric {
    double density;            // kg/m2
    double c11, c12, c22, c66; // N/m
    double bending;            // 1e-6 N m
    const char *source;
};

const char *const fabric_names[] = {"denim",    "interlock",  "rib-knit", "ponte-roma", "blanket",
                                    "trousers", "tablecloth", "swimsuit", NULL};

// In the order of the names; the files are called 11oz-black-denim, gray-interlock, ivory-rib-knit,
// camel-ponte-roma, pink-ribbon-brown, royal-target, white-dots-on-blk and white-swim-solid.
static const struct measured_fabric fabrics[] = {
    {0.324, 205.352005, 10.234077, 1013.88629, 53.387184, 64.196457, wang_2011},
    {0.187, 16.593832, -14.695990, 34.477123, 36.860302, 23.191698, wang_2011},
    {0.276, 42.871021, -0.234556, 65.166023, 83.175644, 46.237591, wang_2011},
    {0.284, 31.146198, -12.802702, 44.028667, 31.896357, 36.348366, wang_2011},
    {0.228, 151.503906, 106.028160, 244.830673, 30.250183, 117.070122, wang_2011},
    {0.220, 2016.55456, 9.170511, 2034.97644, 104.759674, 125.409805, wang_2011},
    {0.128, 2002.08618, 0.345588, 2027.48559, 19.189022, 51.713814, wang_2011},
    {0.204, 47.971176, 6.834521, 104.615456, 60.773663, 60.237942, wang_2011},
};
_Static_assert(sizeof fabric_names / sizeof fabric_names[0] ==
                   sizeof fabrics / sizeof fabrics[0] + 1,
               "a name for each fabric");

struct scene_fabric fabric_named(size_t index)
{
    const struct measured_fabric *it = &fabrics[index];
    const double bending = 1e-6 * it->bending;
    return (struct scene_fabric){.material = fabric_names[index],
                                 .areal_density = it->density,
                                 .warp = it->c11,
                                 .weft = it->c22,
                                 .coupling = it->c12,
                                 .shear = it->c66,
                                 .bending = {bending, bending},
                                 .twist = bending};
}

const char *fabric_source(size_t index)
{
    return fabrics[index].source;
}

// ---- Solids

struct measured_solid {
    double young, poisson, density; // Pa, -, kg/m3
    const char *source;
};

const char *const solid_names[] = {"gelatine", "nylon", "rubber", "silicone", "steel", NULL};

static const char callister[] = "W. D. Callister, D. G. Rethwisch: Materials Science and "
                                "Engineering, appendix B";

// In the order of the names. Gels and rubbers are incompressible in practice: 1/2.
static const struct measured_solid solids[] = {
    {4.34e3, 0.5, 1000,
     "J. E. Bonavia: Viscoelastic Material Properties of Gelatin with Varying Water to Collagen "
     "Mass Ratios, arXiv:2512.20502 (2025), 20 parts of water; density of water"},
    {2.7e9, 0.39, 1140, callister}, // nylon 6,6: 1.59 to 3.79 GPa
    {1.17e6, 0.5, 925,
     "L. R. G. Treloar: The Physics of Rubber Elasticity: natural rubber, G = 0.39 MPa, E = 3 G"},
    {1.32e6, 0.5, 1030,
     "I. D. Johnston and others: Mechanical characterization of bulk Sylgard 184, Journal of "
     "Micromechanics and Microengineering 24, 035017 (2014), cured at 25 degrees Celsius"},
    {207e9, 0.3, 7850, callister}, // alloy 1020
};
_Static_assert(sizeof solid_names / sizeof solid_names[0] == sizeof solids / sizeof solids[0] + 1,
               "a name for each solid");

struct scene_elastic solid_named(size_t index)
{
    const struct measured_solid *it = &solids[index];
    return (struct scene_elastic){.material = solid_names[index],
                                  .young = it->young,
                                  .poisson = it->poisson,
                                  .density = it->density};
}

const char *solid_source(size_t index)
{
    return solids[index].source;
}
