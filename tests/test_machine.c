// parallel/machine and parallel/quota: the resources that the process may use, on this machine and
// on synthetic ones. Environment and affinity mask belong to a process: detection with other values
// runs in a child process, which sends back its result.
#define _GNU_SOURCE // sched_setaffinity

#include "test.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parallel/machine.h"
#include "parallel/quota.h"

// Runs machine_detect in a child process that executes this program again, after `prepare` has
// changed the process (false: impossible here). print_machine is the child's side.
static bool detect_in_child(bool (*prepare)(const char *argument), const char *argument,
                            struct machine *machine)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prepare(argument) && dup2(ends[1], 3) == 3 && setenv("TAUT_PRINT_MACHINE", "1", 1) == 0)
            execl("/proc/self/exe", "test_machine", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], machine, sizeof *machine);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && length == (ssize_t)sizeof *machine;
}

static int print_machine(void)
{
    struct machine machine;
    if (machine_detect(&machine, NULL) != TAUT_OK)
        return 1;
    return write(3, &machine, sizeof machine) == (ssize_t)sizeof machine ? 0 : 1;
}

static bool be_synthetic(const char *description)
{
    return setenv("HWLOC_SYNTHETIC", description, 1) == 0;
}

static struct machine detect_synthetic(const char *description)
{
    struct machine machine;
    assert_true(detect_in_child(be_synthetic, description, &machine));
    return machine;
}

static void test_this_machine(void **state)
{
    (void)state;
    struct machine machine;
    taut_error error = {0};
    assert_int_equal(machine_detect(&machine, &error), TAUT_OK);
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    assert_int_equal(machine.logical, CPU_COUNT(&mask));
    assert_in_range(machine.cores, 1, machine.logical);
    assert_in_range(machine.numa_nodes, 1, 1024);
    assert_true(machine.name[0] != '\0' && machine.name[0] != ' ');
    assert_true(memchr(machine.name, '\0', sizeof machine.name) != NULL);
    if (machine.l1 && machine.l2)
        assert_true(machine.l1 <= machine.l2);
}

static bool keep_one_processor(const char *argument)
{
    (void)argument;
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &all))
        last--;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static void test_affinity_mask_of_one_processor(void **state)
{
    (void)state;
    struct machine machine;
    assert_true(detect_in_child(keep_one_processor, NULL, &machine));
    assert_int_equal(machine.logical, 1);
    assert_int_equal(machine.cores, 1);
    assert_int_equal(machine.numa_nodes, 1);
}

// Two threads per core: cores are counted.
static void test_synthetic_two_packages(void **state)
{
    (void)state;
    struct machine machine = detect_synthetic(
        "pack:2 [numa] l3:1(size=33554432) l2:8(size=1048576) l1d:1(size=32768) core:1 pu:2");
    assert_int_equal(machine.cores, 16);
    assert_int_equal(machine.logical, 32);
    assert_int_equal(machine.packages, 2);
    assert_int_equal(machine.numa_nodes, 2);
    assert_int_equal(machine.l1, 32768);
    assert_int_equal(machine.l2, 1048576);
    assert_int_equal(machine.l3, 33554432);
}

// Neither cores nor caches, as on some virtual machines.
static void test_synthetic_bare_processors(void **state)
{
    (void)state;
    struct machine machine = detect_synthetic("pu:6");
    assert_int_equal(machine.cores, 6);
    assert_int_equal(machine.logical, 6);
    assert_int_equal(machine.numa_nodes, 1);
    assert_int_equal(machine.l1 + machine.l2 + machine.l3, 0);
    assert_true(machine.name[0] != '\0');
}

// ---- Positions of workers on synthetic machines

struct found_positions {
    bool made;
    int nodes[64];
};

static int print_places(int workers)
{
    struct found_positions found = {0};
    struct numa_binding *binding;
    if (numa_binding_make(workers, &binding, NULL) != TAUT_OK)
        return 1;
    found.made = binding != NULL;
    for (int i = 0; binding && i < workers; i++) {
        found.nodes[i] = numa_binding_node(binding, i);
        // On a synthetic machine this changes nothing, and must not fail.
        numa_unbind_thread(binding, numa_bind_thread(binding, i));
    }
    numa_binding_free(binding);
    return write(3, &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1;
}

static struct found_positions positions_on(const char *description, const char *workers)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (be_synthetic(description) && dup2(ends[1], 3) == 3 &&
            setenv("TAUT_PRINT_PLACES", workers, 1) == 0)
            execl("/proc/self/exe", "test_machine", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    struct found_positions found;
    assert_int_equal(read(ends[0], &found, sizeof found), sizeof found);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return found;
}

static void test_positions_fill_node_after_node(void **state)
{
    (void)state;
    struct found_positions found = positions_on("pack:2 [numa] core:8 pu:2", "16");
    assert_true(found.made);
    for (int i = 0; i < 16; i++)
        assert_int_equal(found.nodes[i], i / 8);
    found = positions_on("pack:2 [numa] group:2 [numa] core:3 pu:1", "12");
    assert_true(found.made); // memory of a package and of its halves, with the same processors
    for (int i = 1; i < 12; i++)
        assert_in_range(found.nodes[i], found.nodes[i - 1], found.nodes[i - 1] + 1);
    found = positions_on("numa:4 pu:2", "8"); // processors without cores
    assert_true(found.made);
    for (int i = 0; i < 8; i++)
        assert_int_equal(found.nodes[i], i / 2);
}

static void test_positions_only_of_whole_machines_with_nodes(void **state)
{
    (void)state;
    assert_false(positions_on("pack:2 [numa] core:8 pu:2", "15").made);
    assert_false(positions_on("pack:2 [numa] core:8 pu:2", "32").made);
    assert_false(positions_on("numa:1 core:8 pu:2", "8").made);
    assert_false(positions_on("pu:1", "1").made);
}

// ---- Quotas, in folders with the structure of /sys/fs/cgroup

static char hierarchy[4096];

static void make_folder(const char *path)
{
    assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
}

static void write_file(const char *name, const char *text)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", hierarchy, name);
    for (char *at = path + strlen(hierarchy) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        make_folder(path);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void use_hierarchy(const char *name)
{
    make_folder(TAUT_TEST_OUT);
    snprintf(hierarchy, sizeof hierarchy, "%s/cgroup-%s", TAUT_TEST_OUT, name);
    make_folder(hierarchy);
}

static void test_quota_version_2(void **state)
{
    (void)state;
    use_hierarchy("v2");
    write_file("cpu.max", "max 100000\n");
    write_file("a/b/cpu.max", "250000 100000\n"); // 2.5 processors: three threads
    write_file("a/cpu.max", "max 100000\n");
    assert_int_equal(quota_processors("0::/a/b\n", hierarchy), 3);
    assert_int_equal(quota_processors("0::/a\n", hierarchy), 0);
    assert_int_equal(quota_processors("0::/\n", hierarchy), 0);
    write_file("a/cpu.max", "200000 100000\n"); // the parent group has a lower limit
    assert_int_equal(quota_processors("0::/a/b\n", hierarchy), 2);
    write_file("cpu.max", "50000 100000\n"); // the root as a container sees it
    assert_int_equal(quota_processors("0::/a/b\n", hierarchy), 1);
    assert_int_equal(quota_processors("0::/\n", hierarchy), 1);
    assert_int_equal(quota_processors("0::/../../name/of/the/host\n", hierarchy), 1);
}

static void test_quota_version_1(void **state)
{
    (void)state;
    use_hierarchy("v1");
    write_file("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
    write_file("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    write_file("cpu,cpuacct/free/cpu.cfs_quota_us", "-1\n");
    write_file("cpu,cpuacct/free/cpu.cfs_period_us", "100000\n");
    const char *job = "5:cpuset:/job\n4:cpu,cpuacct:/job\n0::/\n";
    assert_int_equal(quota_processors(job, hierarchy), 4);
    assert_int_equal(quota_processors("4:cpu,cpuacct:/free\n", hierarchy), 0);
    assert_int_equal(quota_processors("5:cpuset:/job\n", hierarchy), 0);
    assert_int_equal(quota_processors("4:cpuacct,cpu:/job", hierarchy), 4); // no newline at the end
}

static void test_quota_of_nonsense(void **state)
{
    (void)state;
    use_hierarchy("nonsense");
    write_file("a/cpu.max", "soon 100000\n");
    write_file("b/cpu.max", "100000");
    write_file("c/cpu.max", "100000 0\n");
    write_file("d/cpu.max", "9000000000000000000 1\n");
    assert_int_equal(quota_processors("0::/a\n", hierarchy), 0);
    assert_int_equal(quota_processors("0::/b\n", hierarchy), 0);
    assert_int_equal(quota_processors("0::/c\n", hierarchy), 0);
    assert_int_equal(quota_processors("0::/d\n", hierarchy), 2147483647);
    assert_int_equal(quota_processors("", hierarchy), 0);
    assert_int_equal(quota_processors("\n::\n0:\n0::relative\n", hierarchy), 0);
    assert_int_equal(quota_processors("0::/a\n", "/nowhere"), 0);
}

static void test_quota_of_memory(void **state)
{
    (void)state;
    use_hierarchy("memory");
    write_file("a/memory.max", "1000000\n");
    write_file("a/memory.current", "600000\n");
    write_file("a/memory.stat", "anon 1\nfile 400000\ninactive_file 100000\n");
    write_file("a/b/memory.max", "max\n");
    write_file("a/b/memory.current", "5\n");
    write_file("a/c/memory.max", "700000\n");
    write_file("a/c/memory.high", "400000\n");
    write_file("a/c/memory.current", "100000\n");
    write_file("a/d/memory.max", "100\n");
    write_file("a/d/memory.current", "200\n");
    write_file("memory/job/memory.limit_in_bytes", "9000\n");
    write_file("memory/job/memory.usage_in_bytes", "4000\n");
    write_file("memory/job/memory.stat", "cache 1\ntotal_inactive_file 500\n");
    assert_true(quota_memory("0::/a\n", hierarchy) == 500000); // cached pages can be reclaimed
    assert_true(quota_memory("0::/a/b\n", hierarchy) == 500000);
    assert_true(quota_memory("0::/a/c\n", hierarchy) == 300000);
    assert_true(quota_memory("0::/a/d\n", hierarchy) == 0);
    assert_true(quota_memory("7:cpu,memory:/job\n", hierarchy) == 5500);
    assert_true(quota_memory("7:cpu:/job\n", hierarchy) == INFINITY);
    assert_true(quota_memory("0::/nowhere\n", hierarchy) == INFINITY);
    assert_true(quota_memory("", hierarchy) == INFINITY);
}

static void test_quota_of_this_process_caps_the_cores(void **state)
{
    (void)state;
    int quota = quota_of_this_process();
    assert_true(quota >= 0);
    struct machine machine;
    assert_int_equal(machine_detect(&machine, NULL), TAUT_OK);
    assert_true(quota == 0 || machine.cores <= quota);
}

int main(void)
{
    if (getenv("TAUT_PRINT_MACHINE"))
        return print_machine();
    const char *positions = getenv("TAUT_PRINT_PLACES");
    if (positions)
        return print_places((int)strtol(positions, NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_affinity_mask_of_one_processor),
        cmocka_unit_test(test_synthetic_two_packages),
        cmocka_unit_test(test_synthetic_bare_processors),
        cmocka_unit_test(test_positions_fill_node_after_node),
        cmocka_unit_test(test_positions_only_of_whole_machines_with_nodes),
        cmocka_unit_test(test_quota_version_2),
        cmocka_unit_test(test_quota_version_1),
        cmocka_unit_test(test_quota_of_nonsense),
        cmocka_unit_test(test_quota_of_memory),
        cmocka_unit_test(test_quota_of_this_process_caps_the_cores),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
