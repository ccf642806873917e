/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records this process's collective calls for the report at MPI_Finalize (COLL_REPORT). A call is
 * timed at the program's side: two reads of a clock, and an addition to a table that has an entry
 * for each operation, size class, group of ranks and algorithm. Sends no messages. Any thread may
 * call.
 */
#ifndef COLL_LIB_REPORT_RECORD_H
#define COLL_LIB_REPORT_RECORD_H

#include "coll_component.h"
#include "lib/algorithm/operations.h"
#include "lib/base/comm.h"
#include "lib/comm/job_cache.h"
#include "lib/replay/call_log.h"
#include "lib/tuning/select.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum coll_report_kind {
    COLL_REPORT_BLOCKING,
    COLL_REPORT_NONBLOCKING,
    COLL_REPORT_PERSISTENT
} coll_report_kind;

/* The ranks of one or more communicators. */
typedef struct coll_report_group {
    uint64_t hash; /* of MEMBERS */
    int ranks;
    int *members;           /* ranks in the job's MPI_COMM_WORLD */
    uint64_t comms;         /* number of communicators with an id; the same on all members */
    coll_topo topo;         /* no places until libcoll sets up a communicator of these ranks */
    coll_job_cache *common; /* has the profile; NULL without places */
} coll_report_group;

/* Calls that count together. Times are in ticks (lib/base/ticks.h). */
typedef struct coll_report_class {
    coll_operation operation;
    coll_report_kind kind;
    int size_class;
    const coll_algorithm *algorithm; /* NULL: the MPI library ran it, not by libcoll's choice */
    bool dcp;                        /* dedicated processors ran it */
    const coll_report_group *group;  /* NULL: not known */
    coll_values values;              /* of ALGORITHM */
    coll_shape shape;                /* of the first call, if there is an ALGORITHM */
    const char *why;                 /* the reason for the choice; NULL: unknown. Static */
    uint64_t calls, bytes;
    uint64_t inside;    /* the time in calls; for requests, in starts and waits */
    uint64_t completed; /* requests that completed */
    double until;       /* s from their starts to their completions */
} coll_report_class;

/* At most this many of the latest calls are kept: of one communicator, and of all together. */
enum { COLL_REPORT_EVENTS = 4096, COLL_REPORT_ALL_EVENTS = 16 * COLL_REPORT_EVENTS };

/* A communicator and its latest blocking calls. */
typedef struct coll_report_comm {
    struct coll_report_comm *next, **link;
    bool numbered; /* a collective was called on it; then it has an ID if that can be known */
    uint64_t id;   /* the same on all ranks; 0: unknown */
    coll_report_group *group;
    uint64_t calls;             /* blocking calls so far: the nth one is the same on all ranks */
    coll_recorded_call *events; /* the nth call is at index n % ROOM */
    size_t room;                /* of EVENTS, a power of two; 0: none are kept */
} coll_report_comm;

/* A rank's latest calls on a communicator. It is sent as it is in memory, and followed by a
 * coll_recorded_call for each call. */
typedef struct coll_job_series {
    uint64_t comm, group; /* the communicator's id, and the hash of its ranks */
    uint64_t first; /* the number of the first call; all ranks number the calls in the same way */
    int64_t count;  /* of calls */
    int64_t ranks, place; /* of the communicator, and this rank's number there */
} coll_job_series;

/*
 * Whether calls are recorded. While that is undecided, until the first communicator is set up,
 * calls are timed, so that the call that decides it can be recorded.
 */
typedef enum coll_report_state {
    COLL_REPORT_UNDECIDED,
    COLL_REPORT_ON,
    COLL_REPORT_OFF
} coll_report_state;
extern _Atomic coll_report_state coll_report_is;

/*
 * Starts recording. WORLD is MPI_COMM_WORLD without dedicated processors. Returns MPI's error code;
 * after an error, nothing is recorded. Local.
 */
int coll_report_begin_recording(MPI_Comm world);
/* Ends recording or, while COLL_REPORT_UNDECIDED, decides that no call is recorded. Closes the call
 * log, if one is open. */
void coll_report_end_recording(void);

/*
 * Returns the ranks that COMM's members have in the WORLD of coll_report_begin_recording, as an
 * array that the caller frees, and sets *RANKS to its length. Returns NULL if a member isn't in
 * that WORLD, or after an error. Local.
 */
int *coll_report_members(MPI_Comm comm, int *ranks);

/*
 * Begins a call of the program. Returns the time in ticks, or 0 if the call is not recorded:
 * recording is off, or the call is within another call. If the result is not 0, coll_report_end or
 * coll_report_end_wait must follow.
 */
uint64_t coll_report_begin_call(void);
static inline uint64_t coll_report_begin(void) {
    return coll_report_is == COLL_REPORT_OFF ? 0 : coll_report_begin_call();
}

/*
 * Ends the call of OPERATION on COMM that began at BEGAN and returned CODE. AMOUNT is this rank's
 * data or block; the call's bytes are taken from it if libcoll did not run the call.
 */
void coll_report_end(uint64_t began, int code, coll_operation operation, coll_report_kind kind,
                     const COLL_Report_amount *amount, MPI_Comm comm);

/*
 * Counts, for COLL_RECORD, a message of COUNT elements of TYPE to rank TO of COMM. Messages on
 * intercommunicators are not counted.
 */
void coll_report_sent(MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm);

/* Ends the call that began at BEGAN, and adds its time to that inside CLASS's calls; CLASS may be
 * NULL. */
void coll_report_end_wait(uint64_t began, coll_report_class *class);

/*
 * Records that libcoll runs this thread's current call with CHOICE: BYTES and SHAPE describe the
 * call. Returns the call's class, or NULL if the call is not recorded or the table of classes is
 * full.
 */
coll_report_class *coll_report_ran(const coll_comm *comm, coll_report_kind kind,
                                   const coll_shape *shape, size_t bytes,
                                   const coll_choice *choice);

/* Records that dedicated processors run this thread's current call. */
void coll_report_served(void);

/* Records that a request of CLASS, which may be NULL, completed SECONDS after its start. */
void coll_report_completed(coll_report_class *class, double seconds);

/* Return, after the end of recording, the *COUNT classes of calls, and the list of communicators.
 * Classes stay valid until the process ends, a communicator with few calls until MPI frees it. */
const coll_report_class *coll_report_classes(int *count);
const coll_report_comm *coll_report_comms(void);

/* Returns how many calls are in no class, because the table was full. */
uint64_t coll_report_lost(void);

/*
 * Returns the length of a tick in nanoseconds. Each call measures it, so results differ a little.
 */
double coll_report_tick(void);

/* Returns the CLOCK_MONOTONIC time in ns at TICKS. Dates that are compared need the same TICK. */
int64_t coll_report_date(double tick, int64_t ticks);

/* Returns the seconds since this library was loaded. */
double coll_report_age(void);

#endif
