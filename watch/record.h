/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a rank, in the form in which it is stored, sent and analysed. Ranks are those of
 * MPI_COMM_WORLD unless a communicator is named.
 */
#ifndef COLL_WATCH_RECORD_H
#define COLL_WATCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum { WATCH_NAME = 32, WATCH_PATH = 128, WATCH_FRAMES = 12, WATCH_WORLD = 1 };

/*
 * Set in the ids of communicators whose collectives are not compared: intercommunicators, and those
 * with uncertain ids.
 */
static const uint64_t WATCH_ALONE = (uint64_t)1 << 63;

/* Amount and type of data, as far as they help to detect a mismatch. */
typedef struct watch_signature {
    uint64_t bytes;
    uint8_t known; /* 0 if BYTES and BASIC are unknown */
    uint8_t basic; /* index of the only basic type in signature.c's table, or 0 */
} watch_signature;

/*
 * One call. Its times are ticks while it is in the ring, but nanoseconds before the state was taken
 * if it is in a state.
 */
typedef struct watch_record {
    uint64_t serial;       /* number of the call on this rank, from 1 */
    uint64_t begun, ended; /* ENDED is 0 in the ring while the call lasts; in a state, see OPEN */
    uint64_t caller;       /* return address of the call */
    uint64_t comm;         /* id of the communicator, or 0 */
    uint64_t requests;     /* the address of the program's requests */
    watch_signature data;
    /* 1-based number of the collective on its communicator; 0 if the call is no collective */
    uint32_t number;
    int32_t peer, tag;      /* the root, the destination of a send, or the source of a receive */
    int32_t from, from_tag; /* source and tag of an exchange's receive */
    uint32_t count;         /* number of requests */
    uint16_t call;          /* index into watch_calls */
    uint8_t op;             /* as watch_op_of returns it */
    uint8_t open;           /* in a state: 1 while the call lasts */
    int32_t thread;         /* the kernel's id of the calling thread */
} watch_record;

/* The operation behind one request of an open call, or the operation of the call itself. */
typedef struct watch_awaited {
    uint64_t waiter; /* serial of the call that waits for it */
    uint64_t comm;
    uint32_t number;
    int32_t peer, tag;
    int32_t from, from_tag; /* as in a record */
    uint16_t call;          /* index into watch_calls of the call that created it */
    uint8_t op;             /* as watch_op_of returns it */
    uint8_t known;          /* 0 if it has been replaced in the table, or others are not listed */
} watch_awaited;

static inline watch_awaited watch_awaited_of(const watch_record *call) {
    return (watch_awaited){.comm = call->comm,
                           .number = call->number,
                           .peer = call->peer,
                           .tag = call->tag,
                           .from = call->from,
                           .from_tag = call->from_tag,
                           .call = call->call,
                           .op = call->op,
                           .known = 1};
}

/* A communicator. If CERTAIN, ID and PARENT are the same on all of its ranks. */
typedef struct watch_comm_info {
    uint64_t id, parent;    /* PARENT is 0 for MPI_COMM_WORLD and if it is unknown */
    uint32_t parent_number; /* number of the collective on the parent that created it */
    uint32_t calls;         /* number of collectives begun on it */
    int32_t rank, size;
    uint16_t made_by;
    uint8_t certain; /* other ranks certainly use this id for the same communicator */
    uint8_t inter;
    char name[WATCH_NAME];
} watch_comm_info;

/*
 * How many messages with a tag were sent to a rank of a communicator, or how many receives were
 * posted for messages from that rank.
 */
typedef struct watch_message_count {
    uint64_t comm, count;
    int32_t peer, tag; /* negative: any */
    uint8_t received;  /* 1 for receives, 0 for messages sent */
} watch_message_count;

/* A place in the program's code. */
typedef struct watch_place {
    uint64_t offset; /* within FILE */
    char function[40], file[WATCH_PATH];
} watch_place;

/* Whether a rank has answered and, if not, what is known about it. */
typedef enum watch_fate {
    WATCH_ANSWERS,
    WATCH_SILENT,      /* its process runs, but its watcher doesn't answer */
    WATCH_STOPPED,     /* its process is stopped */
    WATCH_GONE,        /* there is no such process any more */
    WATCH_LEFT,        /* it has announced that it exits without MPI_Finalize */
    WATCH_UNREACHABLE, /* nothing on its host answers */
    WATCH_NO_FILE      /* its watcher has written no answer file, for an unknown reason */
} watch_fate;

typedef struct watch_state_head {
    int32_t rank, pid;
    uint32_t records, awaited, comms, message_counts; /* numbers of entries that follow */
    uint64_t calls, bytes;                            /* totals of calls that have ended */
    uint64_t age;                                     /* nanoseconds since MPI_Init */
    /* part of AGE spent in recorded calls that have ended, in nanoseconds */
    uint64_t inside;
    /* nanoseconds since the latest call ended; 0 while a call lasts */
    uint64_t outside;
    uint8_t overflown;       /* MESSAGE_COUNTS is incomplete or unreliable */
    uint8_t frames;          /* number of entries in STACK */
    char asleep[WATCH_NAME]; /* name of the system call in which the thread sleeps, or "" */
    /* Stack of the thread that called MPI_Init. If the thread is in an MPI call, only the place of
     * that call. */
    watch_place stack[WATCH_FRAMES];
} watch_state_head;

/*
 * All that is known of a rank. Unless FATE is WATCH_ANSWERS, only FATE, HOST, STATUS and the head's
 * rank and pid are valid.
 */
typedef struct watch_state {
    watch_fate fate;
    char host[64];
    int32_t status; /* exit status if FATE is WATCH_LEFT */
    watch_state_head head;
    void *block;           /* memory that holds the following arrays */
    watch_record *records; /* open calls, and the latest collectives, newest first */
    watch_awaited *awaited;
    watch_comm_info *comms;
    watch_message_count *message_counts;
} watch_state;

#endif
