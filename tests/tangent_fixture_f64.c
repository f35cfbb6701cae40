// Products with the tangent of solvers with 64-bit reals (tangent_fixture_body.h).
#define TAUT_REAL_BITS 64
#include "tangent_fixture_body.h"
