/*
 * What goes between application ranks and DCPs, and among DCPs, by messages. Every message to a DCP
 * is a header and a body of at most coll_wire_room bytes; the ranks of a job are alike, so both are
 * sent as they lie in memory.
 */
#ifndef COLL_CDCP_WIRE_H
#define COLL_CDCP_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef enum coll_wire_kind {
    /* from an application rank to its DCP */
    COLL_WIRE_MEMBERS,      /* a communicator: its members' ranks in the job, perhaps in pieces */
    COLL_WIRE_FORGET,       /* the sender has freed it after so many posts: sequence */
    COLL_WIRE_CONTRIBUTION, /* its values for a call of a collective */
    COLL_WIRE_STOP,         /* there will be nothing more from the sender */
    /* from a DCP to another one */
    COLL_WIRE_ITEMS,    /* of a call, perhaps in pieces */
    COLL_WIRE_FAILURE,  /* instead of items; and to application ranks instead of a result */
    COLL_WIRE_QUESTION, /* whose contributions to a call do you miss? */
    COLL_WIRE_ANSWER,
    COLL_WIRE_VERDICT, /* a call has failed for late ranks: tell yours at once */
    /* from a DCP to an application rank */
    COLL_WIRE_RESULT
} coll_wire_kind;

typedef struct coll_wire_header {
    uint64_t team;     /* the communicator's number */
    uint32_t sequence; /* of the call, counted on its communicator */
    int32_t kind;
    int32_t code;  /* what is called (cdcp/dcp_operation.h); error class of a failure */
    int32_t count; /* of the call; members of the communicator; missing ranks in an answer */
    int32_t rank;  /* of the sender in the communicator; of a DCP: one whose operands it holds */
    int32_t reply; /* where the result goes: a tag */
    int32_t depth; /* the stage of the exchange */
    int32_t first; /* member in this piece */
    int32_t items; /* members or items in this piece */
    int32_t more;  /* another piece follows */
} coll_wire_header;

/* Items of what goes along a tree are its nodes: one of these, then its value. */
typedef struct coll_wire_node {
    int32_t first, height;
} coll_wire_node;

/* The longest text of a failure, and missing ranks that an answer names. */
enum { COLL_WIRE_TEXT = 224, COLL_WIRE_NAMED = 8 };

_Static_assert(sizeof(coll_wire_header) % 16 == 0, "bodies must be aligned for any type");

/*
 * The room for a body where values have at most LIMIT bytes and all blocks of a rank at most
 * BLOCKS: two values and their nodes, such blocks and a node, 512 members or a text; at least what
 * eager messages carry.
 */
static inline size_t coll_wire_room(size_t limit, size_t blocks) {
    const size_t least = 2048, node = sizeof(coll_wire_node);
    size_t values = 2 * (limit + node), row = blocks + node;
    size_t room = values > row ? values : row;
    return room > least ? room : least;
}

#endif
