/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between application ranks and DCPs, and among DCPs. Every message to a DCP has a header
 * and a body of at most coll_wire_room bytes. All ranks of a job use the same data representation,
 * so both are sent as they are in memory.
 */
#ifndef COLL_CDCP_WIRE_H
#define COLL_CDCP_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef enum coll_wire_kind {
    /* from an application rank to its DCP */
    /* a list of a communicator's members, as ranks in the job; perhaps in several messages */
    COLL_WIRE_MEMBERS,
    COLL_WIRE_FORGET,       /* the sender has freed the communicator, after SEQUENCE posts */
    COLL_WIRE_CONTRIBUTION, /* the sender's values for a collective call */
    COLL_WIRE_WITHDRAWAL,   /* instead of values: the text of the sender's error */
    /* from a rank: its last message; from a DCP: from now on it only answers questions */
    COLL_WIRE_STOP,
    /* from a DCP to another one */
    COLL_WIRE_ITEMS,    /* items of a call, perhaps in pieces */
    COLL_WIRE_FAILURE,  /* instead of items; to application ranks, instead of a result */
    COLL_WIRE_QUESTION, /* asks which contributions to a call are missing */
    COLL_WIRE_ANSWER,
    /* a call has failed because of late ranks; the receiver reports this to its waiting ranks */
    COLL_WIRE_VERDICT,
    /* from a DCP to an application rank */
    COLL_WIRE_RESULT
} coll_wire_kind;

typedef struct coll_wire_header {
    uint64_t comm; /* number of the communicator, or of a persistent request's series of calls */
    uint32_t sequence; /* number of the call on its communicator */
    int32_t kind;
    int32_t code;  /* the call (cdcp/dcp_operation.h); in a failure sent to a rank: error class */
    int32_t count; /* count of the call; number of members; in an answer, number of missing
                      ranks, or -1 if the DCP doesn't know the members yet */
    /*
     * rank of the sender in the communicator; in items or a failure sent to a DCP: the rank of the
     * first member that contributed at the sending DCP
     */
    int32_t rank;
    int32_t reply; /* tag for the result */
    int32_t depth; /* of the stage (coll_multiply_stage); in exchanges by digits: its number */
    int32_t first; /* first member or item in this piece; in a failure or a withdrawal sent to a
                      DCP: error class */
    int32_t items; /* number of members or items in this piece */
    int32_t more;  /* another piece follows */
} coll_wire_header;

/*
 * In exchanges along a tree, an item is a node of the tree: this struct, followed by the node's
 * value.
 */
typedef struct coll_wire_node {
    int32_t first, height;
} coll_wire_node;

/* The size of a failure's text, and the largest number of missing ranks that an answer names. */
enum { COLL_WIRE_TEXT = 224, COLL_WIRE_NAMED = 8 };

_Static_assert(sizeof(coll_wire_header) % 16 == 0, "bodies must be aligned for any type");

/*
 * Returns the size of a body if values have at most LIMIT bytes and all blocks of a rank at most
 * BLOCKS bytes. A body is long enough for the longest of these: two values, each with its
 * coll_wire_node; all blocks of a rank with one coll_wire_node; 512 members; a text. It has at
 * least 2048 bytes.
 */
static inline size_t coll_wire_room(size_t limit, size_t blocks) {
    const size_t least = 2048, node = sizeof(coll_wire_node);
    size_t values = 2 * (limit + node), row = blocks + node;
    size_t room = values > row ? values : row;
    return room > least ? room : least;
}

#endif
