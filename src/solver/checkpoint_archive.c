// A checkpoint (checkpoint.h) as a stream of named arrays (base/archive.h), and a solver that
// continues from one. One function, visit_items, lists what is written, and so what is wanted of a
// stream: the arrays by STATE_ARRAYS and CHECKPOINT_ARRAYS, and the records member by member.
// Before them come the constants that setters change (SET_CONSTANTS), since a solver is made with
// them.
#include "solver/private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "ranks/ranks.h"
#include "solver/checkpoint.h"
#include "solver/checkpoint_constants.h"
#include "solver/checkpoint_parts.h"

// How a number lies in memory and in the stream.
enum item_kind {
    ITEM_F64,
    ITEM_REAL, // double here, in the stream as wide as the run computes
    ITEM_U64,
    ITEM_U32,
    ITEM_U8,
    ITEM_BOOL, // 0 or 1 in the stream
};

enum { ITEMS_MAX = 192, NO_FIELD = CHECKPOINT_FIELDS };

struct item {
    const char *name;
    enum item_kind kind;
    unsigned field;           // enum checkpoint_field, or NO_FIELD
    void *data;               // NULL: the field is gathered, or scattered
    uint64_t count, capacity; // of what there is, and may be
    uint64_t received;        // so far, from a stream
    // For an array made by array_reserve, with as many elements as a stream has; NULL: any other.
    void **array;
    size_t *reserved;
};

typedef void item_visitor(void *context, struct item item);

// A new member of a record has to be listed below.
_Static_assert(sizeof(struct energy_budget) == 8 * 45, "every member is in visit_budget");
_Static_assert(sizeof(struct implicit_statistics) == 8 * 4, "every member is in visit_records");
_Static_assert(sizeof(struct mouse_spring) == 8 * 12, "every member is in visit_records");
_Static_assert(sizeof(struct surface_cuts) == 8 * 14, "every member is in visit_items");
_Static_assert(sizeof(struct solver_relaxed) == 8 * 5, "every member is in visit_items");
_Static_assert(sizeof(taut_energy) == 8 * 6, "every member is in visit_records");

#define ITEM_UP_TO(kind, name, data, count, capacity)                                              \
    visit(context, (struct item){(name), ITEM_##kind, NO_FIELD, (data), (count), (capacity), 0,    \
                                 NULL, NULL})
#define ITEM(kind, name, data, count) ITEM_UP_TO(kind, name, data, count, count)
#define FIELD(kind, name, field, data, count)                                                      \
    visit(context,                                                                                 \
          (struct item){(name), ITEM_##kind, (field), (data), (count), (count), 0, NULL, NULL})
#define ITEM_GROWING(kind, name, data, count, reserved)                                            \
    visit(context, (struct item){(name), ITEM_##kind, NO_FIELD, (data), (count), UINT64_MAX, 0,    \
                                 (void **)&(data), (reserved)})

static void visit_budget(struct energy_budget *work, item_visitor *visit, void *context)
{
    ITEM(F64, "budget.done", work->done, WORK_TRUNCATION);
    ITEM(F64, "budget.power", work->power, WORK_POWERS);
    ITEM(F64, "budget.moved_kinetic", &work->moved_kinetic, 1);
    ITEM(F64, "budget.sampled_time", &work->sampled_time, 1);
    ITEM(U64, "budget.sampled_gas_step", &work->sampled_gas_step, 1);
    ITEM(BOOL, "budget.sampled", &work->sampled, 1);
    ITEM(BOOL, "budget.lags", &work->lags, 1);
    ITEM(U32, "budget.times", &work->times, 1);
    ITEM(BOOL, "budget.closes", &work->closes, 1);
    ITEM(BOOL, "budget.closes_next", &work->closes_next, 1);
    ITEM(F64, "budget.lifted", &work->lifted, 1);
    ITEM(U64, "budget.noted_step", &work->noted_step, 1);
    ITEM(F64, "budget.energy_before", &work->energy_before, 1);
    ITEM(F64, "budget.work_before", &work->work_before, 1);
    ITEM(F64, "budget.kinetic", &work->kinetic, 1);
    ITEM(F64, "budget.uncut_kinetic", &work->uncut_kinetic, 1);
    ITEM(F64, "budget.power_change", &work->power_change, 1);
    ITEM(U64, "budget.restarts", &work->restarts, 1);
    ITEM(F64, "budget.difference", work->difference, 2);
    ITEM(F64, "budget.exchanged", &work->exchanged, 1);
    ITEM(F64, "budget.counted", work->counted, WORK_TRUNCATION);
    ITEM(F64, "budget.difference_sums", work->difference_sums, 2);
    ITEM(U32, "budget.differences_present", &work->differences_present, 1);
}

static void visit_records(struct checkpoint *checkpoint, item_visitor *visit, void *context)
{
    struct checkpoint_dt *dt = &checkpoint->dt;
    ITEM(F64, "dt.position_ratio", &dt->position_ratio, 1);
    ITEM(F64, "dt.since_time", &dt->since_time, 1);
    ITEM(U64, "dt.since_step", &dt->since_step, 1);
    ITEM(U64, "dt.changes", &dt->changes, 1);
    ITEM(BOOL, "dt.automatic", &dt->automatic, 1);
    ITEM(F64, "dt.load", &dt->load, 1);
    ITEM(F64, "dt.load_seen", &dt->load_seen, 1);
    ITEM(U64, "dt.load_due", &dt->load_due, 1);
    ITEM(U64, "dt.load_steps", &dt->load_steps, 1);
    ITEM(F64, "dt.built", &dt->built, 1);
    ITEM(U64, "previous_state_from", &checkpoint->previous_state_from, 1);
    ITEM(BOOL, "forces_current", &checkpoint->forces_current, 1);

    struct mouse_spring *mouse_spring = &checkpoint->mouse_spring;
    ITEM(BOOL, "mouse_spring.pulls", &mouse_spring->pulls, 1);
    ITEM(BOOL, "mouse_spring.chosen", &mouse_spring->chosen, 1);
    ITEM(U32, "mouse_spring.node", &mouse_spring->node, 1);
    ITEM(F64, "mouse_spring.target", &mouse_spring->target, 3);
    ITEM(F64, "mouse_spring.stiffness", &mouse_spring->stiffness, 1);
    ITEM(F64, "mouse_spring.damping", &mouse_spring->damping, 1);
    ITEM(F64, "mouse_spring.start", &mouse_spring->start, 3);
    ITEM(F64, "mouse_spring.force", &mouse_spring->force, 3);

    struct checkpoint_divergence *divergence = &checkpoint->divergence;
    ITEM(F64, "divergence.energy_start", &divergence->energy_start, 1);
    ITEM(F64, "divergence.gravity_start", &divergence->gravity_start, 1);
    ITEM(F64, "divergence.explained_peak", &divergence->explained_peak, 1);
    ITEM(F64, "divergence.fastest_outside", &divergence->fastest_outside, 1);

    struct checkpoint_end *end = &checkpoint->end;
    ITEM(BOOL, "end.known", &end->known, 1);
    ITEM(F64, "end.kinetic", &end->energy.kinetic, 1);
    ITEM(F64, "end.elastic", &end->energy.elastic, 1);
    ITEM(F64, "end.gravity", &end->energy.gravity, 1);
    ITEM(F64, "end.gas", &end->energy.gas, 1);
    ITEM(F64, "end.contact", &end->energy.contact, 1);
    ITEM(F64, "end.total", &end->energy.total, 1);
    ITEM(F64, "end.power", &end->power, 1);
    ITEM(F64, "end.moved_kinetic", &end->moved_kinetic, 1);

    struct implicit_statistics *implicit = &checkpoint->implicit_statistics;
    ITEM(U64, "implicit.solves", &implicit->solves, 1);
    ITEM(U64, "implicit.iterations", &implicit->iterations, 1);
    ITEM(U64, "implicit.unconverged", &implicit->unconverged, 1);
    ITEM(F64, "implicit.worst_residual", &implicit->worst_residual, 1);
    ITEM(BOOL, "budget.kept", &checkpoint->has_budget, 1);
    visit_budget(&checkpoint->work, visit, context);
}

static void visit_constants(const struct saved_constants *constants, item_visitor *visit,
                            void *context)
{
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++)
        ITEM(F64, saved_constants_name(c), constants->values[c], constants->counts[c]);
    ITEM_UP_TO(REAL, CONSTANTS_PREFIX "listed_rest", constants->listed_rest,
               constants->listed_rest ? constants->listed : 0, constants->listed);
}

// ---- Everything

static void visit_contacts(struct friction_contacts *it, item_visitor *visit, void *context)
{
    ITEM_GROWING(U32, "surface_friction.nodes", it->nodes, 4 * it->count, &it->reserved[0]);
    ITEM_GROWING(U8, "surface_friction.flags", it->flags, it->count, &it->reserved[1]);
    ITEM_GROWING(F64, "surface_friction.anchors", it->anchors, 3 * it->count, &it->reserved[2]);
    ITEM_GROWING(REAL, "surface_friction.stretches", it->stretches, it->count, &it->reserved[3]);
}

// Everything but the constants and what the stream's header has, in the order of the stream.
static void visit_items(struct checkpoint *checkpoint, item_visitor *visit, void *context)
{
    ITEM(U64, "body_nodes", checkpoint->body_nodes, checkpoint->bodies);
    double *positions = checkpoint->frame.positions, *velocities = checkpoint->frame.velocities;
    if (checkpoint->fields[CHECKPOINT_x]) { // both parts of mixed precision
        FIELD(F64, "positions", CHECKPOINT_positions, positions, checkpoint->triples);
        FIELD(F64, "velocities", CHECKPOINT_velocities, velocities, checkpoint->triples);
    } else {
        FIELD(REAL, "positions", CHECKPOINT_positions, positions, checkpoint->triples);
        FIELD(REAL, "velocities", CHECKPOINT_velocities, velocities, checkpoint->triples);
    }
    visit_records(checkpoint, visit, context);
#define KIND_real    ITEM_REAL
#define KIND_double  ITEM_F64
#define KIND_uint8_t ITEM_U8
#define KIND_vec3    ITEM_F64
#define VISIT(type, array, length, condition, kept)                                                \
    if (checkpoint->array || checkpoint->fields[CHECKPOINT_##array]) {                             \
        const uint64_t numbers = sizeof(SAVED_##type) == sizeof(vec3) ? 3 : 1;                     \
        const uint64_t total = numbers * checkpoint->length;                                       \
        const bool is_field =                                                                      \
            IS_FIELD_##length || checkpoint_field_is_of_contacts(CHECKPOINT_##array);              \
        const unsigned field = is_field ? CHECKPOINT_##array : NO_FIELD;                           \
        visit(context, (struct item){#array, KIND_##type, field, checkpoint->array, total, total,  \
                                     0, NULL, NULL});                                              \
    }
    STATE_ARRAYS(VISIT)
#undef VISIT
    if (checkpoint->topology->has_contact) {
        ITEM(F64, "budget.truncation", &checkpoint->work.done[WORK_TRUNCATION], 1);
        ITEM(F64, "budget.counted_truncation", &checkpoint->work.counted[WORK_TRUNCATION], 1);
        ITEM(F64, "budget.collider_work", checkpoint->work.collider_work, 2);
        struct surface_cuts *cuts = &checkpoint->surface_cuts;
        ITEM(U64, "surface_cuts.steps", &cuts->steps, 1);
        ITEM(U64, "surface_cuts.unresolved", &cuts->unresolved, 1);
        ITEM(U64, "surface_cuts.cuts", &cuts->cuts, 1);
        ITEM(U64, "surface_cuts.last", &cuts->last, 1);
        ITEM(U64, "surface_cuts.stopped", &cuts->stopped, 1);
        ITEM(U64, "surface_cuts.last_stopped", &cuts->last_stopped, 1);
        ITEM(F64, "surface_cuts.lost", cuts->lost, 3);
        ITEM(F64, "surface_cuts.lost_lengths", &cuts->lost_lengths, 1);
        ITEM(U64, "surface_cuts.taken_first", &cuts->taken.first, 1);
        ITEM(F64, "surface_cuts.taken_energy", &cuts->taken.energy, 1);
        ITEM(F64, "surface_cuts.taken_explained", &cuts->taken.explained, 1);
        ITEM(F64, "surface_cuts.taken", &cuts->taken.taken, 1);
        struct solver_relaxed *relaxed = &checkpoint->relaxed;
        ITEM(U64, "relaxed.crossings", &relaxed->crossings, 1);
        ITEM(U64, "relaxed.rounds", &relaxed->rounds, 1);
        ITEM(U64, "relaxed.bodies", &relaxed->bodies, 1);
        ITEM(U64, "relaxed.nodes", &relaxed->nodes, 1);
        ITEM(F64, "relaxed.farthest", &relaxed->farthest, 1);
        ITEM(F64, "mesh_colliders.power", &checkpoint->mesh_power, 1);
    }
    if (checkpoint->fields[CHECKPOINT_correction])
        FIELD(REAL, "correction", CHECKPOINT_correction, checkpoint->correction,
              checkpoint->triples);
    const uint64_t weights = checkpoint->weights;
    if (weights)
        FIELD(REAL, "bound_weights", CHECKPOINT_bound_weights, checkpoint->bound_weights,
              checkpoint->nodes);
    ITEM(BOOL, "bound_cliques", &checkpoint->dt.bound_cliques, weights);
    const uint64_t count = checkpoint->target_count, capacity = checkpoint->targets;
    ITEM_UP_TO(U64, "target_nodes", checkpoint->target_nodes, count, capacity);
    ITEM_UP_TO(F64, "target_positions", checkpoint->target_positions, 3 * count, 3 * capacity);
    ITEM_UP_TO(F64, "target_velocities", checkpoint->target_velocities, 3 * count, 3 * capacity);
    ITEM_UP_TO(F64, "fragile_losses", checkpoint->fragile_losses, checkpoint->loss_count,
               checkpoint->loss_chunks);
    if (checkpoint->topology->has_contact)
        visit_contacts(&checkpoint->surface_friction, visit, context);
}

static enum archive_type type_of(enum item_kind kind, size_t real_bytes)
{
    switch (kind) {
    case ITEM_REAL:
        return real_bytes == sizeof(float) ? ARCHIVE_F32 : ARCHIVE_F64;
    case ITEM_U64:
        return ARCHIVE_U64;
    case ITEM_U32:
        return ARCHIVE_U32;
    case ITEM_U8:
    case ITEM_BOOL:
        return ARCHIVE_U8;
    case ITEM_F64:
        break;
    }
    return ARCHIVE_F64;
}

// ---- Copying

// The content that is written. The fields are copied (`fields`), or read from the solver while it
// waits.
struct solver_copy {
    struct saved_constants constants;
    struct checkpoint checkpoint; // without the fields
    struct archive_header header;
    size_t real_bytes;
    taut_solver *solver;                // that waits; NULL: the fields are copied
    const struct checkpoint_sink *sink; // where all ranks put them; NULL: this process writes them
    void *fields[CHECKPOINT_FIELDS];
    struct item items[ITEMS_MAX];
    size_t item_count;
};

static void list_written(void *context, struct item item)
{
    struct solver_copy *copy = context;
    if (item.count > 0 && copy->item_count < ITEMS_MAX)
        copy->items[copy->item_count++] = item;
}

static size_t bytes_of(const struct solver_copy *copy, const struct item *item)
{
    return archive_type_bytes(type_of(item->kind, copy->real_bytes));
}

double copy_bytes_a_node(const struct checkpoint_conditions *keeps, double real_bytes)
{
    const double doubled = keeps->low_positions ? 2 * 3 * (sizeof(double) - real_bytes) : 0;
    return 3 * checkpoint_vectors(keeps) * real_bytes + doubled;
}

// Whether the bound that dt: auto follows has weights.
static bool has_weights(const taut_solver *solver)
{
    return solver->dt_rule.automatic && solver->functions->critical_has_weights(solver->system);
}

double solver_copy_bytes(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    const struct checkpoint_conditions keeps =
        checkpoint_conditions(solver->precision, solver->integrator, &topology->environment);
    const double real_bytes = (double)solver->functions->real_bytes;
    const double a_node = copy_bytes_a_node(&keeps, real_bytes) + has_weights(solver) * real_bytes;
    return a_node * (double)topology->node_count +
           (topology->rest_lengths_set ? sizeof(double) * (double)topology->listed_count : 0) +
           checkpoint_fixed_bytes(solver);
}

static bool allocate_fields(struct solver_copy *copy)
{
    for (size_t i = 0; i < copy->item_count; i++) {
        const struct item *item = &copy->items[i];
        if (item->field == NO_FIELD)
            continue;
        copy->fields[item->field] =
            memory_allocate(NULL, (size_t)item->count, bytes_of(copy, item));
        if (!copy->fields[item->field])
            return false;
    }
    return true;
}

// All workers.
static void copy_fields(void *context, const struct worker *worker)
{
    enum { GRAIN = 4096 };
    struct solver_copy *copy = context;
    const taut_solver *solver = copy->solver;
    for (size_t i = 0; i < copy->item_count; i++) {
        const struct item *item = &copy->items[i];
        if (item->field == NO_FIELD)
            continue;
        const unsigned width = checkpoint_field_width(item->field);
        const struct range share = worker_share(worker, (size_t)(item->count / width), GRAIN);
        unsigned char *to = copy->fields[item->field];
        solver->functions->checkpoint_gather(solver->system, item->field, share.first,
                                             share.end - share.first,
                                             to + share.first * width * bytes_of(copy, item));
    }
}

// The identification of the scene that the checkpoint is of.
static struct archive_header header_of_scene(const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    struct archive_header header = {
        .precision = 1 + (uint32_t)solver->precision,
        .digest = solver->digest,
        .nodes = topology->node_count,
        .springs = topology->spring_count,
        .faces = topology->face_count,
        .bodies = topology->body_count,
    };
    strncpy(header.integrator, integrator_name(solver->integrator), sizeof header.integrator - 1);
    return header;
}

taut_status solver_copy_refer(taut_solver *solver, struct solver_copy **result, taut_error *error)
{
    *result = NULL;
    if (!solver_is_whole(solver))
        return fail(
            error, TAUT_ERROR_MEMORY,
            "memory ran out for contact, and what a step has left without it is no state of the "
            "run; restore an older checkpoint");
    struct solver_copy *copy = *result = memory_allocate(NULL, 1, sizeof *copy);
    if (copy) {
        copy->checkpoint.gathers = true;
        copy->checkpoint.weights = has_weights(solver);
        copy->checkpoint.in_parts = solver_reads_parts(solver);
    }
    if (!copy ||
        !checkpoint_make(&copy->checkpoint, solver->topology, solver->plan, solver->precision,
                         solver->integrator, solver->topology->spring_count) ||
        !checkpoint_take(solver, &copy->checkpoint) ||
        !saved_constants_take(solver->topology, &copy->constants)) {
        solver_copy_free(copy);
        *result = NULL;
        return fail_memory(error, "a checkpoint");
    }
    const struct dt_rule *rule = &solver->dt_rule;
    copy->checkpoint.dt = (struct checkpoint_dt){
        .dt = solver->dt,
        .position_ratio = solver->position_ratio,
        .since_time = rule->since_time,
        .since_step = rule->since_step,
        .changes = rule->changes,
        .automatic = rule->automatic,
        .load = rule->load,
        .load_seen = rule->load_seen,
        .load_due = rule->load_due,
        .load_steps = rule->load_steps,
        .built = isnan(rule->built) ? 0 : rule->built,
        .bound_cliques =
            copy->checkpoint.weights && solver->functions->critical_uses_cliques(solver->system),
    };
    copy->checkpoint.relaxed = solver->relaxed;
    copy->header = header_of_scene(solver);
    copy->header.step = taut_solver_step_count(solver);
    copy->header.time = taut_solver_time(solver);
    copy->header.dt = solver->dt;
    copy->real_bytes = solver->functions->real_bytes;
    copy->solver = solver;
    visit_constants(&copy->constants, list_written, copy);
    visit_items(&copy->checkpoint, list_written, copy);
    return TAUT_OK;
}

taut_status solver_copy_make(taut_solver *solver, struct solver_copy **result, taut_error *error)
{
    taut_status status = solver_copy_refer(solver, result, error);
    if (status != TAUT_OK)
        return status;
    struct solver_copy *copy = *result;
    if (!allocate_fields(copy)) {
        solver_copy_free(copy);
        *result = NULL;
        return fail_memory(error, "a checkpoint");
    }
    solver_work(solver, copy_fields, copy);
    // The solver may be gone when the copy is written.
    copy->solver = NULL;
    copy->checkpoint.topology = NULL;
    return TAUT_OK;
}

void solver_copy_free(struct solver_copy *copy)
{
    if (!copy)
        return;
    for (size_t i = 0; i < copy->item_count; i++) {
        const struct item *item = &copy->items[i];
        if (item->field != NO_FIELD)
            memory_release(NULL, copy->fields[item->field], (size_t)item->count,
                           bytes_of(copy, item));
    }
    saved_constants_free(&copy->constants);
    checkpoint_free(&copy->checkpoint);
    memory_release(NULL, copy, 1, sizeof *copy);
}

// ---- Writing
//
// On one thread: gathering, checksums and the system's copy of the bytes are together as fast as a
// fast disk, and several threads, which wait for each other, were slower wherever anything else
// ran.

struct writing {
    struct archive_writer writer;
    const struct solver_copy *copy;
    struct checkpoint_part *part; // of fields that all ranks write; NULL: this process does
    void *space;                  // for the numbers of a chunk
};

// Elements of a chunk: whole nodes.
static uint64_t chunk_most(const struct item *item, size_t bytes)
{
    const uint64_t most = ARCHIVE_CHUNK / bytes;
    const unsigned width = item->field == NO_FIELD ? 1 : checkpoint_field_width(item->field);
    return most - most % width;
}

// The numbers of a chunk as they are in the stream.
static const void *numbers_of(const struct writing *it, const struct item *item, uint64_t first,
                              uint64_t count)
{
    const struct solver_copy *copy = it->copy;
    const taut_solver *solver = copy->solver;
    const size_t bytes = bytes_of(copy, item);
    if (item->field != NO_FIELD && solver) {
        const unsigned width = checkpoint_field_width(item->field);
        solver->functions->checkpoint_gather(solver->system, item->field, first / width,
                                             count / width, it->space);
        return it->space;
    }
    if (item->field != NO_FIELD)
        return (unsigned char *)copy->fields[item->field] + first * bytes;
    _Static_assert(sizeof(bool) == 1, "a bool is written as it is");
    if (item->kind != ITEM_REAL || bytes == sizeof(double))
        return (unsigned char *)item->data + first * bytes;
    const double *numbers = (double *)item->data + first;
    float *singles = it->space;
    for (uint64_t i = 0; i < count; i++)
        singles[i] = (float)numbers[i];
    return singles;
}

static void write_together(struct writing *it, const struct item *item)
{
    const size_t bytes = bytes_of(it->copy, item);
    struct checkpoint_field_chunks field = {
        .field = item->field,
        .width = checkpoint_field_width(item->field),
        .type = type_of(item->kind, it->copy->real_bytes),
        .total = item->count,
        .most = chunk_most(item, bytes),
    };
    strncpy(field.name, item->name, sizeof field.name - 1);
    const uint64_t written = checkpoint_part_write(it->part, &field, it->writer.bytes);
    it->copy->sink->pass(it->copy->sink->context, written);
    it->writer.bytes += written;
    it->writer.chunks += (field.total + field.most - 1) / field.most;
}

static void write_item(struct writing *it, const struct item *item)
{
    if (it->part && item->field != NO_FIELD) {
        if (!it->writer.refused)
            write_together(it, item);
        return;
    }
    const uint64_t most = chunk_most(item, bytes_of(it->copy, item));
    for (uint64_t first = 0; first < item->count && !it->writer.refused; first += most) {
        const uint64_t left = item->count - first, count = left < most ? left : most;
        archive_write(&it->writer, item->name, type_of(item->kind, it->copy->real_bytes),
                      item->count, first, numbers_of(it, item, first, count), count);
    }
}

bool solver_copy_has_parts(const struct solver_copy *copy)
{
    return copy->solver && solver_reads_parts(copy->solver);
}

void solver_copy_share(struct solver_copy *copy, const struct checkpoint_sink *sink)
{
    copy->sink = sink;
}

taut_status solver_copy_write(struct solver_copy *copy, const struct archive_array *arrays,
                              size_t array_count, archive_sink *sink, void *context,
                              taut_error *error)
{
    struct writing writing = {.copy = copy, .space = memory_allocate(NULL, ARCHIVE_CHUNK, 1)};
    taut_status status = TAUT_OK;
    if (copy->sink) // together with the other ranks, whatever fails here
        status = checkpoint_part_make(copy->solver, copy->sink, &writing.part, error);
    if (status == TAUT_OK && !writing.space)
        status = fail_memory(error, "a checkpoint");
    if (status == TAUT_OK)
        status = archive_write_header(&writing.writer, &copy->header, sink, context, error);
    if (status == TAUT_OK) {
        for (size_t i = 0; i < copy->item_count; i++)
            write_item(&writing, &copy->items[i]);
        for (size_t i = 0; i < array_count; i++)
            if (arrays[i].count > 0)
                archive_write(&writing.writer, arrays[i].name, arrays[i].type, arrays[i].count, 0,
                              arrays[i].numbers, arrays[i].count);
        status = archive_write_end(&writing.writer, error);
    }
    if (writing.part)
        checkpoint_part_end(writing.part);
    memory_release(NULL, writing.space, ARCHIVE_CHUNK, 1);
    return status;
}

taut_status solver_write_checkpoint(taut_solver *solver, archive_sink *sink, void *context,
                                    taut_error *error)
{
    struct solver_copy *copy;
    taut_status status = solver_copy_refer(solver, &copy, error);
    if (status == TAUT_OK)
        status = solver_copy_write(copy, NULL, 0, sink, context, error);
    solver_copy_free(copy);
    return status;
}

// ---- Reading

struct reading {
    struct archive_reader archive;
    struct archive_chunk chunk; // the last one read
    struct solver_options options;
    const taut_solver *solver;
    struct range own; // nodes whose numbers are needed
    size_t real_bytes;
    struct saved_constants constants;
    struct item items[ITEMS_MAX];
    size_t count;
};

static void list_item(void *context, struct item item)
{
    struct reading *it = context;
    if (item.capacity > 0 && it->count < ITEMS_MAX)
        it->items[it->count++] = item;
}

static taut_status fail_content(const struct reading *it, const char *name, const char *what,
                                taut_error *error)
{
    return fail(error, TAUT_ERROR_IO,
                "'%.400s': array '%s' %s, though its checksum is right: it was not written by "
                "taut %s, or not for this scene",
                it->archive.path, name, what, TAUT_VERSION_STRING);
}

// The index of the first element that no number of a run can be: a flag that is neither 0 nor 1, or
// a number that is not finite; chunk->count if there is none.
static uint64_t find_impossible(const struct item *item, const struct archive_chunk *chunk)
{
    uint64_t i = 0;
    if (item->kind == ITEM_BOOL || item->field == CHECKPOINT_broken)
        while (i < chunk->count && ((const unsigned char *)chunk->numbers)[i] <= 1)
            i++;
    else if (chunk->type == ARCHIVE_F32)
        while (i < chunk->count && isfinite(((const float *)chunk->numbers)[i]))
            i++;
    else if (chunk->type == ARCHIVE_F64)
        while (i < chunk->count && isfinite(((const double *)chunk->numbers)[i]))
            i++;
    else
        i = chunk->count;
    return i;
}

// Puts a chunk where it belongs.
static void read_numbers(const struct reading *it, const struct item *item,
                         const struct archive_chunk *chunk)
{
    const size_t size = archive_type_bytes(chunk->type);
    if (!item->data) {
        const unsigned width = checkpoint_field_width(item->field);
        it->solver->functions->checkpoint_scatter(it->solver->system, item->field, it->own,
                                                  chunk->first / width, chunk->count / width,
                                                  chunk->numbers);
        return;
    }
    if (item->kind == ITEM_REAL && chunk->type == ARCHIVE_F32) {
        const float *numbers = chunk->numbers;
        double *to = (double *)item->data + chunk->first;
        for (uint64_t i = 0; i < chunk->count; i++)
            to[i] = (double)numbers[i];
        return;
    }
    memcpy((unsigned char *)item->data + chunk->first * size, chunk->numbers,
           (size_t)chunk->count * size);
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// The bytes of one number of an item in memory.
static size_t item_bytes(const struct item *item)
{
    return archive_type_bytes(type_of(item->kind, sizeof(double)));
}

static bool has_whole_nodes(const struct item *item, const struct archive_chunk *chunk)
{
    const unsigned width = checkpoint_field_width(item->field);
    return chunk->first % width == 0 && chunk->count % width == 0;
}

static struct item *find_item(struct reading *it, const char *name)
{
    for (size_t i = 0; i < it->count; i++)
        if (strcmp(it->items[i].name, name) == 0)
            return &it->items[i];
    return NULL;
}

// Where nodes [first, last] are in the file. The range has all nodes of bodies that are renumbered,
// as the file has them in another order.
static struct range nodes_in_file(const struct topology *topology, uint64_t first, uint64_t last)
{
    const struct topology_body *from = &topology->bodies[topology_body_of_node(topology, first)];
    const struct topology_body *to = &topology->bodies[topology_body_of_node(topology, last)];
    const bool has_grids[2] = {from->grid[0] > 0, to->grid[0] > 0};
    return (struct range){(size_t)(has_grids[0] ? first : from->first_node),
                          (size_t)(has_grids[1] ? last + 1 : to->first_node + to->node_count)};
}

// The nodes of this rank and of its blocks of contacts, which may have nodes of others.
static struct range nodes_of_contacts(const struct reading *it)
{
    const struct topology *topology = it->solver->topology;
    return nodes_in_file(topology, it->own.first - it->own.first % SUM_CHUNK,
                         min_u64(it->own.end + SUM_CHUNK, topology->node_count) - 1);
}

// Whether any of `count` numbers from `first` on, of the nodes of one collider after another, is of
// these.
static bool has_own_contacts(const struct reading *it, uint64_t first, uint64_t count)
{
    const uint64_t nodes = it->solver->topology->node_count;
    if (it->own.first >= it->own.end)
        return false;
    const struct range own = nodes_of_contacts(it);
    for (uint64_t at = first, end; at < first + count; at = end) {
        const uint64_t start = at - at % nodes;
        end = min_u64(start + nodes, first + count);
        if (at - start < own.end && end - start > own.first)
            return true;
    }
    return false;
}

// Whether a chunk has only numbers of nodes or springs of other ranks, where ranks hold only their
// parts. Rank 0 has checked the whole stream before any rank reads it. read_chunk reports chunks
// that cannot be valid.
static bool is_of_others(void *context, const struct archive_chunk *chunk)
{
    struct reading *it = context;
    const struct item *item = find_item(it, chunk->name);
    if (!item || item->field == NO_FIELD || chunk->first + chunk->count > item->capacity)
        return false;
    const unsigned width = checkpoint_field_width(item->field);
    if (checkpoint_field_is_of_contacts(item->field))
        return !has_own_contacts(it, chunk->first / width, chunk->count / width);
    if (item->data)
        return false;
    if (checkpoint_field_is_of_springs(item->field))
        return !it->solver->functions->checkpoint_wants_springs(it->solver->system, chunk->first,
                                                                chunk->count);
    if (it->own.first >= it->own.end)
        return true;
    const struct range own = nodes_in_file(it->solver->topology, it->own.first, it->own.end - 1);
    return (chunk->first + chunk->count) / width <= own.first || chunk->first / width >= own.end;
}

static taut_status read_chunk(struct reading *it, taut_error *error)
{
    const struct archive_chunk *chunk = &it->chunk;
    if (begins_with(chunk->name, ARCHIVE_OUTPUT))
        return TAUT_OK;
    struct item *const item = find_item(it, chunk->name);
    if (!item)
        return fail_content(it, chunk->name, "is not expected", error);
    if (chunk->type != type_of(item->kind, it->real_bytes))
        return fail_content(it, chunk->name, "has numbers of another type", error);
    if (chunk->total > item->capacity)
        return fail_content(it, chunk->name, "has another length", error);
    if (chunk->first != item->received) // the second array of that name
        return fail_content(it, chunk->name, "is there twice", error);
    if (item->array) {
        if (!array_reserve(item->array, item->reserved, (size_t)(chunk->first + chunk->count),
                           item_bytes(item)))
            return fail_memory(error, "a checkpoint");
        item->data = *item->array;
    } else if (!item->data && item->field == NO_FIELD) { // all others have space
        if (!saved_constants_add_listed(&it->constants))
            return fail_memory(error, "a checkpoint");
        item->data = it->constants.listed_rest;
    }
    const uint64_t impossible = chunk->numbers ? find_impossible(item, chunk) : chunk->count;
    if (impossible < chunk->count) {
        char what[96];
        snprintf(what, sizeof what, "has %s at index %" PRIu64,
                 chunk->type == ARCHIVE_U8 ? "a flag that is neither 0 nor 1"
                                           : "a number that is not finite",
                 chunk->first + impossible);
        return fail_content(it, chunk->name, what, error);
    }
    if (item->field != NO_FIELD && !has_whole_nodes(item, chunk))
        return fail_content(it, chunk->name, "is divided within a node", error);
    if (chunk->numbers)
        read_numbers(it, item, chunk);
    item->received += chunk->count;
    return TAUT_OK;
}

static bool all_positive(double a, double b)
{
    return a > 0 && isfinite(a) && b > 0 && isfinite(b);
}

// Checks the numbers that a step would use as an index or divide by.
static taut_status check_numbers(const struct reading *it, struct checkpoint *checkpoint,
                                 taut_error *error)
{
    const struct topology *topology = it->solver->topology;
    const struct archive_header *header = &it->archive.header;
    const struct checkpoint_dt *dt = &checkpoint->dt;
    if (!all_positive(dt->dt, dt->position_ratio) || !isfinite(dt->since_time) ||
        dt->since_step > header->step || !isfinite(header->time))
        return fail_content(it, "dt", "has a step or a time that cannot be", error);
    if (!(dt->built >= 0) || !(dt->load >= 0) || !(dt->load_seen >= 0) ||
        dt->automatic > it->solver->dt_rule.automatic)
        return fail_content(it, "dt", "has a rule that cannot be", error);
    if (checkpoint->mouse_spring.node >= topology->node_count)
        return fail_content(it, "mouse_spring.node", "is no node", error);
    for (uint64_t i = 0; i < checkpoint->target_count; i++)
        if (checkpoint->target_nodes[i] >= topology->node_count)
            return fail_content(it, "target_nodes", "has what is no node", error);
    for (uint64_t i = 0; checkpoint->broken && i < checkpoint->springs; i++)
        if (checkpoint->broken[i] > 1)
            return fail_content(it, "broken", "has what is neither 0 nor 1", error);
    for (uint64_t i = 0; checkpoint->weights && i < checkpoint->nodes; i++)
        if (!(checkpoint->bound_weights[i] > 0))
            return fail_content(it, "bound_weights", "has a weight that is not above 0", error);
    for (uint64_t b = 0; b < checkpoint->bodies; b++)
        if (checkpoint->body_nodes[b] != topology->bodies[b].node_count)
            return fail_content(it, "body_nodes", "has other counts", error);
    const struct friction_contacts *contacts = &checkpoint->surface_friction;
    for (uint64_t i = 0; i < contacts->count; i++)
        if (contacts->flags[i] > FRICTION_ALL)
            return fail_content(it, "surface_friction.flags", "has what is no flag", error);
    if (checkpoint->work.differences_present > 2)
        return fail_content(it, "budget.differences_present", "is above 2", error);
    return TAUT_OK;
}

// The nodes come first, and there are four of each contact.
static uint64_t wanted_of_contacts(const struct item *item, struct checkpoint *checkpoint)
{
    struct friction_contacts *contacts = &checkpoint->surface_friction;
    if ((void **)&contacts->nodes == item->array)
        contacts->count = item->received / 4;
    return contacts->count * ((void **)&contacts->nodes == item->array     ? 4
                              : (void **)&contacts->anchors == item->array ? 3
                                                                           : 1);
}

// The chunks from the present one on whose names begin with `start`, and whether arrays are whole.
static taut_status read_items(struct reading *it, const char *start, struct checkpoint *checkpoint,
                              taut_error *error)
{
    taut_status status = TAUT_OK;
    while (status == TAUT_OK && it->chunk.name[0] && begins_with(it->chunk.name, start)) {
        status = read_chunk(it, error);
        if (status == TAUT_OK)
            status = archive_next(&it->archive, &it->chunk, error);
    }
    if (status != TAUT_OK)
        return status;
    for (size_t i = 0; i < it->count; i++) {
        const struct item *item = &it->items[i];
        uint64_t wanted = item->data || item->field != NO_FIELD ? item->capacity : 0;
        if (strcmp(item->name, "target_nodes") == 0)
            wanted = checkpoint->target_count = item->received;
        else if (begins_with(item->name, "target_"))
            wanted = 3 * checkpoint->target_count;
        else if (strcmp(item->name, "fragile_losses") == 0)
            wanted = checkpoint->loss_count = item->received;
        else if (item->array)
            wanted = wanted_of_contacts(item, checkpoint);
        else if (strcmp(item->name, "bound_weights") == 0)
            wanted = (checkpoint->weights = item->received > 0) ? item->capacity : 0;
        else if (strcmp(item->name, "bound_cliques") == 0)
            wanted = checkpoint->weights;
        if (item->received != wanted)
            return fail_content(it, item->name, "is missing or has another length", error);
    }
    return TAUT_OK;
}

static taut_status read_arrays(struct reading *it, struct checkpoint *checkpoint, taut_error *error)
{
    it->count = 0;
    visit_items(checkpoint, list_item, it);
    taut_status status = read_items(it, "", checkpoint, error);
    if (status != TAUT_OK)
        return status;
    checkpoint->frame.step = it->archive.header.step;
    checkpoint->frame.time = it->archive.header.time;
    checkpoint->dt.dt = it->archive.header.dt;
    return check_numbers(it, checkpoint, error);
}

// "single" and so on, from the number in a header.
static const char *precision_text(uint32_t precision)
{
    return precision >= 1 + PRECISION_SINGLE && precision <= 1 + PRECISION_MIXED
               ? precision_name((enum precision)(precision - 1))
               : "an unknown";
}

static taut_status check_scene(const taut_solver *solver, const struct archive_reader *archive,
                               taut_error *error)
{
    const struct archive_header *header = &archive->header, own = header_of_scene(solver);
    char what[256] = "with other constants, shapes or settings";
    if (header->digest == own.digest && header->nodes == own.nodes &&
        header->springs == own.springs && header->faces == own.faces &&
        header->bodies == own.bodies && header->precision == own.precision)
        return TAUT_OK;
    if (header->nodes != own.nodes || header->springs != own.springs ||
        header->faces != own.faces || header->bodies != own.bodies)
        snprintf(what, sizeof what,
                 "of %" PRIu64 " %s and %" PRIu64 " %s in %" PRIu64 " %s, and this one has %" PRIu64
                 " and %" PRIu64 " in %" PRIu64,
                 header->nodes, text_noun(header->nodes, "node", "nodes"), header->springs,
                 text_noun(header->springs, "spring", "springs"), header->bodies,
                 text_noun(header->bodies, "body", "bodies"), own.nodes, own.springs, own.bodies);
    else if (header->precision != own.precision)
        snprintf(what, sizeof what, "in %s precision, and this one is in %s",
                 precision_text(header->precision), precision_text(own.precision));
    else if (strcmp(header->integrator, own.integrator) != 0)
        snprintf(what, sizeof what, "with the integrator %s, and this one has %s",
                 header->integrator, own.integrator);
    return fail(error, TAUT_ERROR_ARGUMENT,
                "'%.400s' is a checkpoint of another scene, %s. Restore it in the scene that it is "
                "of, or give it as `initial` of this one, which begins at its positions and "
                "velocities",
                archive->path, what);
}

static taut_status check_budget(const taut_solver *solver, const struct checkpoint *checkpoint,
                                const char *path, taut_error *error)
{
    if (checkpoint->has_budget || !solver_energy_budget(solver))
        return TAUT_OK;
    return fail(error, TAUT_ERROR_ARGUMENT,
                "'%.400s' is of a run that kept no energy budget: restore it with 'output: {work: "
                "false}'",
                path);
}

// The weights of the bound that dt: auto follows: those of the run, or found here where the
// checkpoint has none, as one written with a kernel that puts all springs in rows.
static taut_status continue_bound(taut_solver *solver, const struct checkpoint *checkpoint,
                                  taut_error *error)
{
    struct critical_step critical;
    if (!has_weights(solver))
        return TAUT_OK;
    if (!checkpoint->weights)
        return solver_critical_step(solver, &critical, error);
    solver->functions->critical_set_weights(solver->system, checkpoint->bound_weights,
                                            checkpoint->dt.bound_cliques);
    return TAUT_OK;
}

// Takes the state over, and the step as it was, which need not be the scene's (taut_solver_set_dt,
// dt: auto).
static taut_status continue_from(taut_solver *solver, struct checkpoint *checkpoint,
                                 taut_error *error)
{
    const struct checkpoint_dt *dt = &checkpoint->dt;
    solver->dt = dt->dt;
    solver->position_ratio = dt->position_ratio;
    solver->functions->set_dt_now(solver->system, dt->dt, dt->position_ratio);
    solver->dt_rule.since_time = dt->since_time;
    solver->dt_rule.since_step = dt->since_step;
    solver->dt_rule.changes = dt->changes;
    solver->dt_rule.automatic = dt->automatic;
    solver->dt_rule.load = dt->load;
    solver->dt_rule.load_seen = dt->load_seen;
    solver->dt_rule.load_due = dt->load_due;
    solver->dt_rule.load_steps = dt->load_steps;
    solver->dt_rule.built = dt->built > 0 ? dt->built : NAN;
    solver->relaxed = checkpoint->relaxed;
    checkpoint->topology = solver->topology;
    checkpoint_apply(solver, checkpoint, false);
    dt_plan_steps(solver);
    solver->steps_restored = checkpoint->frame.step;
    taut_status status = continue_bound(solver, checkpoint, error);
    if (status != TAUT_OK)
        return status;
    return checkpoint->no_memory ? fail_memory(error, "the state to continue from") : TAUT_OK;
}

// Reads the constants, which come first in the stream, before anything but the plan has been made.
static taut_status read_constants(void *context, taut_solver *solver, taut_error *error)
{
    struct reading *it = context;
    taut_status status = check_scene(solver, &it->archive, error);
    if (status != TAUT_OK)
        return status;
    it->solver = solver;
    it->real_bytes = solver->functions->real_bytes;
    if (!saved_constants_make(solver->topology, &it->constants))
        return fail_memory(error, "a checkpoint");
    visit_constants(&it->constants, list_item, it);
    status = archive_next(&it->archive, &it->chunk, error);
    if (status == TAUT_OK)
        status = read_items(it, CONSTANTS_PREFIX, NULL, error);
    if (status != TAUT_OK)
        return status;
    const char *const impossible =
        saved_constants_find_impossible(&it->constants, solver->topology);
    if (impossible)
        return fail_content(it, impossible, "has what no setter accepts", error);
    for (uint64_t i = 0; it->constants.listed_rest && i < it->constants.listed; i++)
        if (!(it->constants.listed_rest[i] >= 0))
            return fail_content(it, CONSTANTS_PREFIX "listed_rest", "has a negative length", error);
    if (!saved_constants_put(&it->constants, solver->topology, solver->plan, solver->precision))
        return fail_content(it, CONSTANTS_PREFIX "young", "has what no setter accepts", error);
    return TAUT_OK;
}

static taut_status read_state(struct reading *it, taut_solver *solver,
                              struct checkpoint *checkpoint, taut_error *error)
{
    *checkpoint = (struct checkpoint){
        .weights = solver->dt_rule.automatic, .exact = true, .in_parts = solver_has_part(solver)};
    if (!checkpoint_make(checkpoint, solver->topology, solver->plan, solver->precision,
                         solver->integrator, solver->topology->spring_count))
        return fail_memory(error, "a checkpoint");
    taut_status status = read_arrays(it, checkpoint, error);
    return status == TAUT_OK ? check_budget(solver, checkpoint, it->archive.path, error) : status;
}

void reading_free(struct reading *reading)
{
    if (!reading)
        return;
    archive_close(&reading->archive);
    saved_constants_free(&reading->constants);
    memory_release(NULL, reading, 1, sizeof *reading);
}

const struct solver_options *reading_options(const struct reading *reading)
{
    return &reading->options;
}

taut_status reading_continue(taut_solver *solver, bool ready, taut_error *error)
{
    struct checkpoint checkpoint = {.nodes = 0};
    taut_status status = TAUT_OK;
    solver->reading->own = solver_part_nodes(solver);
    solver->reading->archive.skips = is_of_others;
    solver->reading->archive.skips_context = solver->reading;
    if (ranks_all(ready)) {
        solver_begin_together(solver);
        status = read_state(solver->reading, solver, &checkpoint, error);
        ready = status == TAUT_OK;
        if (ranks_all(ready)) {
            solver->checkpoint = archive_fingerprint(&solver->reading->archive);
            status = solver_check_start(solver, error);
            if (status == TAUT_OK)
                status = continue_from(solver, &checkpoint, error);
        }
        solver_end_part(solver);
    }
    checkpoint_free(&checkpoint);
    reading_free(solver->reading);
    solver->reading = NULL;
    return status;
}

taut_status solver_create_from_checkpoint(const taut_scene *scene,
                                          const struct solver_options *options,
                                          archive_source *source, void *context, const char *path,
                                          taut_solver **solver, taut_error *error)
{
    *solver = NULL;
    struct reading *reading = memory_allocate(NULL, 1, sizeof *reading);
    if (!reading)
        return fail_memory(error, "a checkpoint");
    taut_status status = archive_open(&reading->archive, source, context, path, error);
    reading->options = *options;
    reading->options.planned = read_constants;
    reading->options.planned_context = reading;
    reading->options.continued_dt = reading->archive.header.dt;
    if (status == TAUT_OK && !all_positive(reading->options.continued_dt, 1))
        status = fail_content(reading, "dt", "has a step that cannot be", error);
    if (status == TAUT_OK)
        status = solver_create(scene, &reading->options, solver, error);
    if (status == TAUT_OK && solver_waits(*solver)) {
        (*solver)->checkpoint = archive_fingerprint(&reading->archive);
        (*solver)->reading = reading;
        return TAUT_OK;
    }
    struct checkpoint checkpoint = {.nodes = 0};
    if (status == TAUT_OK) {
        reading->own = (struct range){0, (size_t)(*solver)->topology->node_count};
        status = read_state(reading, *solver, &checkpoint, error);
    }
    if (status == TAUT_OK) {
        (*solver)->checkpoint = archive_fingerprint(&reading->archive);
        status = continue_from(*solver, &checkpoint, error);
    }
    checkpoint_free(&checkpoint);
    reading_free(reading);
    if (status != TAUT_OK) {
        taut_solver_destroy(*solver);
        *solver = NULL;
    }
    return status;
}
