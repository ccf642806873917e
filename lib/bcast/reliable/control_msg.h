/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages between the root of a confirmed broadcast and the other ranks. They are smaller
 * than the eager limit of every transport, so they leave without waiting for the receiver, unless
 * there is no connection to it yet.
 */
#ifndef COLL_LIB_BCAST_RELIABLE_CONTROL_MSG_H
#define COLL_LIB_BCAST_RELIABLE_CONTROL_MSG_H

#include "lib/base/comm.h"
#include "lib/bcast/reliable/diagnosis.h"
#include "lib/bcast/reliable/failure_detector.h"

#include <mpi.h>
#include <stdint.h>

typedef enum coll_control_msg_kind {
    /* to the root */
    COLL_CONTROL_MSG_ACCOUNT, /* heartbeat, with the sender's progress */
    /* the sender has all segments of this epoch, and no older message to it is in flight */
    COLL_CONTROL_MSG_RECEIVED,
    COLL_CONTROL_MSG_CORRUPT, /* the sender received a damaged segment of this epoch */
    /* from the root */
    COLL_CONTROL_MSG_ALIVE, /* heartbeat of the root */
    /*
     * start this epoch: send all again, with the rank that DIAGNOSIS suspects at the end of the
     * chain
     */
    COLL_CONTROL_MSG_RESTART,
    COLL_CONTROL_MSG_DONE, /* all ranks have all segments */
    /* in either direction */
    COLL_CONTROL_MSG_FAILED, /* the broadcast has failed; the communicator is broken */
} coll_control_msg_kind;

/* Sent as it is in memory. */
typedef struct coll_control_msg {
    uint32_t sequence, epoch;
    uint32_t kind;
    int32_t from;
    coll_account account;
    coll_diagnosis diagnosis;
} coll_control_msg;

/* A control message being sent to a rank. */
typedef struct coll_sent_control_msg {
    coll_control_msg msg;
    int to;
} coll_sent_control_msg;

/* All control messages being sent: requests[i] sends messages[i]. */
typedef struct coll_control_msgs {
    coll_comm *comm;
    int tag;
    int count, capacity;
    MPI_Request *requests;
    coll_sent_control_msg **messages;
} coll_control_msgs;

/* Starts to send a copy of MSG to rank TO. Errors: MPI_ERR_NO_MEM and MPI's own. */
int coll_control_msgs_send(coll_control_msgs *msgs, const coll_control_msg *msg, int to);

/* Frees the control messages that have been sent. Returns MPI's errors. */
int coll_control_msgs_sweep(coll_control_msgs *msgs);

/*
 * Waits until all control messages have been sent, or for SECONDS (0: no limit) none has completed;
 * msgs->count is the number of messages left.
 */
int coll_control_msgs_flush(coll_control_msgs *msgs, coll_wait *wait, double seconds);

/* Frees the memory of MSGS; all control messages must have been sent. */
void coll_control_msgs_free(coll_control_msgs *msgs);

#endif
