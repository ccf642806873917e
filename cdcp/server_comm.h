/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator on a DCP: all members, the members that this DCP serves, and the DCPs that take
 * part ("stations"). The DCPs are sorted by the lowest member that each of them serves.
 */
#ifndef COLL_CDCP_SERVER_COMM_H
#define COLL_CDCP_SERVER_COMM_H

#include "cdcp/job.h"
#include "cdcp/unexpected_queue.h"
#include "cdcp/wire.h"
#include "lib/pattern/multiply.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_dcp_call coll_dcp_call;

typedef struct coll_server_comm {
    uint64_t number;
    int ranks; /* number of members; 0 until the first piece of their list has arrived */
    int listed;
    int *members; /* their ranks in the job */
    /*
     * The members that this DCP serves, ascending; and for each of them, 1 plus the number of the
     * latest call to which it has contributed. Contributions through the mailbox and in messages
     * may overtake each other.
     */
    int here;
    const int *own;
    uint32_t *arrived;
    /*
     * How many of these members have freed the communicator, how many posts they reported then, and
     * how many posts have arrived. Posts may arrive after that report.
     */
    int forgotten;
    uint64_t posted, taken;
    /* The DCPs that take part, by their ranks in the job. This DCP is at POSITION. */
    int stations, *station, position;
    /*
     * GROUPED: all members, sorted by station and rank. GROUP: for each station, the index of its
     * first member in GROUPED; one element more has the number of members. STATION_OF: the station
     * of each member.
     */
    int *grouped, *group, *station_of;
    int stages;
    coll_multiply_stage *stage;
    /*
     * For exchanges by the digits of the distance between two stations (lib/pattern/radix.h): the
     * radix; and for each distance, the number of the first block in a call's ROWS that travels
     * this distance, the same in all stages.
     */
    int radix, *place_of;
    coll_unexpected_queue unexpected; /* messages that arrived before the list of members */
    /*
     * The calls under way, at their numbers modulo a power of two, WINDOW_SIZE; and unused calls.
     */
    coll_dcp_call **window;
    uint32_t window_size;
    int under_way;
    coll_dcp_call *spare;
    struct coll_server_comm *next; /* next in its chain of the table of communicators */
} coll_server_comm;

/*
 * Returns a new communicator of which only NUMBER is known, or NULL if memory is short. Its calls
 * must be freed before the communicator (coll_dcp_call_free_all).
 */
coll_server_comm *coll_server_comm_new(uint64_t number);
void coll_server_comm_free(coll_server_comm *comm);

/* Returns whether all members are known, so that calls can proceed. */
bool coll_server_comm_ready(const coll_server_comm *comm);

/*
 * Return the number of members that the DCP at position STATION serves, and their list, ascending.
 */
static inline int coll_server_comm_served_by(const coll_server_comm *comm, int station) {
    return comm->group[station + 1] - comm->group[station];
}
static inline const int *coll_server_comm_ranks_of(const coll_server_comm *comm, int station) {
    return comm->grouped + comm->group[station];
}

/*
 * Returns how many blocks that travel DISTANCE stations in all are on this DCP before STAGE: one
 * from each rank of the station where they started to each rank of their destination.
 */
int coll_server_comm_blocks(const coll_server_comm *comm, int distance, int stage);

/* Adds a piece of the list of members. After the last piece the communicator is ready. */
int coll_server_comm_list(coll_server_comm *comm, const coll_job *job,
                          const coll_wire_header *header, const int32_t members[]);

/* Returns the index in OWN of member RANK, which this DCP serves. */
int coll_server_comm_place(const coll_server_comm *comm, int rank);

/* Notes that the member at index PLACE of OWN has contributed to call SEQUENCE. */
void coll_server_comm_count(coll_server_comm *comm, int place, uint32_t sequence);

/*
 * Returns whether the member at index PLACE of OWN has contributed neither to call SEQUENCE nor to
 * a later one.
 */
bool coll_server_comm_misses(const coll_server_comm *comm, int place, uint32_t sequence);

/*
 * Returns whether all members that this DCP serves have freed the communicator, and none of its
 * posts and calls is outstanding.
 */
bool coll_server_comm_is_over(const coll_server_comm *comm);

#endif
