// The windows of flat sheets (flat_sheets_fixture.h).
#define TAUT_REAL_BITS 64
#include "flat_sheets_fixture.h"

#include "contact/flat_sheets.h"
#include "solver/internals.h"

static struct surface_contact *measured(taut_solver *solver)
{
    struct system *system = solver_system(solver);
    const struct worker worker = {.index = 0, .count = 1};
    if (system->surface_contact->flat)
        flat_sheets_measure_f64(system, 0, &worker);
    return system->surface_contact;
}

size_t flat_windows_choose(taut_solver *solver)
{
    struct surface_contact *it = measured(solver);
    size_t count = 0;
    if (!it->flat)
        return 0;
    flat_sheets_choose_f64(it);
    for (size_t w = 0; w < it->flat->window_count; w++)
        count += it->flat->windows[w].holds;
    return count;
}

double flat_windows_use(taut_solver *solver)
{
    return flat_sheets_use_f64(measured(solver));
}
