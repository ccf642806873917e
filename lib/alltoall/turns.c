/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/alltoall/turns.h"

coll_turn coll_turn_of_even_racks(int ranks, int racks, int own, uint64_t nth) {
    const int size = ranks / racks, places = (int)(nth / (uint64_t)racks),
              further = (int)(nth % (uint64_t)racks), rack = own / size, place = own % size,
              before = (place - places + size) % size,
              to = (rack + further + place) % racks * size + (place + places) % size,
              from = (rack - (further + before) % racks + racks) % racks * size + before;
    return (coll_turn){.number = (int)nth,
                       .to = to == own ? COLL_NOBODY : to,
                       .from = from == own ? COLL_NOBODY : from};
}

/* Gives each position a slot; positions that prefer the same slot keep the order of the line. */
static void assign_slots(const coll_plan_args *args, coll_seat seats[]) {
    const int ranks = args->shape->topo->ranks;
    for (int i = 0; i < ranks; i++)
        seats[i] = (coll_seat){.before = 0};
    for (int begin = 0, count; begin < ranks; begin += count) {
        count = coll_plan_args_ranks(args, begin, COLL_UNIT_RACK);
        for (int i = 0; i < count; i++) {
            const int64_t halves = 2 * (int64_t)i + 1;
            seats[begin + i].wanted = (int)(halves * ranks / (2 * count));
            seats[seats[begin + i].wanted].before++;
        }
    }
    for (int i = 0, before = 0, here; i < ranks; i++, before += here) {
        here = seats[i].before;
        seats[i].before = before;
    }
    for (int i = 0; i < ranks; i++)
        seats[seats[seats[i].wanted].before++].sender = i;
}

int coll_turns_find(const coll_plan_args *args, coll_seat seats[], coll_turn turns[]) {
    const int ranks = args->shape->topo->ranks, own = args->line->position;
    int count = 0, slot = 0;
    assign_slots(args, seats);
    while (seats[slot].sender != own)
        slot++;
    for (int i = 0; i < ranks; i++) {
        const int to = (slot + i) % ranks, from = seats[(own - i + ranks) % ranks].sender;
        if (to != own)
            turns[count++] = (coll_turn){.number = i, .to = to, .from = from};
    }
    return count;
}
