// The broad phase in double precision (broad_phase_fixture.h).
#define TAUT_REAL_BITS 64
#include "broad_phase_fixture_body.h"
