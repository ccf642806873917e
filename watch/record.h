/*
 * What is known of a rank: plain data without pointers, as it is kept, sent and judged. Ranks are
 * those of MPI_COMM_WORLD unless a communicator is named.
 */
#ifndef COLL_WATCH_RECORD_H
#define COLL_WATCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WATCH_NO_RANK = -1000000,
    WATCH_NAME = 32,
    WATCH_PATH = 128,
    WATCH_FRAMES = 12,
    WATCH_WORLD = 1
};

/* In ids of communicators whose collectives are not compared: between groups, or not certain. */
static const uint64_t WATCH_ALONE = (uint64_t)1 << 63;

/* How much data of which type, as far as a mismatch can be told from it. */
typedef struct watch_signature {
    uint64_t bytes;
    uint8_t known; /* 0: nothing here holds */
    uint8_t basic; /* of signature.h's table, where all is of one basic type */
} watch_signature;

/* One call. Times: in the ring, ticks; in a state, nanoseconds before it was taken. */
typedef struct watch_record {
    uint64_t serial;       /* which of the rank's calls, from 1 */
    uint64_t begun, ended; /* ENDED is 0 in the ring while the call lasts; see OPEN in a state */
    uint64_t caller;       /* its return address */
    uint64_t comm;         /* the communicator's id, or 0 */
    uint64_t requests;     /* the address of the program's requests */
    watch_signature data;
    uint32_t number;        /* the how manieth collective on its communicator, from 1; 0: none */
    int32_t peer, tag;      /* the root; or the destination of a send, or the source of a receive */
    int32_t from, from_tag; /* of an exchange's receive */
    uint32_t count;         /* of requests */
    uint16_t call;          /* of watch_calls */
    uint8_t op;             /* of signature.h's table */
    uint8_t open;           /* it lasts; in a state */
    int32_t thread;         /* by the kernel's number */
} watch_record;

/* What one request of an open call stands for. */
typedef struct watch_awaited {
    uint64_t waiter; /* serial of the call that waits */
    uint64_t comm;
    uint32_t number;
    int32_t peer, tag;
    uint16_t call; /* that began it */
    uint8_t op;    /* of signature.h's table */
    uint8_t known; /* 0: begun too long ago to tell */
} watch_awaited;

/* A communicator, by a number that is the same on all of its ranks. */
typedef struct watch_comm_info {
    uint64_t id, parent;    /* PARENT: 0 for MPI_COMM_WORLD and where it isn't known */
    uint32_t parent_number; /* which collective on the parent made it */
    uint32_t calls;         /* collectives begun on it */
    int32_t rank, size;
    uint16_t made_by;
    uint8_t certain; /* other ranks certainly mean the same one by this id */
    uint8_t inter;
    char name[WATCH_NAME];
} watch_comm_info;

/* How many messages went to, or receives were posted for, a rank of a communicator. */
typedef struct watch_traffic_entry {
    uint64_t comm, count;
    int32_t peer, tag; /* negative: any */
    uint8_t received;  /* else sent */
} watch_traffic_entry;

/* A place in the program's code. */
typedef struct watch_place {
    uint64_t offset; /* in its file */
    char function[40], file[WATCH_PATH];
} watch_place;

/* What a rank is, or what others know of it. */
typedef enum watch_fate {
    WATCH_ANSWERS,
    WATCH_SILENT,      /* its process runs, but its watcher doesn't answer */
    WATCH_STOPPED,     /* its process is stopped */
    WATCH_GONE,        /* there is no such process any more */
    WATCH_LEFT,        /* it said that it ends, without MPI_Finalize */
    WATCH_UNREACHABLE, /* nothing on its host answers */
    WATCH_NO_FILE      /* its watcher has written no answer; why isn't known */
} watch_fate;

typedef struct watch_state_head {
    int32_t rank, pid;
    uint32_t records, awaited, comms, traffic; /* how many follow */
    uint64_t calls, bytes;                     /* in all */
    uint64_t age;                              /* nanoseconds since MPI_Init */
    uint64_t inside;                           /* of them in recorded calls */
    uint64_t outside;                          /* since when no call lasts; 0: one lasts */
    uint8_t overflown;                         /* traffic is not whole */
    uint8_t frames;                            /* of the stack */
    char asleep[WATCH_NAME]; /* the system call that the thread sleeps in, or "" */
    watch_place
        stack[WATCH_FRAMES]; /* of the thread that called MPI_Init, where it is in no call; */
                             /* else the first is where it made its call */
} watch_state_head;

/* All that is known of a rank. Without an answer only FATE and the head's rank hold. */
typedef struct watch_state {
    watch_fate fate;
    char host[64];
    int32_t status; /* of exit, with WATCH_LEFT */
    watch_state_head head;
    void *block;           /* in which lies: */
    watch_record *records; /* open calls, and the latest collectives, newest first */
    watch_awaited *awaited;
    watch_comm_info *comms;
    watch_traffic_entry *traffic;
} watch_state;

#endif
