/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/format.h"

#include "watch/calls.h"
#include "watch/signature.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

watch_text watch_text_in(char *at, size_t room) {
    at[0] = '\0';
    return (watch_text){.at = at, .room = room};
}

void watch_append(watch_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at + text->length, text->room - text->length, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length;
    if (text->length >= text->room)
        text->length = text->room - 1;
}

void watch_append_ranks(watch_text *text, const int ranks[], int count) {
    watch_append(text, count == 1 ? "rank" : "ranks");
    for (int i = 0; i < count;) {
        int last = i;
        while (last + 1 < count && ranks[last + 1] == ranks[last] + 1)
            last++;
        if (last == i + 1)
            last = i; /* two consecutive ranks are listed individually */
        const char *before = i == 0 ? " " : last == count - 1 ? " and " : ", ";
        if (text->length + 60 > text->room && i > 0) {
            watch_append(text, ", ...");
            return;
        }
        watch_append(text, last > i ? "%s%d-%d" : "%s%d", before, ranks[i], ranks[last]);
        i = last + 1;
    }
}

int watch_shift_of(const watch_comm_info *info, int peer) {
    if (!info || info->inter || peer < 0 || peer >= info->size)
        return -1;
    return (peer - info->rank + info->size) % info->size;
}

static void append_shift(watch_text *text, const char *preposition, int shift, int size) {
    watch_append(text, " %s ", preposition);
    if (shift == 0)
        watch_append(text, "itself");
    else if (size == 2)
        watch_append(text, "the other rank");
    else if (shift == 1)
        watch_append(text, "the next rank");
    else if (shift == size - 1)
        watch_append(text, "the previous rank");
    else if (shift <= size / 2)
        watch_append(text, "its own rank + %d modulo %d", shift, size);
    else
        watch_append(text, "its own rank - %d modulo %d", size - shift, size);
}

/* Writes PREPOSITION and RANK or, if watch_shift_of returns a distance of RANK from INFO's rank,
 * PREPOSITION and this distance. */
static void append_rank(watch_text *text, const char *preposition, int rank,
                        const watch_comm_info *info) {
    int shift = watch_shift_of(info, rank);
    if (shift >= 0)
        append_shift(text, preposition, shift, info->size);
    else if (rank == MPI_ANY_SOURCE)
        watch_append(text, " %s any rank", preposition);
    else if (rank == MPI_PROC_NULL)
        watch_append(text, " %s no rank", preposition);
    else if (rank == MPI_ROOT)
        watch_append(text, " as root");
    else
        watch_append(text, " %s rank %d", preposition, rank);
}

static void append_tag(watch_text *text, int tag) {
    if (tag == MPI_ANY_TAG)
        watch_append(text, ", any tag");
    else
        watch_append(text, ", tag %d", tag);
}

void watch_append_call(watch_text *text, const watch_record *call) {
    watch_append_shifted_call(text, call, NULL);
}

void watch_append_shifted_call(watch_text *text, const watch_record *call,
                               const watch_comm_info *info) {
    const watch_call_kind *kind = &watch_calls[call->call];
    char data[64];
    watch_append(text, "%s", kind->name);
    if (call->data.known && kind->waits != WATCH_RECEIVE) {
        watch_signature_print(&call->data, data, sizeof data);
        watch_append(text, " of %s", data);
    }
    switch (kind->waits) {
    case WATCH_SEND:
        append_rank(text, "to", call->peer, info);
        append_tag(text, call->tag);
        break;
    case WATCH_RECEIVE:
    case WATCH_PROBE:
        append_rank(text, "from", call->peer, info);
        append_tag(text, call->tag);
        break;
    case WATCH_EXCHANGE:
        append_rank(text, "to", call->peer, info);
        append_tag(text, call->tag);
        watch_append(text, ", and");
        append_rank(text, "from", call->from, info);
        append_tag(text, call->from_tag);
        break;
    case WATCH_COLLECTIVE:
        if (kind->reduces)
            watch_append(text, " with %s", watch_op_name(call->op));
        if (kind->rooted)
            watch_append(text, ", root %d", call->peer);
        break;
    case WATCH_REQUESTS:
        if (call->count > 1)
            watch_append(text, " for %u requests", call->count);
        break;
    default:
        break;
    }
}

static void append_ordinal(watch_text *text, uint32_t number) {
    bool teen = number / 10 % 10 == 1;
    const char *end = teen               ? "th"
                      : number % 10 == 1 ? "st"
                      : number % 10 == 2 ? "nd"
                      : number % 10 == 3 ? "rd"
                                         : "th";
    watch_append(text, "%u%s", number, end);
}

const watch_comm_info *watch_comm_known(uint64_t id, const watch_state states[], int ranks) {
    for (int rank = 0; rank < ranks; rank++)
        for (uint32_t i = 0; i < states[rank].head.comms; i++)
            if (states[rank].comms[i].id == id)
                return &states[rank].comms[i];
    return NULL;
}

static void append_comm(watch_text *text, uint64_t id, const watch_state states[], int ranks,
                        int depth) {
    const watch_comm_info *comm = watch_comm_known(id, states, ranks);
    if (!comm) {
        watch_append(text, id == WATCH_WORLD ? "MPI_COMM_WORLD" : "a communicator that is freed");
    } else if (comm->name[0]) {
        watch_append(text, id == WATCH_WORLD ? "%s" : "\"%s\"", comm->name);
    } else if (!comm->parent) {
        watch_append(text, "a communicator of %d ranks", comm->size);
    } else {
        watch_append(text, "the communicator of %d ranks that %s made", comm->size,
                     watch_calls[comm->made_by].name);
        if (depth == 0) {
            watch_append(text, " as the ");
            append_ordinal(text, comm->parent_number);
            watch_append(text, " collective on ");
            append_comm(text, comm->parent, states, ranks, depth + 1);
        }
    }
}

void watch_append_comm(watch_text *text, uint64_t id, const watch_state states[], int ranks) {
    append_comm(text, id, states, ranks, 0);
}

void watch_append_call_comm(watch_text *text, const watch_record *call, const watch_state states[],
                            int ranks) {
    if (call->number) {
        watch_append(text, ", the ");
        append_ordinal(text, call->number);
        watch_append(text, " collective");
    }
    if (call->comm && (call->number || call->comm != WATCH_WORLD)) {
        watch_append(text, " on ");
        watch_append_comm(text, call->comm, states, ranks);
    }
}

void watch_append_time(watch_text *text, uint64_t nanoseconds) {
    double seconds = (double)nanoseconds * 1e-9;
    uint64_t tenths = (uint64_t)(seconds * 10 + 0.5);
    if (seconds < 120)
        watch_append(text, "%" PRIu64 ".%u s", tenths / 10, (unsigned)(tenths % 10));
    else
        watch_append(text, "%" PRIu64 " min", (uint64_t)(seconds / 60));
}
