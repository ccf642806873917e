/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/state.h"

#include "watch/calls.h"
#include "watch/communicators.h"
#include "watch/message_counts.h"
#include "watch/recorder.h"
#include "watch/request_table.h"
#include "watch/ring.h"
#include "watch/stack.h"
#include "watch/ticks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLLECTIVES = 96, OPEN = 16, AWAITED = 64, COMMS = 256, MESSAGE_COUNTS = 512 };

/* Memory for the arrays of a state while it is being captured. */
typedef struct arrays {
    watch_record records[COLLECTIVES + OPEN];
    watch_awaited awaited[AWAITED];
    watch_comm_info comms[COMMS];
    watch_message_count message_counts[MESSAGE_COUNTS];
} arrays;

/* Converts ticks in a record from the ring into nanoseconds before now. */
static void convert_times(watch_record *record) {
    record->open = record->ended == 0;
    record->ended = record->open ? 0 : watch_ticks_ago(record->ended);
    record->begun = watch_ticks_ago(record->begun);
}

/*
 * Copies the open calls and the latest collectives, newest first. Sets *LAST to how many
 * nanoseconds ago the latest call ended.
 */
static void take_records(watch_state *state, uint64_t *last) {
    uint64_t latest = watch_ring_latest();
    uint64_t oldest = latest > WATCH_RING ? latest - WATCH_RING : 0;
    int open = 0, collectives = 0;
    *last = UINT64_MAX;
    for (uint64_t serial = latest; serial > oldest; serial--) {
        watch_record record;
        if (!watch_ring_read(serial, &record))
            continue;
        convert_times(&record);
        if (!record.open && record.ended < *last)
            *last = record.ended;
        bool wanted = record.open ? open++ < OPEN : record.number && collectives++ < COLLECTIVES;
        if (wanted)
            state->records[state->head.records++] = record;
    }
}

static void take_awaited(watch_state *state) {
    for (uint32_t i = 0; i < state->head.records; i++) {
        const watch_record *record = &state->records[i];
        if (!record->open || watch_calls[record->call].waits != WATCH_REQUESTS)
            continue;
        watch_awaited *free_ones = state->awaited + state->head.awaited;
        int found = watch_request_table_list(record->requests, record->count, free_ones,
                                             AWAITED - (int)state->head.awaited);
        for (int k = 0; k < found; k++)
            free_ones[k].waiter = record->serial;
        state->head.awaited += (uint32_t)found;
    }
}

static const watch_record *open_call_of(const watch_state *state, int thread) {
    for (uint32_t i = 0; i < state->head.records; i++)
        if (state->records[i].open && state->records[i].thread == thread)
            return &state->records[i];
    return NULL;
}

/* Stores where THREAD has made its open call or, if there is none, its stack. */
static void take_stack(watch_state *state, int thread) {
    const watch_record *open = open_call_of(state, thread);
    if (open) {
        watch_stack_name(open->caller, &state->head.stack[0]);
        state->head.frames = open->caller != 0;
        /* Calls from Fortran come through the MPI library, so the caller is not the program. */
        if (!open->caller || !watch_stack_is_mpi(&state->head.stack[0]))
            return;
    }
    state->head.frames = (uint8_t)watch_stack_take(thread, state->head.stack,
                                                   open ? 1 : WATCH_FRAMES, state->head.asleep);
}

bool watch_state_take(watch_state *state, int rank, int thread, bool stacks) {
    uint64_t last;
    bool overflown;
    watch_totals totals = watch_recorder_totals();
    *state = (watch_state){
        .fate = WATCH_ANSWERS,
        .head = {.rank = rank, .pid = getpid(), .calls = totals.calls, .bytes = totals.bytes}};
    arrays *all = calloc(1, sizeof *all);
    if (!all)
        return false;
    state->block = all;
    state->records = all->records;
    state->awaited = all->awaited;
    state->comms = all->comms;
    state->message_counts = all->message_counts;
    take_records(state, &last);
    take_awaited(state);
    state->head.comms = (uint32_t)watch_comm_list(state->comms, COMMS);
    state->head.message_counts =
        (uint32_t)watch_message_counts_list(state->message_counts, MESSAGE_COUNTS, &overflown);
    state->head.overflown = overflown;
    state->head.age = watch_ticks_age();
    state->head.inside = watch_ticks_length(totals.ticks);
    bool open = false;
    for (uint32_t i = 0; i < state->head.records; i++)
        open = open || state->records[i].open;
    state->head.outside = open ? 0 : last;
    if (stacks)
        take_stack(state, thread);
    return true;
}

void watch_state_free(watch_state *state) {
    free(state->block);
    *state = (watch_state){.fate = WATCH_SILENT, .head = {.rank = state->head.rank}};
}

uint64_t watch_state_oldest(uint64_t *call) {
    uint64_t latest = watch_ring_latest(), oldest = 0;
    *call = 0;
    uint64_t end = latest > WATCH_RING ? latest - WATCH_RING : 0;
    for (uint64_t serial = latest; serial > end; serial--) {
        watch_record record;
        if (!watch_ring_read(serial, &record) || record.ended)
            continue;
        oldest = watch_ticks_ago(record.begun);
        *call = serial;
    }
    return oldest;
}

/* Returns the number of bytes after the head. */
static size_t length_of_parts(const watch_state_head *head) {
    return head->records * sizeof(watch_record) + head->awaited * sizeof(watch_awaited) +
           head->comms * sizeof(watch_comm_info) +
           head->message_counts * sizeof(watch_message_count);
}

static char *append_bytes(char *next, const void *from, size_t length) {
    memcpy(next, from, length);
    return next + length;
}

void *watch_state_pack(const watch_state *state, size_t *length) {
    const watch_state_head *head = &state->head;
    *length = sizeof *head + length_of_parts(head);
    char *bytes = malloc(*length), *next = bytes;
    if (!bytes)
        return NULL;
    next = append_bytes(next, head, sizeof *head);
    next = append_bytes(next, state->records, head->records * sizeof *state->records);
    next = append_bytes(next, state->awaited, head->awaited * sizeof *state->awaited);
    next = append_bytes(next, state->comms, head->comms * sizeof *state->comms);
    append_bytes(next, state->message_counts, head->message_counts * sizeof *state->message_counts);
    return bytes;
}

/* Returns whether all indices into watch_calls and the number of frames are valid. Terminates all
 * strings. */
static bool is_sound(watch_state *state) {
    for (uint32_t i = 0; i < state->head.records; i++)
        if (state->records[i].call >= watch_call_count)
            return false;
    for (uint32_t i = 0; i < state->head.awaited; i++)
        if (state->awaited[i].call >= watch_call_count)
            return false;
    for (uint32_t i = 0; i < state->head.comms; i++) {
        if (state->comms[i].made_by >= watch_call_count)
            return false;
        state->comms[i].name[WATCH_NAME - 1] = '\0';
    }
    for (int i = 0; i < WATCH_FRAMES; i++) {
        state->head.stack[i].file[WATCH_PATH - 1] = '\0';
        state->head.stack[i].function[sizeof state->head.stack[i].function - 1] = '\0';
    }
    state->head.asleep[WATCH_NAME - 1] = '\0';
    return state->head.frames <= WATCH_FRAMES;
}

bool watch_state_unpack(watch_state *state, const void *bytes, size_t length) {
    enum { MOST = 1 << 16 }; /* limit of each count, so that no sum overflows */
    watch_state made = {.fate = WATCH_ANSWERS};
    watch_state_head *head = &made.head;
    if (length < sizeof *head)
        return false;
    memcpy(head, bytes, sizeof *head);
    length -= sizeof *head;
    if (head->records > MOST || head->awaited > MOST || head->comms > MOST ||
        head->message_counts > MOST || length != length_of_parts(head))
        return false;
    made.block = malloc(length + 1);
    if (!made.block)
        return false;
    memcpy(made.block, (const char *)bytes + sizeof *head, length);
    /* The size of each entry is a multiple of 8, so all arrays are aligned. */
    made.records = made.block;
    made.awaited = (watch_awaited *)(made.records + head->records);
    made.comms = (watch_comm_info *)(made.awaited + head->awaited);
    made.message_counts = (watch_message_count *)(made.comms + head->comms);
    if (!is_sound(&made)) {
        watch_state_free(&made);
        return false;
    }
    *state = made;
    return true;
}
