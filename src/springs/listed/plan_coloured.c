// Divides the blocks of a set of springs into groups that share no node, numbers the nodes of each
// block, and checks the result (plan_coloured.h).
#include "springs/listed/plan_coloured.h"

#include <stdlib.h>

#include "base/memory.h"

// The state of the construction, block after block.
struct grouping {
    const struct topology *topology;
    const struct plan_set *springs;
    struct plan_coloured *coloured;
    struct spring_run near;
    uint64_t stamp;       // counts groups from 1, over all blocks
    uint64_t *last_group; // of each node: the stamp of the last group that has it
    uint32_t *record;     // of each node: 1 + its number among the block's nodes; 0: none yet
};

// Whether a spring starts a new group: it shares a node with the present group, or is the first of
// its block; `before` is the stamp before the block.
static bool starts_group(const struct grouping *it, const struct spring_run *spring,
                         uint64_t before)
{
    return it->stamp == before || it->last_group[spring->a] == it->stamp ||
           it->last_group[spring->b] == it->stamp;
}

// Counts the groups and nodes of a block. Groups are as long as possible: each ends before the
// first spring that shares a node with it. Since the springs of a block are sorted by rounds
// (plan.c), groups are these rounds, and for springs without a round the longest sequences without
// a common node.
static struct coloured_block count_block(struct grouping *it, const struct plan_block *block)
{
    struct coloured_block found = {.first_group = it->coloured->group_count,
                                   .first_local = it->coloured->local_count};
    const uint64_t before = it->stamp;
    for (uint64_t i = block->first; i < block->first + block->count; i++) {
        struct spring_run spring =
            topology_spring_near(it->topology, plan_element(it->springs, i), &it->near);
        const uint32_t nodes[2] = {spring.a, spring.b};
        if (starts_group(it, &spring, before)) {
            found.group_count++;
            it->stamp++;
        }
        for (int end = 0; end < 2; end++) {
            if (it->last_group[nodes[end]] <= before)
                found.local_count++;
            it->last_group[nodes[end]] = it->stamp;
        }
    }
    return found;
}

static void count_blocks(struct grouping *it)
{
    struct plan_coloured *coloured = it->coloured;
    for (uint64_t b = 0; b < coloured->block_count; b++) {
        struct coloured_block *block = &coloured->blocks[b];
        *block = count_block(it, &it->springs->blocks[b]);
        if (block->local_count > COLOURED_LOCAL_MAX) {
            block->group_count = block->local_count = 0;
            coloured->plain_springs += it->springs->blocks[b].count;
        }
        // A block without groups gets an empty one, whose start ends the previous block's last one.
        coloured->group_count += block->group_count > 0 ? block->group_count : 1;
        coloured->local_count += block->local_count;
    }
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Numbers the nodes of a block, and stores the records of its springs' ends.
static void number_nodes(struct grouping *it, const struct plan_block *block,
                         const struct coloured_block *made)
{
    struct plan_coloured *coloured = it->coloured;
    uint32_t *locals = coloured->locals + made->first_local;
    uint32_t count = 0;
    for (uint64_t i = block->first; i < block->first + block->count; i++) {
        struct spring_run spring =
            topology_spring_near(it->topology, plan_element(it->springs, i), &it->near);
        const uint32_t nodes[2] = {spring.a, spring.b};
        for (int end = 0; end < 2; end++)
            if (it->record[nodes[end]] == 0) {
                locals[count++] = nodes[end];
                it->record[nodes[end]] = count;
            }
    }
    qsort(locals, count, sizeof *locals, compare_nodes);
    for (uint32_t i = 0; i < count; i++)
        it->record[locals[i]] = i + 1;
    for (uint64_t i = block->first; i < block->first + block->count; i++) {
        struct spring_run spring =
            topology_spring_near(it->topology, plan_element(it->springs, i), &it->near);
        coloured->ends[0][i] = (uint16_t)(COLOURED_SCALE * (it->record[spring.a] - 1));
        coloured->ends[1][i] = (uint16_t)(COLOURED_SCALE * (it->record[spring.b] - 1));
    }
    for (uint32_t i = 0; i < count; i++)
        it->record[locals[i]] = 0;
}

static void number_groups(struct grouping *it, const struct plan_block *block,
                          const struct coloured_block *made)
{
    uint64_t *start = it->coloured->group_start + made->first_group;
    const uint64_t before = it->stamp;
    for (uint64_t i = block->first; i < block->first + block->count; i++) {
        struct spring_run spring =
            topology_spring_near(it->topology, plan_element(it->springs, i), &it->near);
        if (starts_group(it, &spring, before))
            start[it->stamp++ - before] = i;
        it->last_group[spring.a] = it->last_group[spring.b] = it->stamp;
    }
}

static taut_status allocate_arrays(struct plan_coloured *coloured, const taut_allocator *allocator,
                                   taut_error *error)
{
    const size_t springs = (size_t)coloured->spring_count;
    coloured->group_start = memory_allocate(allocator, (size_t)coloured->group_count + 1,
                                            sizeof *coloured->group_start);
    coloured->locals =
        memory_allocate(allocator, (size_t)coloured->local_count, sizeof *coloured->locals);
    for (int end = 0; end < 2; end++)
        coloured->ends[end] = memory_allocate(allocator, springs, sizeof *coloured->ends[end]);
    return coloured->group_start && coloured->locals && coloured->ends[0] && coloured->ends[1]
               ? TAUT_OK
               : fail_memory(error, "the plan of coloured springs");
}

static void fill(struct grouping *it)
{
    struct plan_coloured *coloured = it->coloured;
    for (uint64_t b = 0; b < coloured->block_count; b++) {
        const struct plan_block *block = &it->springs->blocks[b];
        const struct coloured_block *made = &coloured->blocks[b];
        coloured->group_start[made->first_group] = block->first;
        if (made->group_count == 0)
            continue;
        number_nodes(it, block, made);
        number_groups(it, block, made);
    }
    coloured->group_start[coloured->group_count] = coloured->spring_count;
}

taut_status plan_coloured_make(const struct topology *topology, const struct plan_set *springs,
                               const taut_allocator *allocator, struct plan_coloured *coloured,
                               taut_error *error)
{
    const size_t nodes = (size_t)topology->node_count;
    coloured->block_count = springs->block_count;
    coloured->spring_count = springs->element_count;
    coloured->blocks =
        memory_allocate(allocator, (size_t)coloured->block_count, sizeof *coloured->blocks);
    struct grouping it = {.topology = topology,
                          .springs = springs,
                          .coloured = coloured,
                          .last_group = memory_allocate(NULL, nodes, sizeof *it.last_group),
                          .record = memory_allocate(NULL, nodes, sizeof *it.record)};
    taut_status status = TAUT_OK;
    if (!coloured->blocks || !it.last_group || !it.record) {
        status = fail_memory(error, "the plan of coloured springs");
    } else {
        count_blocks(&it);
        status = allocate_arrays(coloured, allocator, error);
    }
    if (status == TAUT_OK) {
        fill(&it);
        plan_coloured_find_damped(topology, springs, coloured);
    }
    memory_release(NULL, it.last_group, nodes, sizeof *it.last_group);
    memory_release(NULL, it.record, nodes, sizeof *it.record);
    return status;
}

void plan_coloured_find_damped(const struct topology *topology, const struct plan_set *springs,
                               struct plan_coloured *coloured)
{
    struct spring_run near = {0};
    for (uint64_t b = 0; b < coloured->block_count; b++) {
        const struct plan_block *block = &springs->blocks[b];
        bool damped = false;
        for (uint64_t i = block->first; i < block->first + block->count && !damped; i++) {
            struct spring_run spring =
                topology_spring_near(topology, plan_element(springs, i), &near);
            damped = topology->materials[spring.material].damping > 0;
        }
        coloured->blocks[b].damped = damped;
    }
}

void plan_coloured_free(const taut_allocator *allocator, struct plan_coloured *coloured)
{
    const size_t springs = (size_t)coloured->spring_count;
    memory_release(allocator, coloured->blocks, (size_t)coloured->block_count,
                   sizeof *coloured->blocks);
    memory_release(allocator, coloured->group_start, (size_t)coloured->group_count + 1,
                   sizeof *coloured->group_start);
    memory_release(allocator, coloured->locals, (size_t)coloured->local_count,
                   sizeof *coloured->locals);
    for (int end = 0; end < 2; end++)
        memory_release(allocator, coloured->ends[end], springs, sizeof *coloured->ends[end]);
}

uint64_t plan_coloured_bytes(const struct plan_coloured *coloured)
{
    if (coloured->block_count == 0)
        return 0;
    return coloured->block_count * sizeof *coloured->blocks +
           (coloured->group_count + 1) * sizeof *coloured->group_start +
           coloured->local_count * sizeof *coloured->locals +
           2 * coloured->spring_count * sizeof *coloured->ends[0];
}

// ---- The checker

// The nodes of a block ascend, and every end of its springs is the record of the right node.
static taut_status check_ends(const struct topology *topology, const struct plan_set *springs,
                              const struct plan_coloured *coloured, uint64_t b, taut_error *error)
{
    const struct coloured_block *block = &coloured->blocks[b];
    const uint32_t *locals = coloured->locals + block->first_local;
    struct spring_run near = {0};
    for (uint32_t i = 0; i < block->local_count; i++)
        if (locals[i] >= topology->node_count || (i > 0 && locals[i] <= locals[i - 1]))
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: nodes of coloured block %llu out of order", (unsigned long long)b);
    const struct plan_block *of = &springs->blocks[b];
    for (uint64_t i = of->first; i < of->first + of->count; i++) {
        struct spring_run spring = topology_spring_near(topology, plan_element(springs, i), &near);
        const uint32_t nodes[2] = {spring.a, spring.b};
        for (int end = 0; end < 2; end++) {
            uint32_t at = coloured->ends[end][i];
            if (at % COLOURED_SCALE != 0 || at / COLOURED_SCALE >= block->local_count ||
                locals[at / COLOURED_SCALE] != nodes[end])
                return fail(error, TAUT_ERROR_ARGUMENT,
                            "plan: an end of coloured spring %llu is not node %lu",
                            (unsigned long long)i, (unsigned long)nodes[end]);
        }
        if (topology->materials[spring.material].damping > 0 && !block->damped)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: coloured block %llu is marked as undamped", (unsigned long long)b);
    }
    return TAUT_OK;
}

// Groups are consecutive from the first spring of the block to its last, and share no node; `owner`
// is 1 + the last group of each node.
static taut_status check_groups(const struct topology *topology, const struct plan_set *springs,
                                const struct plan_coloured *coloured, uint64_t b, uint64_t *owner,
                                taut_error *error)
{
    const struct coloured_block *block = &coloured->blocks[b];
    const struct plan_block *of = &springs->blocks[b];
    struct spring_run near = {0};
    uint64_t covered = of->first;
    for (uint64_t g = block->first_group; g < block->first_group + block->group_count; g++) {
        uint64_t end = coloured->group_start[g + 1];
        if (coloured->group_start[g] != covered || end <= covered || end > of->first + of->count)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "plan: groups of coloured block %llu do not cover it",
                        (unsigned long long)b);
        for (; covered < end; covered++) {
            struct spring_run spring =
                topology_spring_near(topology, plan_element(springs, covered), &near);
            if (owner[spring.a] == g + 1 || owner[spring.b] == g + 1)
                return fail(error, TAUT_ERROR_ARGUMENT,
                            "plan: coloured spring %llu shares a node with its group",
                            (unsigned long long)covered);
            owner[spring.a] = owner[spring.b] = g + 1;
        }
    }
    if (covered != of->first + of->count)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "plan: groups of coloured block %llu do not cover it", (unsigned long long)b);
    return TAUT_OK;
}

taut_status plan_coloured_check(const struct topology *topology, const struct plan_set *springs,
                                const struct plan_coloured *coloured, taut_error *error)
{
    if (coloured->block_count == 0)
        return TAUT_OK;
    if (coloured->block_count != springs->block_count ||
        coloured->spring_count != springs->element_count)
        return fail(error, TAUT_ERROR_ARGUMENT, "plan: coloured blocks are missing");
    const size_t nodes = (size_t)topology->node_count;
    uint64_t *owner = memory_allocate(NULL, nodes, sizeof *owner);
    if (!owner)
        return fail_memory(error, "checking the plan");
    taut_status status = TAUT_OK;
    for (uint64_t b = 0; b < coloured->block_count && status == TAUT_OK; b++) {
        if (coloured->blocks[b].local_count == 0)
            continue; // computed by the plain loop; springs/plan.c checks the blocks
        status = check_ends(topology, springs, coloured, b, error);
        if (status == TAUT_OK)
            status = check_groups(topology, springs, coloured, b, owner, error);
    }
    memory_release(NULL, owner, nodes, sizeof *owner);
    return status;
}
