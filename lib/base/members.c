/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/members.h"

#include <string.h>

/*
 * The parent of member i is i without its lowest one bit. So the subtree of i is the members from i
 * to i + span - 1, where span is that bit, and its children are i + 1, i + 2, i + 4, ... in there.
 * The root's span is the least power of two that is not below the number of members.
 */
static int span_of(const coll_members *members) {
    int span = 1;
    while (span < members->count && !(members->own & span))
        span *= 2;
    return span;
}

static int parent_of(const coll_members *members) {
    return members->own & (members->own - 1);
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
    const int span = span_of(members), first = members->own;
    const bool root = first == 0;
    int code = root ? MPI_SUCCESS : send_to(members, own, bytes, parent_of(members));
    if (root && all)
        memcpy(all, own, bytes);
    /* Each child sends the data of its subtree, one member after the other. */
    for (int child = 1; child < span; child *= 2)
        for (int i = child; i < 2 * child && first + i < members->count; i++) {
            char *data = all ? (char *)all + (size_t)i * bytes : passing;
            if (code == MPI_SUCCESS)
                code = receive_from(members, data, bytes, first + child);
            if (code == MPI_SUCCESS && !root)
                code = send_to(members, data, bytes, parent_of(members));
        }
    return code;
}

int coll_members_pass_on(const coll_members *members, const void *data, size_t bytes) {
    int code = MPI_SUCCESS;
    for (int child = span_of(members) / 2; child > 0 && code == MPI_SUCCESS; child /= 2)
        if (members->own + child < members->count)
            code = send_to(members, data, bytes, members->own + child);
    return code;
}

int coll_members_bcast(const coll_members *members, void *data, size_t bytes) {
    int code =
        members->own == 0 ? MPI_SUCCESS : receive_from(members, data, bytes, parent_of(members));
    return code == MPI_SUCCESS ? coll_members_pass_on(members, data, bytes) : code;
}
