/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages between the root of a confirmed broadcast and the other ranks. They are smaller
 * than the eager limit of every transport, so they leave without waiting for the receiver, unless
 * there is no connection to it yet.
 */
#ifndef COLL_LIB_BCAST_RELIABLE_CONTROL_MSG_H
#define COLL_LIB_BCAST_RELIABLE_CONTROL_MSG_H

#include "lib/bcast/reliable/diagnosis.h"
#include "lib/bcast/reliable/failure_detector.h"

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
     * this epoch starts: all segments are sent again, with the rank that DIAGNOSIS suspects at the
     * end of the chain
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

#endif
