#define TAUT_REAL_BITS 64
#include "tangent_fixture_body.h"
