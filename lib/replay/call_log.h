/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes this process's calls to a file as they happen (COLL_RECORD), for coll-info replay. The
 * file is text, so that it has the same meaning everywhere:
 *
 *     coll-record 1
 *     rank 3 of 8 job 5d1f host n3
 *     comm 9c30 0-3,7            its id, and its members in MPI_COMM_WORLD
 *     call allreduce 9c30 even -1 65536 120033 45000
 *     sent 4 12 98304            to rank 4: messages and bytes, point to point
 *     place 0 1                  site and rack, if libcoll knows them
 *     end 1 400000 5300 0        calls, tick in femtoseconds, ticks after last call, lost calls
 *
 * A call has its communicator, "even" or "uneven" for counts that differ by rank, its root or -1,
 * its bytes, the ticks since the previous call, and the ticks inside it. The bytes of an uneven
 * call are those of this rank's own data or block, or of all blocks in a reduce_scatter. The bytes
 * of an even call, an alltoall or a call among neighbours are as in the report. The line "start" is
 * the same for the start of a nonblocking or persistent call, whose end is not recorded. The caller
 * must let only one thread at a time call these functions, except coll_call_log_is_open.
 */
#ifndef COLL_LIB_REPLAY_CALL_LOG_H
#define COLL_LIB_REPLAY_CALL_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { COLL_CALL_LOG_VERSION = 1 };

/* The operation of a call that returned an error. */
enum { COLL_RECORDED_FAILURE = UINT8_MAX };

/* One rank's part in a call. */
typedef struct coll_recorded_call {
    int64_t entered, left; /* ticks; in a report ns, at first on this rank's clock, later on that of
                              rank 0 */
    uint64_t bytes;        /* of this rank's data or block */
    int32_t root;          /* in the communicator; or COLL_NO_ROOT */
    int16_t row; /* for the report: the index of its class, or later of its row; negative: none */
    uint8_t operation; /* or COLL_RECORDED_FAILURE */
    bool uneven;       /* the call has a count for each rank */
} coll_recorded_call;

/*
 * Creates DIRECTORY, if need be, and in it the file of RANK, one of RANKS. Returns MPI_ERR_FILE
 * with a text if that fails, or if that file exists already, since records of two jobs must not
 * mix; MPI_ERR_ARG if the path is too long.
 */
int coll_call_log_open(const char *directory, int rank, int ranks);

/* Returns whether a file is open. */
bool coll_call_log_is_open(void);

/*
 * coll_call_log_comm writes a communicator; it must be called before the first call on that
 * communicator is written. coll_call_log_call writes a call on communicator COMM; STARTED says
 * whether the call is nonblocking or persistent.
 */
void coll_call_log_comm(uint64_t id, int ranks, const int members[]);
void coll_call_log_call(uint64_t comm, bool started, const coll_recorded_call *call);

/* Counts a message of BYTES to rank TO of MPI_COMM_WORLD. */
void coll_call_log_sent(int to, uint64_t bytes);

/*
 * Writes the last lines (messages sent, place, end), and closes the file. SITE and RACK are -1 if
 * unknown; LOST is the number of calls that could not be written. Prints a line on stderr if the
 * file is not complete.
 */
void coll_call_log_close(int site, int rack, double nanoseconds_per_tick, uint64_t lost);

#endif
