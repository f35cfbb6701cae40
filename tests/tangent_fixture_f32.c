#define TAUT_REAL_BITS 32
#include "tangent_fixture_body.h"
