// Cases side by side: each worker of a team takes the next one that nobody has, and does it alone.
#include <pthread.h>

#include "base/clock.h"
#include "study/lab.h"

bool lab_ends(struct lab *lab)
{
    const struct study_options *options = lab->options;
    if (atomic_load(&lab->late) || atomic_load(&lab->stopped))
        return true;
    if (options->stop && options->stop(options->context))
        atomic_store(&lab->stopped, true);
    if (clock_seconds() > lab->deadline)
        atomic_store(&lab->late, true);
    return atomic_load(&lab->late) || atomic_load(&lab->stopped);
}

void lab_grant(struct lab *lab, double seconds)
{
    lab->deadline = clock_seconds() + seconds;
    atomic_store(&lab->late, false);
}

struct crew {
    struct lab *lab;
    size_t count;
    case_function function;
    void *context;
    atomic_bool failed;
    pthread_mutex_t mutex; // of what follows
    size_t failed_case;
    taut_status status;
    taut_error *error;
};

static void note_failure(struct crew *crew, size_t index, taut_status status,
                         const taut_error *error)
{
    pthread_mutex_lock(&crew->mutex);
    if (crew->status == TAUT_OK || index < crew->failed_case) {
        crew->status = status;
        crew->failed_case = index;
        if (crew->error)
            *crew->error = *error;
    }
    pthread_mutex_unlock(&crew->mutex);
    atomic_store(&crew->failed, true);
}

static void do_cases(void *context, const struct worker *worker)
{
    struct crew *crew = context;
    struct range range;
    while (worker_take(worker, crew->count, 1, &range)) {
        if (atomic_load(&crew->failed) || lab_ends(crew->lab))
            continue;
        taut_error error = {0};
        taut_status status = crew->function(crew->lab, crew->context, range.first, &error);
        if (status != TAUT_OK)
            note_failure(crew, range.first, status, &error);
    }
}

taut_status lab_cases(struct lab *lab, size_t count, case_function function, void *context,
                      taut_error *error)
{
    struct crew crew = {.lab = lab,
                        .count = count,
                        .function = function,
                        .context = context,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .error = error};
    size_t threads = (size_t)lab->options->threads;
    team_run((int)(threads < count ? threads : count), do_cases, &crew);
    pthread_mutex_destroy(&crew.mutex);
    return crew.status;
}
