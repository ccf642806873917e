/*
 * What libcoll keeps for a user's communicator: a private duplicate, the places of its ranks,
 * settings and the way to wait. Made on first use, cached as an attribute, freed with the
 * communicator or at MPI_Finalize.
 */
#ifndef COLL_LIB_BASE_COMM_H
#define COLL_LIB_BASE_COMM_H

#include "lib/base/wait.h"
#include "lib/cost/profile.h"
#include "lib/operation/select.h"
#include "lib/pattern/order.h"
#include "lib/place/topo.h"

#include <mpi.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum coll_operation {
    COLL_OPERATION_BCAST,
    COLL_OPERATION_GATHER,
    COLL_OPERATION_AGGREGATE,
    COLL_OPERATIONS
} coll_operation;

/* What the decision layer knows of each operation: its name, its setting, its algorithms. */
typedef struct coll_operation_info {
    const char *name;     /* "bcast" */
    const char *variable; /* "COLL_BCAST" */
    const char *info_key; /* "coll_bcast" */
    const coll_algorithm *const *table;
} coll_operation_info;
extern const coll_operation_info coll_operations[COLL_OPERATIONS];

/* The tags of messages on the private communicator. */
enum {
    COLL_TAG_BCAST = 1,
    COLL_TAG_CONFIRMATION,
    COLL_TAG_FIRST_TREE,
    COLL_TAG_SECOND_TREE,
    COLL_TAG_GATHER,
    COLL_TAG_GRANT,
    COLL_TAG_COUNTS,
    COLL_TAG_PAIRS,
    COLL_TAG_ROLL_CALL,
    COLL_TAG_PARCEL, /* and the next, as with notes: those of confirmed broadcasts take turns */
    COLL_TAG_NOTE = COLL_TAG_PARCEL + 2,
    COLL_TAG_ROUND = COLL_TAG_NOTE + 2,
    COLL_TAG_REPORT,
    COLL_TAG_WIDE = 1 << 14, /* and the next COLL_TAGS_WIDE - 1, by turns (hlot/relay.c) */
    COLL_TAGS_WIDE = 1 << 13 /* below 32767, the least that MPI promises for tags */
};

/* What was decided last for an operation at sizes from one power of two to the next. */
typedef struct coll_decision {
    size_t bytes;
    int root;
    coll_choice choice; /* for these; no algorithm where nothing was decided */
} coll_decision;
enum { COLL_SIZE_CLASSES = 64 };

/* What goes to and fro when ranks agree (lib/base/agree.h). */
enum { COLL_AGREE_MOST = 8 };
typedef struct coll_roll {
    int first, silent; /* the lowest silent rank, and how many there are */
} coll_roll;
typedef struct coll_agreement {
    int64_t numbers[COLL_AGREE_MOST], highest[COLL_AGREE_MOST];
    struct {
        int class;
        char text[MPI_MAX_ERROR_STRING];
    } error;
    coll_roll heard, named; /* when it didn't end in time */
} coll_agreement;

typedef struct coll_comm {
    MPI_Comm user;    /* the communicator that this belongs to */
    MPI_Comm private; /* of the same ranks; its errors return */
    int rank, ranks;
    coll_topo topo;
    const coll_profile *profile; /* the next one */
    coll_profile loaded;
    char topology[4096];  /* the file of racks and sites, or "" */
    char latencies[4096]; /* the file of latencies between sites, or "" */
    coll_wait wait;
    coll_spec specs[COLL_OPERATIONS]; /* the user's word */
    /*
     * What lets a small call take the short way (lib/operation/shortcut.h): on one node nobody has
     * asked for anything but the MPI library's own, and the data is of a predefined type without
     * gaps.
     */
    bool stands_back[COLL_OPERATIONS];
    MPI_Datatype plain_type; /* the last such type, and the bytes of an element: 0 for none */
    MPI_Count plain_bytes;
    bool trace; /* this rank prints a line a call */
    coll_decision decisions[COLL_OPERATIONS][COLL_SIZE_CLASSES];
    int broken;         /* the error after which messages may be astray, or MPI_SUCCESS */
    uint32_t confirmed; /* confirmed broadcasts so far */
    double
        window_share;   /* of a gather's window that has lately lost nothing; this rank's as root */
    int order_root;     /* the root that the next two are for, or -1 */
    int *order;         /* ranks in chain order */
    int position;       /* this rank's place in it */
    coll_visit *visits; /* scratch for making it */
    void *room;         /* what coll_comm_room gives */
    size_t room_bytes;  /* the same on all ranks */
    coll_agreement agreement;
    /* What hlot keeps here from its first broadcast on, and how it is freed; NULL: nothing. */
    void *wide;
    void (*free_wide)(void *wide);
    struct coll_comm *next_live, **link_live; /* the list of all states */
} coll_comm;

/*
 * The state of COMM, an intracommunicator. Collective on first use, when it is made: rank 0's
 * settings hold for all. The state belongs to COMM. Errors: those of settings, topology and memory,
 * the same on every rank; and after an error that left messages astray, that error again.
 */
int coll_comm_get(MPI_Comm comm, coll_comm **state);

/*
 * The error that the settings of this process's environment give every communicator on first use,
 * or MPI_SUCCESS; files that they name are not looked at. Local.
 */
int coll_comm_check_settings(void);

/* The state of COMM if this thread has asked for it last and it is not broken, else NULL. Local. */
coll_comm *coll_comm_recent(MPI_Comm comm);

/* Takes the user's SPEC for OPERATION from now on; SETTING names its source in the error text. */
int coll_comm_set(coll_comm *comm, coll_operation operation, const char *setting, const char *spec);

/*
 * The state of those ranks of WHOLE that give the same COLOR, in the same order, for algorithms
 * that are made of others; collective over WHOLE. *PART is the caller's, for coll_comm_free_part.
 */
int coll_comm_part(coll_comm *whole, int color, coll_comm **part);
void coll_comm_free_part(coll_comm *part);

/* The decision for the size class of BYTES. */
const coll_decision *coll_comm_decision(const coll_comm *comm, coll_operation operation,
                                        size_t bytes);

/* The choice for SHAPE, remembered while calls are of the same size and root. */
coll_choice coll_comm_choose(coll_comm *comm, coll_operation operation, const coll_shape *shape);

/*
 * The ranks in chain order from ROOT (lib/pattern/order.h), kept until another root is asked for;
 * afterwards coll_comm_position is this rank's place in it.
 */
const int *coll_comm_order(coll_comm *comm, int root);
int coll_comm_position(const coll_comm *comm);

/*
 * Memory for one operation: BYTES of it, aligned for any type, until the next such call on COMM.
 * All ranks ask for as much, whether or not they need it. Where a rank hasn't got it, all get
 * MPI_ERR_NO_MEM, so that none waits for one that can't take part. Collective where COMM has had
 * less so far. After an error that left messages under way the memory stays theirs.
 */
int coll_comm_room(coll_comm *comm, size_t bytes, void **memory);

/* What BYTES take of a room that is divided by coll_comm_room_take, which cuts them off at *NEXT.
 */
static inline size_t coll_comm_room_of(size_t bytes) {
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}
static inline void *coll_comm_room_take(char **next, size_t bytes) {
    void *taken = *next;
    *next += coll_comm_room_of(bytes);
    return taken;
}

/* An operation is over: gives back what of its room is too much to keep. */
void coll_comm_leave_room(coll_comm *comm);

#endif
