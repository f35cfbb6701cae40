// The broad phase in single precision (broad_phase_fixture.h).
#define TAUT_REAL_BITS 32
#include "broad_phase_fixture_body.h"
