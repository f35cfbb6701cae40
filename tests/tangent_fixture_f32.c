// Products with the tangent of solvers with 32-bit reals (tangent_fixture_body.h).
#define TAUT_REAL_BITS 32
#include "tangent_fixture_body.h"
