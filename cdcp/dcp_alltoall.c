/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall. The DCPs that take part are stations in a ring. All blocks from the ranks of one
 * station to the ranks of the station at a given distance travel together, by the digits of that
 * distance. A message of a stage carries all blocks whose distance has the same digit in this stage
 * (as in lib/alltoall/bruck.c). An item is a block. Blocks in transit are stored in the memory of
 * the blocks that finally arrive here from the same distance.
 *
 * Cost with D DCPs, k ranks to each, blocks of m bytes and radix r: log_r D stages, each with r - 1
 * messages of about k k m D / r bytes. Without DCPs, each rank would send D k - 1 messages of m
 * bytes.
 */
#include "config.h"

#include "cdcp/dcp_call.h"

#include "lib/base/error.h"
#include "lib/pattern/radix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_alltoall(int32_t code, int32_t count, char *text, size_t size) {
    (void)code;
    snprintf(text, size, "%d bytes for each rank", count);
}

static int alltoall_radix(const coll_server_comm *comm) {
    return comm->radix;
}

/*
 * Returns the blocks that travel TOTAL stations in all. At the end these are the blocks that have
 * come from the station at this distance. For TOTAL = comm->stations, returns the memory behind all
 * blocks, for a rank's result.
 */
static char *blocks_at_distance(const coll_dcp_call *call, int total) {
    return call->rows + (size_t)call->comm->place_of[total] * call->bytes;
}

static int station_at(const coll_server_comm *comm, int distance) {
    return (comm->position + distance + comm->stations) % comm->stations;
}

static int distance_from(const coll_server_comm *comm, int station) {
    return station_at(comm, -station);
}

static int distance_to(const coll_server_comm *comm, int station) {
    return (station - comm->position + comm->stations) % comm->stations;
}

static int begin_alltoall(coll_dcp_call *call) {
    const coll_server_comm *comm = call->comm;
    call->bytes = (size_t)call->count;
    size_t blocks = (size_t)comm->place_of[comm->stations] + (size_t)comm->ranks;
    size_t room = blocks * call->bytes + 1; /* at least 1 */
    if (room <= call->rows_room)
        return MPI_SUCCESS;
    char *rows = realloc(call->rows, room);
    if (!rows)
        return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for %zu bytes",
                          room);
    call->rows = rows;
    call->rows_room = room;
    return MPI_SUCCESS;
}

static int take_blocks(coll_dcp_call *call, int place, const void *values) {
    const coll_server_comm *comm = call->comm;
    for (int total = 0; total < comm->stations; total++) {
        int station = station_at(comm, total), served = coll_server_comm_served_by(comm, station);
        const int *ranks = coll_server_comm_ranks_of(comm, station);
        char *to = blocks_at_distance(call, total) + (size_t)(place * served) * call->bytes;
        for (int i = 0; i < served; i++)
            to = coll_dcp_put(to, (const char *)values + (size_t)ranks[i] * call->bytes,
                              call->bytes);
    }
    return MPI_SUCCESS;
}

/*
 * Returns the first distance after TOTAL whose digit of STAGE moves blocks by DISTANCE; if there is
 * none, a result that is not less than the number of stations.
 */
static int next_total(const coll_server_comm *comm, int stage, int distance, int total) {
    int worth = coll_radix_worth(comm->radix, stage);
    do
        total++;
    while (total < comm->stations && total / worth % comm->radix * worth != distance);
    return total;
}

static int count_items(const coll_dcp_call *call, int station, size_t *bytes) {
    const coll_server_comm *comm = call->comm;
    int distance = distance_to(comm, station), count = 0;
    *bytes = call->bytes;
    if (distance == 0) /* the blocks between this DCP's own ranks are in place */
        return 0;
    for (int total = distance; total < comm->stations;
         total = next_total(comm, call->sent, distance, total))
        count += coll_server_comm_blocks(comm, total, call->sent);
    return count;
}

/*
 * Copies COUNT of the blocks that move by DISTANCE in STAGE, beginning with number FIRST: to BODY,
 * or from ARRIVED if that isn't NULL.
 */
static void copy_blocks(const coll_dcp_call *call, int stage, int distance, int first, int count,
                        char *body, const char *arrived) {
    const coll_server_comm *comm = call->comm;
    for (int total = distance; count; total = next_total(comm, stage, distance, total)) {
        int blocks = coll_server_comm_blocks(comm, total, stage + (arrived != NULL));
        int moved = blocks - first < count ? blocks - first : count;
        if (moved > 0) {
            char *held = blocks_at_distance(call, total) + (size_t)first * call->bytes;
            size_t bytes = (size_t)moved * call->bytes;
            if (arrived) {
                memcpy(held, arrived, bytes);
                arrived += bytes;
            } else {
                memcpy(body, held, bytes);
                body += bytes;
            }
            count -= moved;
        }
        first = first > blocks ? first - blocks : 0;
    }
}

static void pack_items(const coll_dcp_call *call, int station, int first, int count, char *body) {
    copy_blocks(call, call->sent, distance_to(call->comm, station), first, count, body, NULL);
}

static int absorb_items(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    const coll_server_comm *comm = call->comm;
    int distance = distance_from(comm, comm->station_of[header->rank]);
    copy_blocks(call, header->depth, distance, header->first, header->items, NULL, body);
    return MPI_SUCCESS;
}

static size_t collect_result(const coll_dcp_call *call, int place, const void **found) {
    const coll_server_comm *comm = call->comm;
    char *row = blocks_at_distance(call, comm->stations);
    for (int total = 0; total < comm->stations; total++) {
        int station = station_at(comm, -total), served = coll_server_comm_served_by(comm, station);
        const int *ranks = coll_server_comm_ranks_of(comm, station);
        const char *from = blocks_at_distance(call, total) + (size_t)place * call->bytes;
        for (int i = 0; i < served; i++)
            coll_dcp_put(row + (size_t)ranks[i] * call->bytes,
                         from + (size_t)(i * comm->here) * call->bytes, call->bytes);
    }
    *found = row;
    return (size_t)comm->ranks * call->bytes;
}

const coll_dcp_service coll_dcp_alltoall = {
    .name = "alltoall",
    .radix = alltoall_radix,
    .describe = describe_alltoall,
    .begin = begin_alltoall,
    .take = take_blocks,
    .items = count_items,
    .pack = pack_items,
    .absorb = absorb_items,
    .result = collect_result,
};
