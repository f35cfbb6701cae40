// taut bench: starts the benchmark program taut-bench, which is in the folder of this program.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"

// The path of taut-bench in the folder of this program; NULL if the system does not give it. The
// caller frees it.
static char *program_path(void)
{
    enum { PATH_BYTES = 4096 };
    char self[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    if (length <= 0 || length == (ssize_t)sizeof self)
        return NULL;
    while (length > 0 && self[length - 1] != '/')
        length--;
    return text_format("%.*staut-bench", (int)length, self);
}

static int execute_bench(int argc, char **argv)
{
    (void)argc;
    char *path = program_path();
    if (!path) {
        complain("bench: cannot find the folder of this program; start taut-bench instead");
        return EXIT_CODE_FAILED;
    }
    argv[0] = path;
    execv(path, argv);

    // This is only reached if it could not be started.
    int reason = errno;
    if (reason == ENOENT) {
        complain("bench: there is no %s", path);
        fputs("    This taut was built without Google Benchmark. Install it (Debian: "
              "libbenchmark-dev),\n    then configure with -DTAUT_BENCH=ON and build and install "
              "again; or use ./dev bench.\n",
              stderr);
    } else {
        complain("bench: cannot start %s: %s", path, strerror(reason));
    }
    free(path);
    return EXIT_CODE_FAILED;
}

const struct command bench_command = {
    .name = "bench",
    .does = "Measures how fast this machine is (starts taut-bench)",
    .kind = COMMAND_EXTERNAL,
    .execute = execute_bench,
};
