/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/members.h"

#include "lib/pattern/binomial.h"

#include <stdbool.h>
#include <string.h>

/*
 * The tree's radix. With 4 a message takes half as many steps as in a binomial tree, and Open MPI's
 * broadcasts often open the same connections.
 */
enum { RADIX = 4, CHILDREN_MOST = (RADIX - 1) * 16 };

/* A member's place in the tree. The members below it are those up to END. */
typedef struct place {
    int parent, count, end;
    int children[CHILDREN_MOST]; /* the farthest first */
} place;

static place place_of(const coll_members *members) {
    place own = {.end = coll_tree_knomial_end(members->count, RADIX, members->own)};
    own.count = coll_tree_knomial(members->count, RADIX, members->own, &own.parent, own.children);
    return own;
}

static int rank_of(const coll_members *members, int member) {
    return members->ranks ? members->ranks[member] : member;
}

coll_members coll_members_all(coll_comm *comm, int tag) {
    return (coll_members){
        .comm = comm, .wait = &comm->wait, .count = comm->ranks, .own = comm->rank, .tag = tag};
}

static int send_to(const coll_members *members, const void *data, size_t bytes, int member) {
    MPI_Request request;
    int code = coll_isend(members->comm, data, (int)bytes, MPI_BYTE, rank_of(members, member),
                          members->tag, &request);
    return code == MPI_SUCCESS ? coll_wait_all(members->wait, 1, &request, NULL) : code;
}

static int receive_from(const coll_members *members, void *data, size_t bytes, int member) {
    MPI_Request request;
    int code = coll_irecv(members->comm, data, (int)bytes, MPI_BYTE, rank_of(members, member),
                          members->tag, &request);
    return code == MPI_SUCCESS ? coll_wait_all(members->wait, 1, &request, NULL) : code;
}

int coll_members_gather(const coll_members *members, const void *own, size_t bytes, void *all,
                        void *passing) {
    const place at = place_of(members);
    const bool root = members->own == 0;
    int code = root ? MPI_SUCCESS : send_to(members, own, bytes, at.parent);
    if (root && all)
        memcpy(all, own, bytes);
    /* Each child sends the data of its subtree, one member after the other. */
    for (int i = at.count - 1; i >= 0; i--) {
        const int child = at.children[i], end = i > 0 ? at.children[i - 1] : at.end;
        for (int member = child; member < end; member++) {
            char *data = all ? (char *)all + (size_t)member * bytes : passing;
            if (code == MPI_SUCCESS)
                code = receive_from(members, data, bytes, child);
            if (code == MPI_SUCCESS && !root)
                code = send_to(members, data, bytes, at.parent);
        }
    }
    return code;
}

int coll_members_pass_on(const coll_members *members, const void *data, size_t bytes) {
    const place at = place_of(members);
    int code = MPI_SUCCESS;
    for (int i = 0; i < at.count && code == MPI_SUCCESS; i++)
        code = send_to(members, data, bytes, at.children[i]);
    return code;
}

int coll_members_bcast(const coll_members *members, void *data, size_t bytes) {
    const int code = members->own == 0
                         ? MPI_SUCCESS
                         : receive_from(members, data, bytes, place_of(members).parent);
    return code == MPI_SUCCESS ? coll_members_pass_on(members, data, bytes) : code;
}
