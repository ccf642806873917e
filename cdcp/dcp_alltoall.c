/*
 * Alltoall: what the ranks of a DCP have for the ranks of the one so many stations further on goes
 * there together, by the digits of the way, in the same messages as all else that goes as far by
 * that digit (as in lib/alltoall/bruck.c). An item is a block. What is still on its way to others
 * has the place where what comes from so far will be in the end.
 *
 * Cost with D DCPs, k ranks to each, blocks of m bytes and radix r: log_r D stages, in each of them
 * r - 1 messages of about k k m D / r bytes. The ranks themselves would send D k - 1 of m each.
 */
#include "config.h"

#include "cdcp/dcp_call.h"

#include "lib/base/error.h"
#include "lib/pattern/radix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(int32_t code, int32_t count, char *text, size_t size) {
    (void)code;
    snprintf(text, size, "%d bytes for each rank", count);
}

static int radix(const coll_team *team) {
    return team->radix;
}

/* What goes WAY stations on, or has come from so far. */
static char *on_its_way(const coll_dcp_call *call, int way) {
    return call->rows + (size_t)call->team->place_of[way] * call->bytes;
}

static int station_at(const coll_team *team, int distance) {
    return (team->position + distance + team->stations) % team->stations;
}

static int distance_from(const coll_team *team, int station) {
    return station_at(team, -station);
}

static int distance_to(const coll_team *team, int station) {
    return (station - team->position + team->stations) % team->stations;
}

static int begin(coll_dcp_call *call) {
    const coll_team *team = call->team;
    call->bytes = (size_t)call->count;
    size_t blocks = (size_t)team->place_of[team->stations] + (size_t)team->ranks;
    size_t room = blocks * call->bytes + 1; /* also for no bytes */
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
    const coll_team *team = call->team;
    for (int way = 0; way < team->stations; way++) {
        int station = station_at(team, way), served = coll_team_served_by(team, station);
        const int *ranks = coll_team_ranks_of(team, station);
        char *to = on_its_way(call, way) + (size_t)(place * served) * call->bytes;
        for (int i = 0; i < served; i++)
            to = coll_dcp_put(to, (const char *)values + (size_t)ranks[i] * call->bytes,
                              call->bytes);
    }
    return MPI_SUCCESS;
}

/* The first way, after WAY, whose digit of STAGE takes it DISTANCE on; as many as there are
 * stations, or more: none. */
static int next_way(const coll_team *team, int stage, int distance, int way) {
    int worth = coll_radix_worth(team->radix, stage);
    do
        way++;
    while (way < team->stations && way / worth % team->radix * worth != distance);
    return way;
}

static int items(const coll_dcp_call *call, int station, size_t *bytes) {
    const coll_team *team = call->team;
    int distance = distance_to(team, station), count = 0;
    *bytes = call->bytes;
    if (distance == 0) /* its own are there */
        return 0;
    for (int way = distance; way < team->stations; way = next_way(team, call->sent, distance, way))
        count += coll_team_blocks(team, way, call->sent);
    return count;
}

/* Moves COUNT blocks from FIRST on of those that go DISTANCE in STAGE, to BODY or from it. */
static void move(const coll_dcp_call *call, int stage, int distance, int first, int count,
                 char *body, bool arrive) {
    const coll_team *team = call->team;
    for (int way = distance; count; way = next_way(team, stage, distance, way)) {
        int blocks = coll_team_blocks(team, way, stage + arrive);
        int moved = blocks - first < count ? blocks - first : count;
        if (moved > 0) {
            char *held = on_its_way(call, way) + (size_t)first * call->bytes;
            size_t bytes = (size_t)moved * call->bytes;
            memcpy(arrive ? held : body, arrive ? body : held, bytes);
            body += bytes;
            count -= moved;
        }
        first = first > blocks ? first - blocks : 0;
    }
}

static void pack(const coll_dcp_call *call, int station, int first, int count, char *body) {
    move(call, call->sent, distance_to(call->team, station), first, count, body, false);
}

static int absorb(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    const coll_team *team = call->team;
    int distance = distance_from(team, team->station_of[header->rank]);
    move(call, header->depth, distance, header->first, header->items, (char *)body, true);
    return MPI_SUCCESS;
}

static size_t result(const coll_dcp_call *call, int place, const void **found) {
    const coll_team *team = call->team;
    char *row = on_its_way(call, team->stations);
    for (int way = 0; way < team->stations; way++) {
        int station = station_at(team, -way), served = coll_team_served_by(team, station);
        const int *ranks = coll_team_ranks_of(team, station);
        const char *from = on_its_way(call, way) + (size_t)place * call->bytes;
        for (int i = 0; i < served; i++)
            coll_dcp_put(row + (size_t)ranks[i] * call->bytes,
                         from + (size_t)(i * team->here) * call->bytes, call->bytes);
    }
    *found = row;
    return (size_t)team->ranks * call->bytes;
}

const coll_dcp_service coll_dcp_alltoall = {
    .name = "alltoall",
    .radix = radix,
    .describe = describe,
    .begin = begin,
    .take = take,
    .items = items,
    .pack = pack,
    .absorb = absorb,
    .result = result,
};
