// The windows of flat sheets (contact/flat_sheets.h) of a solver in double precision, for positions
// that a test has put.
#ifndef TAUT_TESTS_FLAT_SHEETS_FIXTURE_H
#define TAUT_TESTS_FLAT_SHEETS_FIXTURE_H

#include <stddef.h>

#include "solver/solver.h"

// Lets the windows hold that do so now; how many.
size_t flat_windows_choose(taut_solver *solver);

// The greatest use of their limits now, of those that hold.
double flat_windows_use(taut_solver *solver);

#endif
