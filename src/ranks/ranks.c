// The group of ranks (ranks.h) by MPI, or of one rank without it.
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"

// The variables that launchers set for each process: Open MPI; MPICH, Intel MPI and others of its
// family; Slurm, whose variable for the whole job is also set where one process was started.
static const char *const launcher_counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                              "SLURM_STEP_NUM_TASKS"};

int ranks_launched(void)
{
    for (size_t i = 0; i < sizeof launcher_counts / sizeof launcher_counts[0]; i++) {
        const char *text = getenv(launcher_counts[i]);
        char *end;
        const long count = text ? strtol(text, &end, 10) : 0;
        if (count > 1 && count < 1000000 && *end == '\0')
            return (int)count;
    }
    return 1;
}

int ranks_launched_number(void)
{
    static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *number = getenv(numbers[i]);
        if (getenv(launcher_counts[i]) && number)
            return (int)strtol(number, NULL, 10);
    }
    return 0;
}

// ---- What other ranks than 0 print

static FILE *kept;             // what goes to standard error
static int spoken_stream = -1; // a copy of standard error as it was

void ranks_silence(void)
{
    fflush(stdout);
    fflush(stderr);
    FILE *const nothing = fopen("/dev/null", "w");
    if (nothing) {
        (void)dup2(fileno(nothing), STDOUT_FILENO);
        fclose(nothing);
    }
    kept = tmpfile();
    spoken_stream = kept ? dup(STDERR_FILENO) : -1;
    if (spoken_stream != -1)
        (void)dup2(fileno(kept), STDERR_FILENO);
}

void ranks_kept_text(char *text, size_t size)
{
    text[0] = '\0';
    fflush(stderr);
    if (spoken_stream == -1)
        return;
    const off_t end = lseek(fileno(kept), 0, SEEK_END);
    const off_t most = (off_t)size - 1, first = end > most ? end - most : 0;
    const ssize_t length = pread(fileno(kept), text, (size_t)(end - first), first);
    text[length > 0 ? length : 0] = '\0';
}

#ifdef TAUT_HAS_MPI

// Standard error as it was before ranks_silence.
static void speak_again(void)
{
    fflush(stderr);
    if (spoken_stream != -1)
        (void)dup2(spoken_stream, STDERR_FILENO);
}

#    include <mpi.h>

enum { BLOCK_BYTES = 1 << 26 }; // of one message of a large transfer

static struct {
    bool begun;
    int number, count, hosts, on_host;
    uint64_t *host; // of each rank: the lowest rank on its machine
} group = {.count = 1, .hosts = 1, .on_host = 1};

// The library's text is a paragraph: its first words, up to a comma or the end of the line.
const char *ranks_library(void)
{
    static char name[64];
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (name[0])
        return name;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return "MPI";
    text[strcspn(text, ",\n")] = '\0';
    // "Open MPI v4.1.4", and "MPICH Version:      4.0.2"
    char *const version = strstr(text, " v");
    if (version)
        memmove(version + 1, version + 2, strlen(version + 2) + 1);
    snprintf(name, sizeof name, "%.60s", text);
    return name;
}

int ranks_number(void)
{
    return group.number;
}

int ranks_count(void)
{
    return group.count;
}

int ranks_hosts(void)
{
    return group.hosts;
}

int ranks_on_host(void)
{
    return group.on_host;
}

bool ranks_share_host(int rank)
{
    return rank == group.number || (group.host && group.host[rank] == group.host[group.number]);
}

static void find_hosts(void)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    uint64_t lowest = (uint64_t)group.number;
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_UINT64_T, MPI_MIN, host);
    MPI_Comm_size(host, &group.on_host);
    MPI_Comm_free(&host);
    group.host = calloc((size_t)group.count, sizeof *group.host);
    if (!group.host)
        ranks_abort(1, "out of memory for the machines of ranks");
    ranks_share(lowest, group.host);
    group.hosts = 0;
    for (int r = 0; r < group.count; r++)
        group.hosts += group.host[r] == (uint64_t)r;
}

taut_status ranks_begin(taut_error *error)
{
    if (ranks_launched() == 1)
        return TAUT_OK;
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "MPI cannot be initialised");
    group.begun = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &group.number);
    MPI_Comm_size(MPI_COMM_WORLD, &group.count);
    find_hosts();
    if (group.count != ranks_launched())
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "the launcher has started %d processes, but this program's MPI (%s) sees %d of "
                    "them: start it with the mpirun of that MPI",
                    ranks_launched(), ranks_library(), group.count);
    if (provided < MPI_THREAD_SERIALIZED)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "this MPI (%s) does not allow calls from several threads, one at a time",
                    ranks_library());
    return TAUT_OK;
}

void ranks_end(void)
{
    if (!group.begun)
        return;
    MPI_Finalize();
    free(group.host);
    group.host = NULL;
    group.begun = false;
}

void ranks_abort(int code, const char *text)
{
    speak_again();
    fprintf(stderr, "taut: rank %d: %s\n", group.number, text);
    fflush(stderr);
    if (group.begun)
        MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

// The bytes that this rank has received.
static uint64_t received_bytes;

uint64_t ranks_received(void)
{
    return received_bytes;
}

static size_t block_of(size_t left)
{
    return left < BLOCK_BYTES ? left : BLOCK_BYTES;
}

static void broadcast(char *data, size_t bytes, int root)
{
    received_bytes += group.number == root ? 0 : bytes;
    for (size_t at = 0; at < bytes; at += BLOCK_BYTES)
        MPI_Bcast(data + at, (int)block_of(bytes - at), MPI_BYTE, root, MPI_COMM_WORLD);
}

void ranks_broadcast(void *data, size_t bytes)
{
    if (group.count > 1)
        broadcast(data, bytes, 0);
}

void ranks_share(uint64_t value, uint64_t *values)
{
    values[0] = value;
    if (group.count == 1)
        return;
    received_bytes += (uint64_t)(group.count - 1) * sizeof value;
    MPI_Allgather(&value, 1, MPI_UINT64_T, values, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

// Reduces each element over the ranks, on all of them.
static void reduce(double *values, size_t count, MPI_Op operation)
{
    enum { AT_ONCE = BLOCK_BYTES / sizeof(double) };
    received_bytes += group.count > 1 ? count * sizeof *values : 0;
    for (size_t at = 0; group.count > 1 && at < count; at += AT_ONCE) {
        const size_t left = count - at;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)(left < AT_ONCE ? left : AT_ONCE), MPI_DOUBLE,
                      operation, MPI_COMM_WORLD);
    }
}

void ranks_add(double *values, size_t count)
{
    reduce(values, count, MPI_SUM);
}

void ranks_least(double *values, size_t count)
{
    reduce(values, count, MPI_MIN);
}

enum { TAG_COLLECT = 1000, TAG_FORWARD, TAG_LISTS, TAG_PASS, TAG_GROUPS };

// The same for all ranks at once, where counts and addresses of bytes are numbers that MPI can
// take.
static bool collect_at_once(void *data, size_t size, const uint64_t *cuts)
{
    if (cuts[group.count] > (uint64_t)INT32_MAX / size)
        return false;
    int *counts = calloc((size_t)group.count * 2, sizeof *counts);
    if (!counts)
        ranks_abort(1, "out of memory for a message to all ranks");
    for (int r = 0; r < group.count; r++) {
        counts[r] = (int)((cuts[r + 1] - cuts[r]) * size);
        counts[group.count + r] = (int)(cuts[r] * size);
    }
    received_bytes += (cuts[group.count] - (cuts[group.number + 1] - cuts[group.number])) * size;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, counts + group.count, MPI_BYTE,
                   MPI_COMM_WORLD);
    free(counts);
    return true;
}

void ranks_collect(void *data, size_t size, const uint64_t *cuts, bool all)
{
    if (all && collect_at_once(data, size, cuts))
        return;
    for (int r = all ? 0 : 1; r < group.count; r++) {
        char *const part = (char *)data + (size_t)cuts[r] * size;
        const size_t bytes = (size_t)(cuts[r + 1] - cuts[r]) * size;
        if (all) {
            broadcast(part, bytes, r);
            continue;
        }
        received_bytes += group.number == 0 ? bytes : 0;
        for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
            const int block = (int)block_of(bytes - at);
            if (group.number == r)
                MPI_Send(part + at, block, MPI_BYTE, 0, TAG_COLLECT, MPI_COMM_WORLD);
            else if (group.number == 0)
                MPI_Recv(part + at, block, MPI_BYTE, r, TAG_COLLECT, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
    }
}

static int rank_of_item(const uint64_t *cuts, uint64_t item)
{
    int first = 0, end = group.count;
    while (end - first > 1) {
        const int middle = first + (end - first) / 2;
        if (cuts[middle] <= item)
            first = middle;
        else
            end = middle;
    }
    return first;
}

// A rank sends at most one message, of the items before its first whole group, and receives those
// that complete its last one.
void ranks_complete_groups(void *data, size_t size, const uint64_t *cuts, size_t items)
{
    const uint64_t first = cuts[group.number], end = cuts[group.number + 1];
    if (first == end)
        return;
    char *const bytes = data;
    const uint64_t last = (end - 1) / items * items; // where its last group begins
    const uint64_t last_end = min_u64(last + items, cuts[group.count]);
    MPI_Request *const requests = calloc((size_t)group.count, sizeof *requests);
    if (!requests || items > INT32_MAX / size)
        ranks_abort(1, "out of memory for sums in groups");
    int under_way = 0;
    for (int r = group.number + 1; last >= first && r < group.count && cuts[r] < last_end; r++)
        if (cuts[r] < cuts[r + 1]) {
            const uint64_t coming = (min_u64(cuts[r + 1], last_end) - cuts[r]) * size;
            received_bytes += coming;
            MPI_Irecv(bytes + cuts[r] * size, (int)coming, MPI_BYTE, r, TAG_GROUPS, MPI_COMM_WORLD,
                      &requests[under_way++]);
        }
    if (first % items > 0) {
        const uint64_t begin = first / items * items, sent_end = min_u64(end, begin + items);
        MPI_Send(bytes + first * size, (int)((sent_end - first) * size), MPI_BYTE,
                 rank_of_item(cuts, begin), TAG_GROUPS, MPI_COMM_WORLD);
    }
    MPI_Waitall(under_way, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

void ranks_pass(void *data, size_t bytes, int from, int to)
{
    if (from == to)
        return;
    received_bytes += group.number == to ? bytes : 0;
    for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
        const int block = (int)block_of(bytes - at);
        if (group.number == from)
            MPI_Send((char *)data + at, block, MPI_BYTE, to, TAG_PASS, MPI_COMM_WORLD);
        else if (group.number == to)
            MPI_Recv((char *)data + at, block, MPI_BYTE, from, TAG_PASS, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

void ranks_forward(int from, char *text, size_t size)
{
    if (from == 0 || group.count == 1)
        return;
    if (group.number == from)
        MPI_Send(text, (int)strlen(text) + 1, MPI_CHAR, 0, TAG_FORWARD, MPI_COMM_WORLD);
    else if (group.number == 0)
        MPI_Recv(text, (int)size, MPI_CHAR, from, TAG_FORWARD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

bool ranks_swap_lists(uint64_t *const *lists, const size_t *counts, uint64_t **received,
                      size_t *received_counts)
{
    for (int r = 0; r < group.count; r++)
        received[r] = NULL;
    uint64_t *const wanted = calloc((size_t)group.count * 2, sizeof *wanted);
    MPI_Request *const requests = calloc((size_t)group.count * 2, sizeof *requests);
    uint64_t *const coming = wanted + group.count;
    bool sound = ranks_all(wanted && requests);
    if (sound) {
        for (int r = 0; r < group.count; r++)
            wanted[r] = counts[r];
        MPI_Alltoall(wanted, 1, MPI_UINT64_T, coming, 1, MPI_UINT64_T, MPI_COMM_WORLD);
        for (int r = 0; r < group.count; r++) {
            received_counts[r] = (size_t)coming[r];
            received[r] = malloc((received_counts[r] + 1) * sizeof **received);
            sound = sound && received[r] && coming[r] <= INT32_MAX && counts[r] <= INT32_MAX;
        }
        sound = ranks_all(sound);
    }
    if (sound) {
        int under_way = 0;
        for (int r = 0; r < group.count; r++) {
            received_bytes += r == group.number ? 0 : received_counts[r] * sizeof **received;
            if (received_counts[r] > 0)
                MPI_Irecv(received[r], (int)received_counts[r], MPI_UINT64_T, r, TAG_LISTS,
                          MPI_COMM_WORLD, &requests[under_way++]);
            if (counts[r] > 0)
                MPI_Isend(lists[r], (int)counts[r], MPI_UINT64_T, r, TAG_LISTS, MPI_COMM_WORLD,
                          &requests[under_way++]);
        }
        MPI_Waitall(under_way, requests, MPI_STATUSES_IGNORE);
    }
    free(wanted);
    free(requests);
    return sound;
}

// A message to or from one rank.
struct message {
    size_t bytes;
    char *buffer; // NULL: it is placed
    struct ranks_piece *pieces;
    size_t piece_count;
    int request; // its number, -1: not made yet
};

struct ranks_messages {
    struct message *incoming, *outgoing; // of each rank
    MPI_Request *requests;
    int request_count, tag;
    uint64_t incoming_bytes; // in each round
};

static char *make_buffer(size_t bytes)
{
    enum { ALIGNMENT = 64 };
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

// Makes the request of a message, again if there is one: `count` elements of a type at an address.
static void make_request(struct ranks_messages *messages, struct message *message, int rank,
                         void *at, int count, MPI_Datatype type)
{
    if (message->request >= 0)
        MPI_Request_free(&messages->requests[message->request]);
    else
        message->request = messages->request_count++;
    MPI_Request *const request = &messages->requests[message->request];
    if (message == &messages->incoming[rank])
        MPI_Recv_init(at, count, type, rank, messages->tag, MPI_COMM_WORLD, request);
    else
        MPI_Send_init(at, count, type, rank, messages->tag, MPI_COMM_WORLD, request);
}

static bool make_message(struct ranks_messages *messages, struct message *message, int rank,
                         size_t bytes, bool placed)
{
    *message = (struct message){.bytes = bytes, .request = -1};
    if (bytes > INT32_MAX)
        return false;
    if (bytes == 0 || placed)
        return true;
    message->buffer = make_buffer(bytes);
    if (message->buffer)
        make_request(messages, message, rank, message->buffer, (int)bytes, MPI_BYTE);
    return message->buffer;
}

struct ranks_messages *ranks_messages_make(const size_t *sent, const size_t *received, int tag,
                                           unsigned placed)
{
    const size_t count = (size_t)group.count;
    struct ranks_messages *messages = calloc(1, sizeof *messages);
    if (!messages)
        return NULL;
    messages->tag = tag;
    messages->outgoing = calloc(count, sizeof *messages->outgoing);
    messages->incoming = calloc(count, sizeof *messages->incoming);
    messages->requests = calloc(2 * count, sizeof *messages->requests);
    bool made = messages->outgoing && messages->incoming && messages->requests;
    for (int r = 0; made && r < group.count; r++)
        made = make_message(messages, &messages->incoming[r], r, received[r],
                            placed & RANKS_PLACED_INCOMING) &&
               make_message(messages, &messages->outgoing[r], r, sent[r],
                            placed & RANKS_PLACED_OUTGOING);
    for (int r = 0; made && r < group.count; r++)
        messages->incoming_bytes += r == group.number ? 0 : received[r];
    if (made)
        return messages;
    ranks_messages_free(messages);
    return NULL;
}

void ranks_messages_place(struct ranks_messages *messages, int rank, enum ranks_placed placed,
                          const struct ranks_piece *pieces, size_t count)
{
    struct message *message =
        placed == RANKS_PLACED_INCOMING ? &messages->incoming[rank] : &messages->outgoing[rank];
    if (message->bytes == 0 || (message->piece_count == count &&
                                memcmp(message->pieces, pieces, count * sizeof *pieces) == 0))
        return;
    free(message->pieces);
    message->pieces = malloc(count * sizeof *pieces);
    message->piece_count = count;
    int *const lengths = calloc(count, sizeof *lengths);
    MPI_Aint *const addresses = calloc(count, sizeof *addresses);
    if (!message->pieces || !lengths || !addresses)
        ranks_abort(1, "out of memory for the addresses of a message");
    memcpy(message->pieces, pieces, count * sizeof *pieces);
    for (size_t i = 0; i < count; i++) {
        lengths[i] = (int)pieces[i].bytes;
        MPI_Get_address(pieces[i].at, &addresses[i]);
    }
    MPI_Datatype type;
    MPI_Type_create_hindexed((int)count, lengths, addresses, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    make_request(messages, message, rank, MPI_BOTTOM, 1, type);
    MPI_Type_free(&type); // the request keeps it
    free(lengths);
    free(addresses);
}

static void free_messages(struct message *list)
{
    for (int r = 0; list && r < group.count; r++) {
        free(list[r].buffer);
        free(list[r].pieces);
    }
    free(list);
}

void ranks_messages_free(struct ranks_messages *messages)
{
    if (!messages)
        return;
    for (int i = 0; i < messages->request_count; i++)
        MPI_Request_free(&messages->requests[i]);
    free_messages(messages->outgoing);
    free_messages(messages->incoming);
    free(messages->requests);
    free(messages);
}

void *ranks_outgoing(const struct ranks_messages *messages, int rank)
{
    return messages->outgoing[rank].buffer;
}

const void *ranks_incoming(const struct ranks_messages *messages, int rank)
{
    return messages->incoming[rank].buffer;
}

void ranks_messages_start(struct ranks_messages *messages)
{
    received_bytes += messages->incoming_bytes;
    if (messages->request_count > 0)
        MPI_Startall(messages->request_count, messages->requests);
}

bool ranks_messages_test(struct ranks_messages *messages)
{
    int done = 1;
    if (messages->request_count > 0)
        MPI_Testall(messages->request_count, messages->requests, &done, MPI_STATUSES_IGNORE);
    return done;
}

void ranks_messages_wait(struct ranks_messages *messages)
{
    if (messages->request_count > 0)
        MPI_Waitall(messages->request_count, messages->requests, MPI_STATUSES_IGNORE);
}

#else // without MPI: one rank, which sends nothing

const char *ranks_library(void)
{
    return NULL;
}

taut_status ranks_begin(taut_error *error)
{
    if (ranks_launched() == 1)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "a launcher has started %d processes, but this build has no MPI, and each would "
                "compute the whole scene: configure it with -DTAUT_MPI=ON, or start one process",
                ranks_launched());
}

void ranks_end(void)
{
}

int ranks_number(void)
{
    return 0;
}

int ranks_count(void)
{
    return 1;
}

int ranks_hosts(void)
{
    return 1;
}

int ranks_on_host(void)
{
    return 1;
}

bool ranks_share_host(int rank)
{
    (void)rank;
    return true;
}

void ranks_abort(int code, const char *text)
{
    fprintf(stderr, "taut: %s\n", text);
    exit(code);
}

uint64_t ranks_received(void)
{
    return 0;
}

void ranks_broadcast(void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
}

void ranks_share(uint64_t value, uint64_t *values)
{
    values[0] = value;
}

void ranks_add(double *values, size_t count)
{
    (void)values;
    (void)count;
}

void ranks_least(double *values, size_t count)
{
    (void)values;
    (void)count;
}

void ranks_collect(void *data, size_t size, const uint64_t *cuts, bool all)
{
    (void)data;
    (void)size;
    (void)cuts;
    (void)all;
}

void ranks_complete_groups(void *data, size_t size, const uint64_t *cuts, size_t items)
{
    (void)data;
    (void)size;
    (void)cuts;
    (void)items;
}

void ranks_pass(void *data, size_t bytes, int from, int to)
{
    (void)data;
    (void)bytes;
    (void)from;
    (void)to;
}

void ranks_forward(int from, char *text, size_t size)
{
    (void)from;
    (void)text;
    (void)size;
}

bool ranks_swap_lists(uint64_t *const *lists, const size_t *counts, uint64_t **received,
                      size_t *received_counts)
{
    received_counts[0] = counts[0];
    received[0] = malloc((counts[0] + 1) * sizeof **received);
    if (received[0] && counts[0] > 0)
        memcpy(received[0], lists[0], counts[0] * sizeof **received);
    return received[0];
}

struct ranks_messages {
    char nothing;
};

struct ranks_messages *ranks_messages_make(const size_t *sent, const size_t *received, int tag,
                                           unsigned placed)
{
    (void)sent;
    (void)received;
    (void)tag;
    (void)placed;
    return calloc(1, sizeof(struct ranks_messages));
}

void ranks_messages_free(struct ranks_messages *messages)
{
    free(messages);
}

void ranks_messages_place(struct ranks_messages *messages, int rank, enum ranks_placed placed,
                          const struct ranks_piece *pieces, size_t count)
{
    (void)messages;
    (void)rank;
    (void)placed;
    (void)pieces;
    (void)count;
}

void *ranks_outgoing(const struct ranks_messages *messages, int rank)
{
    (void)messages;
    (void)rank;
    return NULL;
}

const void *ranks_incoming(const struct ranks_messages *messages, int rank)
{
    (void)messages;
    (void)rank;
    return NULL;
}

void ranks_messages_start(struct ranks_messages *messages)
{
    (void)messages;
}

bool ranks_messages_test(struct ranks_messages *messages)
{
    (void)messages;
    return true;
}

void ranks_messages_wait(struct ranks_messages *messages)
{
    (void)messages;
}

#endif

// ---- With and without MPI

bool ranks_any(bool mine)
{
    double found = mine ? 1 : 0;
    ranks_add(&found, 1);
    return found > 0;
}

bool ranks_all(bool mine)
{
    return !ranks_any(!mine) && mine; // "mine" for tools that do not know MPI
}

// ---- Failures

int ranks_first_failed(uint64_t *code)
{
    const int count = ranks_count();
    if (count == 1)
        return *code == 0;
    uint64_t *const codes = calloc((size_t)count, sizeof *codes);
    if (!codes)
        ranks_abort(1, "out of memory for the results of all ranks");
    ranks_share(*code, codes);
    int first = 0;
    while (first < count && codes[first] == 0)
        first++;
    *code = first < count ? codes[first] : 0;
    free(codes);
    return first;
}

taut_status ranks_agree(taut_status status, taut_error *error)
{
    uint64_t code = (uint64_t)status;
    const int first = ranks_first_failed(&code);
    status = (taut_status)code;
    if (status == TAUT_OK)
        return TAUT_OK;
    ranks_forward(first, error->text, sizeof error->text);
    error->code = status;
    return status;
}

const char *ranks_message_of(int rank, const char *prefix, char *text, size_t size)
{
    text[0] = '\0';
    if (ranks_number() == rank)
        ranks_kept_text(text, size);
    ranks_forward(rank, text, size);
    const size_t skipped = strncmp(text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    return length > skipped ? text + skipped : "it failed";
}
