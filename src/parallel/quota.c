#include "parallel/quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CAPACITY = 4096, TEXT_CAPACITY = 4096 };

// The beginning of a small file; false if it is not there.
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

// Processors for `quota` of `period` microseconds, or 0 where that says nothing.
static int processors(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long count = quota / period + (quota % period != 0);
    return count < INT_MAX ? (int)count : INT_MAX;
}

static int smaller_limit(int a, int b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

// Version 2: "max 100000" or "150000 100000".
static int limit_v2(const char *folder)
{
    char path[PATH_CAPACITY], text[TEXT_CAPACITY];
    int length = snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (length < 0 || (size_t)length >= sizeof path || !read_text(path, text, sizeof text))
        return 0;
    char *rest;
    long long quota = strtoll(text, &rest, 10);
    return rest == text ? 0 : processors(quota, strtoll(rest, NULL, 10));
}

// Version 1: two files, -1 for no limit.
static int limit_v1(const char *folder)
{
    static const char *const names[2] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    long long values[2];
    for (int i = 0; i < 2; i++) {
        char path[PATH_CAPACITY], text[TEXT_CAPACITY];
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (length < 0 || (size_t)length >= sizeof path || !read_text(path, text, sizeof text))
            return 0;
        values[i] = strtoll(text, NULL, 10);
    }
    return processors(values[0], values[1]);
}

// The tightest limit of `group` and of every group above it: each of them binds. Inside a container
// the group's own name may be that of the host, and not be there; then only its parents count.
static int tightest(const char *mount, const char *sub, const char *group,
                    int (*limit)(const char *folder))
{
    char folder[PATH_CAPACITY];
    int length = snprintf(folder, sizeof folder, "%s%s%s", mount, sub, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    size_t root = strlen(mount) + strlen(sub);
    int found = 0;
    for (;;) {
        found = smaller_limit(found, limit(folder));
        if (strlen(folder) <= root)
            return found;
        *strrchr(folder, '/') = '\0'; // there is one: a group begins with it
    }
}

static bool lists_cpu(const char *controllers)
{
    size_t length;
    for (const char *at = controllers; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        if (length == 3 && memcmp(at, "cpu", 3) == 0)
            return true;
    }
    return false;
}

// One line, HIERARCHY:CONTROLLERS:GROUP; version 2 is hierarchy 0 without controllers.
static int limit_of_line(char *line, const char *mount)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return 0;
    *controllers++ = '\0';
    *group++ = '\0';
    if (strcmp(line, "0") == 0 && *controllers == '\0')
        return smaller_limit(tightest(mount, "", group, limit_v2),
                             tightest(mount, "/unified", group, limit_v2));
    if (!lists_cpu(controllers))
        return 0;
    return smaller_limit(tightest(mount, "/cpu,cpuacct", group, limit_v1),
                         tightest(mount, "/cpu", group, limit_v1));
}

int quota_processors(const char *membership, const char *mount)
{
    int found = 0;
    char line[PATH_CAPACITY];
    for (const char *at = membership; *at;) {
        size_t length = strcspn(at, "\n");
        if (length < sizeof line) {
            memcpy(line, at, length);
            line[length] = '\0';
            found = smaller_limit(found, limit_of_line(line, mount));
        }
        at += length + (at[length] == '\n');
    }
    return found;
}

int quota_of_this_process(void)
{
    char membership[TEXT_CAPACITY];
    if (!read_text("/proc/self/cgroup", membership, sizeof membership))
        return 0;
    return quota_processors(membership, "/sys/fs/cgroup");
}
