/*
 * Alltoall: a DCP puts the blocks that its ranks have for the ranks of another one into one message
 * (or pieces of it, of whole rows). An item is a row: what one rank has for all of theirs.
 *
 * Cost with p ranks, k of them to a DCP, and blocks of m bytes: p / k - 1 messages of k k m bytes
 * from each DCP, where the ranks themselves would send p - 1 of m each.
 */
#include "config.h"

#include "cdcp/dcp_call.h"

#include "lib/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(int32_t code, int32_t count, char *text, size_t size) {
    (void)code;
    snprintf(text, size, "%d bytes for each rank", count);
}

/* All that a rank gives, or gets. */
static size_t row_bytes(const coll_dcp_call *call) {
    return (size_t)call->team->ranks * call->bytes;
}

static char *given_by(const coll_dcp_call *call, int place) {
    return call->rows + (size_t)place * row_bytes(call);
}

static char *wanted_by(const coll_dcp_call *call, int place) {
    return given_by(call, call->team->here + place);
}

static int begin(coll_dcp_call *call) {
    call->bytes = (size_t)call->count;
    size_t room = 2 * (size_t)call->team->here * row_bytes(call) + 1; /* also for no bytes */
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

static int take(coll_dcp_call *call, int place, const void *values) {
    coll_dcp_put(given_by(call, place), values, row_bytes(call));
    return MPI_SUCCESS;
}

static int items(const coll_dcp_call *call, int station, size_t *bytes) {
    *bytes = (size_t)coll_team_served_by(call->team, station) * call->bytes;
    return call->team->here;
}

static void pack(const coll_dcp_call *call, int station, int first, int count, char *body) {
    const int *ranks = coll_team_ranks_of(call->team, station);
    int served = coll_team_served_by(call->team, station);
    for (int i = first; i < first + count; i++)
        for (int j = 0; j < served; j++)
            body =
                coll_dcp_put(body, given_by(call, i) + (size_t)ranks[j] * call->bytes, call->bytes);
}

static int absorb(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    const coll_team *team = call->team;
    const int *ranks = coll_team_ranks_of(team, team->station_of[header->rank]) + header->first;
    for (int i = 0; i < header->items; i++)
        for (int place = 0; place < team->here; place++, body += call->bytes)
            coll_dcp_put(wanted_by(call, place) + (size_t)ranks[i] * call->bytes, body,
                         call->bytes);
    return MPI_SUCCESS;
}

static size_t result(const coll_dcp_call *call, int place, const void **found) {
    *found = wanted_by(call, place);
    return row_bytes(call);
}

const coll_dcp_service coll_dcp_alltoall = {
    .name = "alltoall",
    .direct = true,
    .describe = describe,
    .begin = begin,
    .take = take,
    .items = items,
    .pack = pack,
    .absorb = absorb,
    .result = result,
};
