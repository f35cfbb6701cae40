#include "springs/motion.h"

#include "base/memory.h"
#include "springs/exchange.h"

// ---- Memory

static struct node_box no_box(void)
{
    const real far = REAL_HUGE;
    return (struct node_box){{far, far, far}, {-far, -far, -far}};
}

static void forget(struct motion_boxes *motion)
{
    for (size_t i = 0; i < (size_t)motion->workers * motion->part_count; i++)
        motion->boxes[i] = no_box();
    for (int w = 0; w < motion->workers; w++)
        motion->moved[w * MOTION_APART] = 0;
}

bool REAL_NAME(motion_reserve)(struct motion_boxes *motion, int workers,
                               const taut_allocator *allocator)
{
    if (workers <= motion->workers)
        return true;
    REAL_NAME(motion_free)(motion, allocator);
    motion->boxes =
        memory_allocate(allocator, (size_t)workers * motion->part_count, sizeof *motion->boxes);
    motion->moved =
        memory_allocate(allocator, (size_t)workers * MOTION_APART, sizeof *motion->moved);
    motion->workers = workers;
    if (!motion->boxes || !motion->moved) {
        REAL_NAME(motion_free)(motion, allocator);
        return false;
    }
    forget(motion);
    return true;
}

void REAL_NAME(motion_free)(struct motion_boxes *motion, const taut_allocator *allocator)
{
    const size_t workers = (size_t)motion->workers;
    memory_release(allocator, motion->boxes, workers * motion->part_count, sizeof *motion->boxes);
    memory_release(allocator, motion->moved, workers * MOTION_APART, sizeof *motion->moved);
    motion->boxes = NULL;
    motion->moved = NULL;
    motion->workers = 0;
}

uint64_t REAL_NAME(motion_bytes)(const struct motion_boxes *motion)
{
    return (uint64_t)motion->workers *
           (motion->part_count * sizeof *motion->boxes + MOTION_APART * sizeof *motion->moved);
}

// ---- Boxes

static void include(struct node_box *box, const struct node_box *other)
{
    for (int axis = 0; axis < 3; axis++) {
        box->least[axis] =
            other->least[axis] < box->least[axis] ? other->least[axis] : box->least[axis];
        box->most[axis] = other->most[axis] > box->most[axis] ? other->most[axis] : box->most[axis];
    }
}

static void include_rows(const struct system *system, struct node_rows rows, struct node_box *box)
{
    const struct state *s = system->state;
    const real *const velocities[3] = {s->vx, s->vy, s->vz};
    struct node_box found;
    if (rows.rows == 0 || rows.count == 0)
        return;
    system->kernels->displacement_box(velocities, NULL, &rows, &found);
    include(box, &found);
}

static void include_part(const struct system *system, const struct node_rows *part,
                         struct range nodes, struct node_box *box)
{
    struct node_rows found[3];
    const int count = rows_within(part, nodes, found);
    for (int i = 0; i < count; i++)
        include_rows(system, found[i], box);
}

void REAL_NAME(motion_note)(const struct system *system, size_t first, size_t count, int worker)
{
    struct motion_boxes *motion = system->motion;
    if (!motion_is_wanted(system) || worker >= motion->workers)
        return;
    struct node_box *boxes = motion->boxes + (size_t)worker * motion->part_count;
    motion->moved[worker * MOTION_APART] += count;
    for (size_t i = 0; i < motion->part_count && motion->parts[i].nodes.first < first + count; i++)
        include_part(system, &motion->parts[i].nodes, (struct range){first, first + count},
                     &boxes[i]);
}

bool REAL_NAME(motion_take)(const struct system *system, struct node_box *boxes)
{
    struct motion_boxes *motion = system->motion;
    size_t moved = 0;
    for (size_t i = 0; i < motion->part_count; i++)
        boxes[i] = no_box();
    for (int w = 0; w < motion->workers; w++) {
        moved += motion->moved[w * MOTION_APART];
        for (size_t i = 0; i < motion->part_count; i++)
            include(&boxes[i], &motion->boxes[(size_t)w * motion->part_count + i]);
    }
    forget(motion);
    REAL_NAME(exchange_motion)(system, boxes, motion->part_count, &moved);
    return moved == (size_t)system->state->nodes;
}
