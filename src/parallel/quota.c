// Reads limits of processor time and memory from /proc, /sys/fs/cgroup, getrlimit and the
// environment (quota.h). How to react to them is left to the callers.
#include "parallel/quota.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_CAPACITY = 4096, TEXT_CAPACITY = 8192 };

// Reads the beginning of a small file; false if it cannot be read.
static bool read_text(const char *path, char *text, size_t capacity)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(text, 1, capacity - 1, file);
    text[length] = '\0';
    bool read = !ferror(file);
    fclose(file);
    return read && length > 0;
}

// Reads a small file in a group's folder.
static bool read_in(const char *folder, const char *name, char *text, size_t capacity)
{
    char path[PATH_CAPACITY];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length >= 0 && (size_t)length < sizeof path && read_text(path, text, capacity);
}

// The positive integer at the beginning of a file, else INFINITY ("max", -1, or no such file).
static double read_number(const char *folder, const char *name)
{
    char text[TEXT_CAPACITY], *rest;
    if (!read_in(folder, name, text, sizeof text))
        return INFINITY;
    double number = strtod(text, &rest);
    return rest != text && number > 0 ? number : INFINITY;
}

// ---- Processor time: processors' worth of time that the group of a folder may use

static double processors_v2(const char *folder)
{
    char text[TEXT_CAPACITY], *rest;
    if (!read_in(folder, "cpu.max", text, sizeof text)) // "max 100000" or "150000 100000"
        return INFINITY;
    double quota = strtod(text, &rest);
    double period = rest == text ? 0 : strtod(rest, NULL);
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double processors_v1(const char *folder)
{
    double quota = read_number(folder, "cpu.cfs_quota_us");
    double period = read_number(folder, "cpu.cfs_period_us");
    return isfinite(quota) && isfinite(period) ? quota / period : INFINITY;
}

// ---- Memory: bytes that the group of a folder may still allocate

// The number after a name at the beginning of a line, or 0.
static double number_after(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, length) == 0 && at[length] == ' ')
            return strtod(at + length, NULL);
    }
    return 0;
}

// File pages that were not used lately count as used in the group's total, but they are reclaimed
// before any process is killed, so they count as free here.
static double memory_left(const char *folder, const char *limit, const char *usage,
                          const char *inactive)
{
    char text[TEXT_CAPACITY];
    double most = read_number(folder, limit), used = read_number(folder, usage);
    if (!isfinite(most) || !isfinite(used))
        return INFINITY;
    double reclaimed =
        read_in(folder, "memory.stat", text, sizeof text) ? number_after(text, inactive) : 0;
    return fmax(0, most - fmax(0, used - reclaimed));
}

static double memory_v2(const char *folder)
{
    double hard = memory_left(folder, "memory.max", "memory.current", "inactive_file");
    // Above memory.high nothing is killed, but processes are throttled to a standstill.
    double soft = memory_left(folder, "memory.high", "memory.current", "inactive_file");
    return fmin(hard, soft);
}

static double memory_v1(const char *folder)
{
    return memory_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                       "total_inactive_file");
}

// ---- Groups

// A limited resource: its controller, how its limit is read in each version of control groups, and
// where hierarchies of version 1 are mounted.
struct resource {
    const char *controller;
    double (*v2)(const char *folder);
    double (*v1)(const char *folder);
    const char *mounts[2];
};

static const struct resource processor_time = {
    "cpu", processors_v2, processors_v1, {"/cpu,cpuacct", "/cpu"}};
static const struct resource memory = {"memory", memory_v2, memory_v1, {"/memory", "/memory"}};

// The tightest limit of `group` and of every group above it; each of them applies. Inside a
// container the group's path may be that of the host and not exist; then only its parents count.
static double tightest(const char *mount, const char *sub, const char *group,
                       double (*limit)(const char *folder))
{
    char folder[PATH_CAPACITY];
    int length = snprintf(folder, sizeof folder, "%s%s%s", mount, sub, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return INFINITY;
    size_t root = strlen(mount) + strlen(sub);
    double found = INFINITY;
    for (;;) {
        found = fmin(found, limit(folder));
        if (strlen(folder) <= root)
            return found;
        *strrchr(folder, '/') = '\0'; // never NULL: a group begins with '/'
    }
}

static bool lists_controller(const char *controllers, const char *wanted)
{
    size_t length;
    for (const char *at = controllers; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        if (length == strlen(wanted) && memcmp(at, wanted, length) == 0)
            return true;
    }
    return false;
}

// Parses one line, HIERARCHY:CONTROLLERS:GROUP; version 2 is hierarchy 0 without controllers.
static double limit_of_line(char *line, const char *mount, const struct resource *resource)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return INFINITY;
    *controllers++ = '\0';
    *group++ = '\0';
    if (strcmp(line, "0") == 0 && *controllers == '\0')
        return fmin(tightest(mount, "", group, resource->v2),
                    tightest(mount, "/unified", group, resource->v2));
    if (!lists_controller(controllers, resource->controller))
        return INFINITY;
    return fmin(tightest(mount, resource->mounts[0], group, resource->v1),
                tightest(mount, resource->mounts[1], group, resource->v1));
}

// The tightest limit in all hierarchies; INFINITY if there is none.
static double limit_of(const char *membership, const char *mount, const struct resource *resource)
{
    double found = INFINITY;
    char line[PATH_CAPACITY];
    for (const char *at = membership; *at;) {
        size_t length = strcspn(at, "\n");
        if (length < sizeof line) {
            memcpy(line, at, length);
            line[length] = '\0';
            found = fmin(found, limit_of_line(line, mount, resource));
        }
        at += length + (at[length] == '\n');
    }
    return found;
}

int quota_processors(const char *membership, const char *mount)
{
    double found = ceil(limit_of(membership, mount, &processor_time));
    return !isfinite(found) ? 0 : found < INT_MAX ? (int)found : INT_MAX;
}

int quota_of_this_process(void)
{
    char membership[TEXT_CAPACITY];
    if (!read_text("/proc/self/cgroup", membership, sizeof membership))
        return 0;
    return quota_processors(membership, "/sys/fs/cgroup");
}

double quota_memory(const char *membership, const char *mount)
{
    return limit_of(membership, mount, &memory);
}

// ---- The memory of this process

static const char *const source_texts[] = {
    [MEMORY_UNKNOWN] = "of any size",
    [MEMORY_MACHINE] = "free on this machine, swap included",
    [MEMORY_GROUP] = "left by the limit of its control group",
    [MEMORY_ADDRESSES] = "left by its address-space limit, ulimit -v",
    [MEMORY_DATA] = "left by its data limit, ulimit -d",
    [MEMORY_REQUESTED] = "by TAUT_MEMORY_LIMIT",
};

const char *memory_source_text(enum memory_source source)
{
    return source_texts[source];
}

// Memory available without taking it from other processes, and free swap.
static double machine_left(void)
{
    char text[TEXT_CAPACITY];
    if (read_text("/proc/meminfo", text, sizeof text)) {
        double available = number_after(text, "MemAvailable:");
        if (available > 0)
            return 1024 * (available + number_after(text, "SwapFree:"));
    }
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        return (double)pages * (double)page;
#endif
    return INFINITY;
}

// The pages counted in a column of /proc/self/statm, bytes; 0: unknown.
static double pages_of_this_process(int column)
{
    char text[TEXT_CAPACITY], *at = text;
    double pages = 0;
    if (read_text("/proc/self/statm", text, sizeof text))
        for (int i = 0; i <= column; i++)
            pages = strtod(at, &at);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

// The bytes that a resource limit of this process leaves above the pages counted in a column of
// /proc/self/statm.
static double limit_left(int resource, int column)
{
    struct rlimit limit;
    if (getrlimit((unsigned)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    return fmax(0, (double)limit.rlim_cur - pages_of_this_process(column));
}

double addresses_left_to_this_process(void)
{
    enum { STATM_SIZE = 0 };
    return limit_left(RLIMIT_AS, STATM_SIZE);
}

bool memory_size_read(const char *text, double *bytes)
{
    static const char units[] = "KMGT";
    char *rest;
    errno = 0;
    double number = strtod(text, &rest);
    if (rest == text || !(number > 0) || !isfinite(number))
        return false;
    const char *unit = *rest ? strchr(units, *rest) : NULL;
    if (unit) {
        number = ldexp(number, 10 * (int)(unit - units + 1));
        rest++;
        rest += *rest == 'i';
    }
    rest += *rest == 'B';
    *bytes = number;
    return *rest == '\0';
}

static void tighten(struct memory_left *left, double bytes, enum memory_source source)
{
    if (bytes < left->bytes)
        *left = (struct memory_left){bytes, source};
}

// Whether TAUT_MEMORY_LIMIT replaces all other sources, and by what.
static bool is_requested(struct memory_left *left)
{
    double requested;
    const char *setting = getenv("TAUT_MEMORY_LIMIT");
    *left = (struct memory_left){INFINITY, MEMORY_UNKNOWN};
    if (setting && strcmp(setting, "none") == 0)
        return true;
    if (!setting || !memory_size_read(setting, &requested))
        return false;
    tighten(left, requested, MEMORY_REQUESTED);
    return true;
}

struct memory_left memory_left_on_this_machine(void)
{
    struct memory_left left;
    char membership[TEXT_CAPACITY];
    if (is_requested(&left))
        return (struct memory_left){INFINITY, MEMORY_UNKNOWN};
    tighten(&left, machine_left(), MEMORY_MACHINE);
    if (read_text("/proc/self/cgroup", membership, sizeof membership))
        tighten(&left, quota_memory(membership, "/sys/fs/cgroup"), MEMORY_GROUP);
    return left;
}

// The memory that a process has before it allocates arrays, such as that of its libraries, does not
// count against TAUT_MEMORY_LIMIT.
static _Atomic double resident_at_first; // bytes, when that was first asked for; 0: not yet

enum { STATM_RESIDENT = 1 };

struct memory_left memory_left_to_this_process(void)
{
    struct memory_left left;
    if (is_requested(&left)) {
        double none = 0;
        (void)atomic_compare_exchange_strong(&resident_at_first, &none,
                                             pages_of_this_process(STATM_RESIDENT));
        return left;
    }
    enum { STATM_DATA = 5 };
    left = memory_left_on_this_machine();
    tighten(&left, addresses_left_to_this_process(), MEMORY_ADDRESSES);
    tighten(&left, limit_left(RLIMIT_DATA, STATM_DATA), MEMORY_DATA);
    return left;
}

// SPARE is the memory that other arrays of this process, and other processes, may take meanwhile.
// GIVEN_PART and GIVEN_MOST limit how much of the memory beyond it is given out before the system
// is asked again: memory that has been given out may not have been written yet, and then does not
// count as used.
static const double SPARE = 32 << 20, GIVEN_PART = 1.0 / 8, GIVEN_MOST = 256 << 20;

struct memory_left memory_left_now(void)
{
    struct memory_left left = memory_left_to_this_process();
    if (left.source == MEMORY_REQUESTED) {
        const double more = pages_of_this_process(STATM_RESIDENT) - atomic_load(&resident_at_first);
        // By the estimates, planned arrays may have used all of it.
        left.bytes = fmax(0, left.bytes + SPARE - fmax(0, more));
    }
    return left;
}

bool memory_may_grow(double bytes)
{
    static _Atomic double given; // bytes that may still be taken without asking
    double left = atomic_load(&given);
    while (left >= bytes)
        if (atomic_compare_exchange_weak(&given, &left, left - bytes))
            return true;
    const struct memory_left all = memory_left_now();
    const double now = all.bytes - (all.source == MEMORY_REQUESTED ? 0 : SPARE) - bytes;
    if (!(now >= 0))
        return false;
    atomic_store(&given, fmin(GIVEN_MOST, GIVEN_PART * now));
    return true;
}
