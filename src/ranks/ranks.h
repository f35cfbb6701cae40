// The group of processes (ranks) that compute one scene together: how they are started, what they
// are called, and the messages between them. The only file that knows MPI is ranks.c; a build
// without MPI (CMake option TAUT_MPI) has the same functions, for a group of one rank.
//
// MPI is one per process, so the group is too. One thread at a time calls the functions; all ranks
// call those marked "collective", in the same order, with the same counts. Failures inside MPI, and
// of a rank that has died, end all ranks with MPI's message. What is sent has the form that it has
// in memory: all ranks run the same program on the same kind of processor.
#ifndef TAUT_RANKS_RANKS_H
#define TAUT_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// "Open MPI 4.1.4", or NULL in a build without MPI.
const char *ranks_library(void);

// The number of processes that a launcher (mpirun, mpiexec, srun) has started together with this
// one, from the environment; 1 if there is no launcher. Says nothing about MPI in this build.
int ranks_launched(void);

// The number of this process among them, from the environment too: known before ranks_begin, and
// where that has failed.
int ranks_launched_number(void);

// Joins the group, if a launcher has started more than one process. TAUT_ERROR_UNSUPPORTED in a
// build without MPI. Collective.
taut_status ranks_begin(taut_error *error);

// Leaves the group; nothing if there is none. Collective.
void ranks_end(void);

// This rank, from 0 on; the number of ranks, 1 without a group; the number of machines.
int ranks_number(void);
int ranks_count(void);
int ranks_hosts(void);

// The number of ranks on this machine, and whether a rank is one of them.
int ranks_on_host(void);
bool ranks_share_host(int rank);

// From now on this process prints nothing on standard output, and what it prints on standard error
// is kept.
void ranks_silence(void);
// The end of what was kept, at most `size` - 1 characters and a NUL.
void ranks_kept_text(char *text, size_t size);

// Prints "taut: rank R: TEXT" and ends all ranks with the exit code, for failures on which the
// others do not wait.
_Noreturn void ranks_abort(int code, const char *text);

// How many bytes this rank has received of others so far, sums by their length.
uint64_t ranks_received(void);

// ---- Collective

// Copies bytes of rank 0 to all.
void ranks_broadcast(void *data, size_t bytes);

// Every rank gives one number; values[r] := that of rank r.
void ranks_share(uint64_t value, uint64_t *values);

// Sums of each element over the ranks, on all of them. Exact in any order where all ranks but one
// have 0, which is what it is used for.
void ranks_add(double *values, size_t count);

// The least of each element over the ranks, on all of them.
void ranks_least(double *values, size_t count);

// Whether any rank gives true, or all do; the same result on all of them.
bool ranks_any(bool mine);
bool ranks_all(bool mine);

// `data` has items of `size` bytes, of which rank r has [cuts[r], cuts[r + 1]). Afterwards rank 0
// has all of them, or every rank if `all`.
void ranks_collect(void *data, size_t size, const uint64_t *cuts, bool all);

// For such data: the rank with the first of each `items` consecutive ones gets the rest of them.
void ranks_complete_groups(void *data, size_t size, const uint64_t *cuts, size_t items);

// Copies bytes of rank `from` to rank `to`; nothing if they are the same.
void ranks_pass(void *data, size_t bytes, int from, int to);

// Copies a text of rank `from` to rank 0, at most `size` - 1 characters and a NUL.
void ranks_forward(int from, char *text, size_t size);

// Every rank gives a code, 0 for success. Returns the lowest rank with another code, which all
// ranks then have; the number of ranks if there is none.
int ranks_first_failed(uint64_t *code);

// The first failure of any rank, on all of them; rank 0 gets its message. `error`: that of this
// rank, not NULL.
taut_status ranks_agree(taut_status status, taut_error *error);

// Returns on rank 0 what another rank, `rank`, has kept instead of printing it (ranks_silence):
// without this prefix and without the ends of lines after it. It may lie in `text`, of `size` bytes
// on all ranks.
const char *ranks_message_of(int rank, const char *prefix, char *text, size_t size);

// ---- Messages between neighbours

// Sends lists[r] with counts[r] numbers to each rank r, and receives theirs: received[r], which the
// caller frees with free(), with received_counts[r] numbers. Returns false on all ranks if one of
// them has not enough memory. Collective.
bool ranks_swap_lists(uint64_t *const *lists, const size_t *counts, uint64_t **received,
                      size_t *received_counts);

// Persistent messages: in each round a fixed number of bytes goes to and comes from each peer.
struct ranks_messages;

// Which of these messages have no buffers, but lie where ranks_messages_place sets.
enum ranks_placed { RANKS_BUFFERED = 0, RANKS_PLACED_INCOMING = 1, RANKS_PLACED_OUTGOING = 2 };

// `sent` and `received`: bytes to and from each rank, 0 for none; the other side gives the same
// numbers. `tag`: distinguishes sets of messages that may be sent at the same time. `placed`: a
// mask of enum ranks_placed. NULL without memory. Not collective.
struct ranks_messages *ranks_messages_make(const size_t *sent, const size_t *received, int tag,
                                           unsigned placed);
void ranks_messages_free(struct ranks_messages *messages);

// The pieces of a message without a buffer, one after another: in the following rounds it is read
// from there, or written there. What is read may not change, and what is written not be read, until
// a round has ended. `placed`: one of both kinds.
struct ranks_piece {
    void *at;
    size_t bytes;
};

void ranks_messages_place(struct ranks_messages *messages, int rank, enum ranks_placed placed,
                          const struct ranks_piece *pieces, size_t count);

// The buffers of a peer, aligned for any number; NULL if nothing goes there or comes from there.
void *ranks_outgoing(const struct ranks_messages *messages, int rank);
const void *ranks_incoming(const struct ranks_messages *messages, int rank);

// Starts a round: outgoing buffers must be filled, and may not change until it has ended.
void ranks_messages_start(struct ranks_messages *messages);
// Lets messages proceed; true once all have arrived.
bool ranks_messages_test(struct ranks_messages *messages);
// Waits for the end of the round.
void ranks_messages_wait(struct ranks_messages *messages);

#endif
