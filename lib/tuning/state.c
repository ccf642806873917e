/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/state.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"
#include "lib/comm/settings.h"
#include "lib/comm/setup.h"
#include "lib/tuning/autotune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether calls of OPERATION must give reproducible results. */
static bool is_reproducible(const coll_state *state, coll_operation operation) {
    return state->settings->reproducible && coll_operations[operation].reduces;
}

/* Returns whether OPERATION is left to the MPI library: the user asked for nothing else, and all
 * ranks are on one node. */
static bool is_left_to_mpi(const coll_state *state, coll_operation operation) {
    return !is_reproducible(state, operation) &&
           coll_select_native(&state->topo, &state->specs[operation]);
}

bool coll_state_always_native(const coll_state *state, coll_operation operation) {
    const coll_algorithm *asked = state->specs[operation].algorithm,
                         *head = coll_operations[operation].table[0];
    return asked ? asked == head && head->native : is_left_to_mpi(state, operation);
}

/* Resets the members of STATE that depend on OPERATION's settings. */
static void reset_choices(coll_state *state, coll_operation operation) {
    state->native[operation] = !state->trace && is_left_to_mpi(state, operation);
    state->native_calls[operation] = (coll_native_calls){.most = 0};
    state->warned[false] &= ~(1u << operation);
    state->warned[true] &= ~(1u << operation);
}

static int set_up_state(coll_comm *comm, bool ready) {
    coll_setup setup;
    int code = coll_setup_exchange(comm, ready, &setup);
    if (!ready) {
        coll_reserve_free(setup.own_settings);
        return code;
    }
    coll_state *state = coll_state_of(comm);
    state->comm = comm;
    state->common = setup.common;
    state->topo = setup.topo;
    state->own_settings = setup.own_settings;
    state->settings = setup.settings;
    state->trace = setup.settings && setup.settings->trace && comm->rank == 0;
    state->specs = setup.settings ? setup.settings->parsed : NULL;
    if (code != MPI_SUCCESS)
        return code;
    state->profile = &coll_job_cache_facts_of(state->common)->profile;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        reset_choices(state, (coll_operation)i);
    return MPI_SUCCESS;
}

static int open_whole(coll_comm *comm, coll_state *state) {
    const coll_topo *topo = &state->topo;
    int code = coll_setup_measure(comm, state->common, &state->topo);
    if (code == MPI_SUCCESS && state->trace)
        fprintf(stderr, "coll: topology ranks=%d nodes=%d racks=%d sites=%d why=\"%s\"\n",
                topo->ranks, topo->nodes, topo->racks, topo->sites,
                topo->origin ? topo->origin : "");
    return code;
}

/* Opens the state of a sub-communicator of libcoll's own, with the profile of the whole
 * communicator and without user settings. */
static int open_part(coll_comm *comm, coll_state *state, const coll_comm *whole) {
    static const coll_agreed_settings none = {.learn = COLL_AUTOTUNE_NOTHING};
    const coll_state *all = coll_state_of(whole);
    state->profile = all->profile;
    state->settings = &none;
    state->specs = none.parsed;
    return coll_topo_part(&all->topo, comm->ranks, comm->members, &state->topo);
}

static int open_state(coll_comm *comm, const coll_comm *whole) {
    coll_state *state = coll_state_of(comm);
    state->comm = comm;
    state->plain_type = state->known_type = MPI_DATATYPE_NULL;
    state->known_op = MPI_OP_NULL;
    return whole ? open_part(comm, state, whole) : open_whole(comm, state);
}

static void close_state(void *slot) {
    coll_state *state = slot;
    coll_topo_free(&state->topo);
    coll_job_cache_release(state->common);
    free(state->own_profile);
    coll_reserve_free(state->own_settings);
}

coll_comm_key coll_state_key = {
    .bytes = sizeof(coll_state), .set_up = set_up_state, .open = open_state, .close = close_state};

/* Gives the communicator its own copy of the settings. Returns false without memory. */
static bool make_own_settings(coll_state *state) {
    if (state->own_settings)
        return true;
    coll_agreed_settings *own = coll_reserve_alloc(sizeof *own);
    if (!own)
        return false;
    *own = *state->settings;
    state->settings = state->own_settings = own;
    state->specs = own->parsed;
    return true;
}

int coll_state_set(coll_state *state, coll_operation operation, const char *setting,
                   const char *spec) {
    coll_spec parsed;
    int code = coll_spec_parse(setting, spec, coll_operations[operation].table, &parsed);
    if (code == MPI_SUCCESS && state->settings->reproducible)
        code = coll_settings_check_reproducible(setting, &coll_operations[operation], &parsed);
    if (code == MPI_SUCCESS && !make_own_settings(state))
        code = coll_error(MPI_ERR_NO_MEM, "%s: no memory for settings", setting);
    if (code != MPI_SUCCESS)
        return code;
    state->own_settings->parsed[operation] = parsed;
    state->set = true;
    reset_choices(state, operation);
    return MPI_SUCCESS;
}

coll_shape coll_state_shape(const coll_state *state, coll_operation operation, size_t bytes,
                            int root) {
    return (coll_shape){
        .operation = operation,
        .sides = coll_operations[operation].sides,
        .bytes = bytes,
        .root = coll_operations[operation].rootless ? COLL_NO_ROOT : root,
        .element =
            coll_operations[operation].reduces, /* 1 if it reduces; the caller sets the true size */
        .ordered = is_reproducible(state, operation),
        .reproducible = is_reproducible(state, operation),
        .topo = &state->topo,
        .latencies = state->topo.latencies,
        .profile = state->profile};
}

/*
 * Returns whether the user's choice of an algorithm was meant for this communicator. The setting of
 * the whole job need not suit smaller communicators, such as those of the ranks of one host.
 */
static bool is_set_for_this(const coll_state *state) {
    int all;
    return state->set || coll_settings_has_info(state->comm->user) ||
           (PMPI_Comm_size(MPI_COMM_WORLD, &all) == MPI_SUCCESS && state->comm->ranks >= all);
}

/*
 * Prints on rank 0 that ASKED can't run CALL and that INSTEAD (NULL: the MPI library's own
 * algorithm) runs in its place. Prints nothing if ASKED was not meant for this communicator, if
 * there has been a warning about the operation on this communicator, or if the latest warning about
 * the operation in this process also named ASKED. Blocking and other calls count separately.
 */
static void warn_not_applicable(coll_state *state, bool started, const coll_shape *call,
                                const coll_algorithm *asked, const coll_algorithm *instead) {
    static const coll_algorithm *warned[2][COLL_OPERATIONS];
    const coll_operation operation = call->operation;
    const unsigned bit = 1u << operation;
    if (state->warned[started] & bit)
        return;
    state->warned[started] |= bit;
    if (state->comm->rank != 0 || !is_set_for_this(state) ||
        __atomic_exchange_n(&warned[started][operation], asked, __ATOMIC_RELAXED) == asked)
        return;
    fprintf(stderr, "coll: %s was asked for, but can't run %s %s here: %s; %s runs instead\n",
            asked->name, started ? "a nonblocking or persistent" : "the",
            coll_operations[operation].name, coll_select_obstacle(asked, call),
            instead ? instead->name : "native");
}

coll_choices coll_state_likely(coll_state *state, bool started, const coll_shape *call) {
    const coll_spec *asked = &state->specs[call->operation];
    /* Communicators with the same key may have different edges, on which neighbourhood collectives
     * depend. */
    const bool cached = !coll_operations[call->operation].neighbors;
    const coll_selected_by by = started ? COLL_BY_SELECT_STARTED
                                : coll_state_may_try(state, call->operation) ? COLL_BY_SELECT_LIKELY
                                                                             : COLL_BY_SELECT;
    coll_choices choices;
    if (cached && !state->key)
        state->key = coll_choice_cache_key(
            state->common ? coll_job_cache_facts_of(state->common)->id : 0, &state->topo);
    if (!cached || !coll_choice_cache_find(state->key, asked, by, call, &choices)) {
        choices = by == COLL_BY_SELECT_LIKELY
                      ? coll_select_likely(call, asked)
                      : (coll_choices){1,
                                       {by == COLL_BY_SELECT ? coll_select(call, asked)
                                                             : coll_select_started(call, asked)}};
        if (cached)
            coll_choice_cache_keep(state->key, asked, by, call, &choices);
    }
    if (asked->algorithm && choices.of[0].algorithm != asked->algorithm)
        warn_not_applicable(state, started, call, asked->algorithm, choices.of[0].algorithm);
    return choices;
}

/* Adds calls like CALL, which the MPI library runs, to the native calls of its operation. Replaces
 * these if they have other properties, or if there is a gap between the bytes of the two. */
static void add_native_calls(coll_state *state, const coll_shape *call) {
    coll_native_calls *known = &state->native_calls[call->operation],
                      next = {.element = coll_native_element(call->element),
                              .served = call->served,
                              .ordered = call->ordered};
    const bool alike = known->element == next.element && known->served == next.served &&
                       known->ordered == next.ordered;
    if (alike && coll_state_is_native(state, call->operation, call->bytes))
        return;
    coll_select_range(call, &next.least, &next.most);
    if (alike && next.least == known->most + 1)
        next.least = known->least;
    else if (alike && known->least == next.most + 1)
        next.most = known->most;
    *known = next;
}

coll_choice coll_state_choose(coll_state *state, const coll_shape *call, bool *learns) {
    coll_choice choice = coll_state_likely(state, false, call).of[0];
    *learns = !coll_autotune_settled(state->comm, call, &choice);
    if (state->topo.sites == 1 && !state->trace && !*learns &&
        choice.algorithm == coll_operations[call->operation].table[0])
        add_native_calls(state, call);
    return choice;
}

coll_choice coll_state_choose_started(coll_state *state, const coll_shape *call) {
    coll_choice choice = coll_state_likely(state, true, call).of[0];
    coll_autotune_started(state->comm, call, &choice);
    return choice;
}
