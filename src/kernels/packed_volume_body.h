// The volume by itself, from the columns that go round rings (plan/packed.h): the x of what
// kernels/packed_body.h finds of its gradient beside the springs, to the bit. It asks for the y and
// z of the neighbours alone. Include after kernels/packed_body.h; the thin file that does defines
// PACKED_VOLUME_KERNEL.

struct flat {
    wide y, z;
};

WIDE_INLINE struct flat read_flat_step(const struct state *s, int64_t at)
{
    return (struct flat){wide_load(s->y + at), wide_load(s->z + at)};
}

// From the nodes to the other ends of a column.
WIDE_INLINE struct flat flat_column(const struct view *v, const struct flat *own, uint64_t number,
                                    int first_lane, int64_t at)
{
    const struct packed_column *column = &v->packed->columns[number];
    struct flat o;
    if (column->step == 0) {
        struct other ends =
            read_ends(v->records, v->packed->ends[column->group] + first_lane, false);
        o = (struct flat){ends.y, ends.z};
    } else {
        o = read_flat_step(v->state, at + column->step);
        for (int turn = 0; turn < column->turn_count; turn++) {
            const struct packed_turns *turns = &v->packed->turns[column->group];
            struct flat turned = read_flat_step(v->state, at + turns->step[turn]);
            wide_mask mask = wide_bits(&turns->lanes[turn], first_lane);
            o.y = wide_choose(mask, turned.y, o.y);
            o.z = wide_choose(mask, turned.z, o.z);
        }
    }
    return (struct flat){wide_subtract(own->y, o.y), wide_subtract(own->z, o.z)};
}

// sum + the x of (a - b) x c
WIDE_INLINE wide add_flat_product(wide sum, const struct flat *a, const struct flat *b,
                                  const struct flat *c)
{
    wide y = wide_subtract(a->y, b->y), z = wide_subtract(a->z, b->z);
    return wide_add(sum, wide_subtract(wide_multiply(y, c->z), wide_multiply(z, c->y)));
}

// go_round, flat.
WIDE_INLINE wide go_round_flat(const struct view *v, uint64_t begin, uint64_t end, int first_lane,
                               int64_t at)
{
    const wide zero = wide_set(0);
    const struct flat own = read_flat_step(v->state, at);
    wide sum = zero;
    struct flat first = {zero, zero}, before = first, odd = first;
    for (uint64_t c = begin; c < end; c += 2) {
        struct flat even = flat_column(v, &own, c, first_lane, at);
        if (c == begin)
            first = even;
        else
            sum = add_flat_product(sum, &before, &even, &odd);
        before = even;
        odd = flat_column(v, &own, c + 1, first_lane, at);
    }
    return add_flat_product(sum, &before, &first, &odd);
}

double PACKED_VOLUME_KERNEL(const struct system *system, size_t number)
{
    _Alignas(64) real records[4 * PACKED_LOCAL_MAX];
    _Alignas(64) real ax[PACKED_TILE_NODES];
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *tile = &packed->tiles[number];
    const struct state *s = system->state;
    struct view v = {.packed = packed, .state = system->state, .records = records};
    fill_records(&v, tile, false, records);
    for (uint32_t done = 0; done < tile->node_count; done += PACKED_LANES) {
        uint64_t slice = tile->first_slice + done / PACKED_LANES;
        uint64_t begin = packed->slice_columns[slice], end = begin + packed->slice_rings[slice];
        for (int lane = 0; lane < PACKED_LANES; lane += WIDE_LANES) {
            int64_t at = (int64_t)(tile->first_node + done) + lane;
            wide_store(ax + done + lane, go_round_flat(&v, begin, end, lane, at));
        }
    }
    double origin = (double)s->x[system->topology->bodies[tile->ring_body - 1].first_node];
    return moment_of(s->x + tile->first_node, ax, tile->node_count, origin);
}
