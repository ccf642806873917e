/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/comm/setup.h"

#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/members.h"
#include "lib/base/reserve_alloc.h"
#include "lib/base/textfile.h"
#include "lib/cost/network_cache.h"
#include "lib/topology/contention_probe.h"
#include "lib/topology/findracks.h"
#include "lib/topology/tcp_info.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each rank's message to rank 0. */
typedef struct contribution {
    int64_t known;    /* id of this rank's cached entry that covers all these ranks; 0: none */
    bool ready;       /* this rank has memory for the communicator's state */
    bool has_timeout; /* this rank's COLL_TIMEOUT is set */
    coll_rank_info
        report; /* only its used bytes are sent: most hosts have short names and few cores */
} contribution;

/* Rank 0's decision. If there is an error, or MORE is not 0, only MORE, ERROR and TEXT are sent. */
typedef struct decision {
    size_t more; /* if not 0: repeat the gather with this many bytes for each rank */
    int error;   /* class of the error, or MPI_SUCCESS */
    char text[MPI_MAX_ERROR_STRING];
    bool known; /* all ranks have the same facts cached */
    coll_agreed_settings settings;
    coll_job_cache_facts facts; /* unless KNOWN */
} decision;

/*
 * Contributions have USUAL bytes unless some rank needs more. The first HEAD bytes of the decision
 * are one message; with a measured profile or many ranks the rest follows in further messages.
 */
enum { USUAL = 256, HEAD = 512 + MPI_MAX_ERROR_STRING };

/* The state of a set-up; allocated, since MPI may still write to it after an error. */
typedef struct exchange {
    coll_comm *comm;
    coll_members ranks; /* all ranks of COMM */
    struct {
        int unready;        /* a rank has no memory for the communicator's state */
        int has_timeout;    /* a rank's COLL_TIMEOUT is set */
    } own_arrival, arrival; /* this rank's, and the greatest of all ranks */
    coll_world world;
    coll_job_cache *common; /* this rank's cached entry for these ranks; or NULL */
    coll_topo places;       /* the ranks' places according to COMMON */
    contribution own;
    contribution passing; /* another rank's, on its way to rank 0 */
    size_t contribution_bytes;
    char *contributions; /* on rank 0: those of all ranks; NULL: out of memory */
    struct {
        size_t bytes; /* of the decision */
        bool verify;  /* all ranks must confirm that they have adopted the decision */
        char first[HEAD];
    } head;
    bool verify;   /* on rank 0: all ranks must confirm, whatever the length of the decision;
                      HEAD.verify is also set if the decision is longer than HEAD bytes */
    bool complete; /* this rank has the whole decision */
    int good, all_good;
    decision decision;
} exchange;

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "no memory for a communicator's state on some rank");
}

static bool is_root(const exchange *x) {
    return x->comm->rank == 0;
}

/* Marks the communicator broken if CODE is an error. Returns CODE. */
static int mark_broken(exchange *x, int code) {
    if (code != MPI_SUCCESS)
        x->comm->broken = code;
    return code;
}

/*
 * Agreements after which ranks wait inside the MPI library, without a timeout: if one rank's
 * timeout expires just before the last rank arrives, the others may not notice that. So they agree
 * a second time, with a timeout LONGER times as long, so that no rank gives up while others are
 * still arriving.
 */
enum { LONGER = 10 };

/* --- A communicator of libcoll's own --- */

/* Sets x->arrival from all ranks. */
static int await_all_ranks(exchange *x) {
    MPI_Request request;
    const int count = sizeof x->arrival / sizeof(int);
    int code = PMPI_Iallreduce(&x->own_arrival, &x->arrival, count, MPI_INT, MPI_MAX, x->comm->user,
                               &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&x->comm->wait, 1, &request, NULL);
    return mark_broken(x, code);
}

/*
 * Duplicates the user's communicator after all ranks have arrived. Before that there is none to
 * send messages on, only the MPI library's collectives. A gather by these would open a connection
 * from rank 0 to each other rank.
 */
static int duplicate(exchange *x, bool ready) {
    x->own_arrival.unready = !ready;
    x->own_arrival.has_timeout = x->comm->wait.timeout > 0;
    int code = await_all_ranks(x);
    if (code == MPI_SUCCESS && x->arrival.has_timeout) {
        x->comm->wait.timeout *= LONGER;
        code = await_all_ranks(x);
        x->comm->wait.timeout /= LONGER;
    }
    if (code == MPI_SUCCESS && x->arrival.unready)
        code = no_memory();
    return code == MPI_SUCCESS ? coll_comm_duplicate(x->comm) : code;
}

/* --- The ranks' contributions --- */

static contribution *contribution_of(const exchange *x, int rank) {
    return (contribution *)(x->contributions + (size_t)rank * x->contribution_bytes);
}

static size_t needed_bytes(const contribution *one) {
    const size_t unit = alignof(contribution);
    size_t bytes = offsetof(contribution, report) + coll_rank_info_bytes(&one->report);
    return (bytes + unit - 1) / unit * unit;
}

/* Gathers BYTES at OWN of each rank in ALL on rank 0. */
static int gather(exchange *x, const void *own, size_t bytes, void *all) {
    return mark_broken(x, coll_members_gather(&x->ranks, own, bytes, all, &x->passing));
}

/* Even if rank 0 has no memory for all contributions, it must take part in the gather before it can
 * report the error to the other ranks. */
static int gather_contributions(exchange *x) {
    const size_t bytes = x->contribution_bytes;
    coll_reserve_free(x->contributions);
    x->contributions = is_root(x) ? coll_reserve_alloc((size_t)x->comm->ranks * bytes) : NULL;
    return gather(x, &x->own, bytes, x->contributions);
}

/* --- Rank 0's decision --- */

static void set_error(decision *made, int class, const char *text) {
    made->error = class;
    snprintf(made->text, sizeof made->text, "%s", text);
}

static void set_error_code(decision *made, int code) {
    int length;
    made->error = coll_error_class(code);
    PMPI_Error_string(code, made->text, &length);
}

/* Makes the topology from the reports of all ranks, with racks and sites as far as they are known
 * without a measurement. Returns false if memory is short. */
static bool find_places(const exchange *x, const char *source, coll_job_cache_facts *facts,
                        char *problem) {
    const coll_rank_infos all = {(const char *)&contribution_of(x, 0)->report,
                                 x->contribution_bytes};
    coll_topo *topo = &facts->topo;
    if (!coll_topo_make(&all, x->comm->ranks, topo))
        return false;
    int *racks = calloc(2 * (size_t)topo->nodes, sizeof *racks);
    if (!racks)
        return false;
    const coll_topology_source_state at = {.nodes = topo->nodes,
                                           .hosts = topo->hosts,
                                           .racks = racks,
                                           .sites = racks + topo->nodes,
                                           .note = topo->origin,
                                           .doubtful = &facts->doubtful};
    facts->rest = coll_topology_source(&at, source, problem);
    coll_topo_locate(topo, at.racks, at.sites);
    free(racks);
    return true;
}

/*
 * Returns whether the network is to be measured: the user named neither a profile nor a flat
 * topology, there are enough hosts for a choice of algorithms to matter, and the profile is the
 * built-in one. The result is the same on all ranks.
 */
static bool probes_network(const coll_agreed_settings *settings,
                           const coll_job_cache_facts *facts) {
    enum { FEWEST = 3 };
    return !*settings->profile && strcmp(settings->topology, "flat") != 0 &&
           facts->topo.nodes >= FEWEST && coll_profile_is_builtin(&facts->profile);
}

/* Completes the built-in profile with what this rank, or an earlier job, knows of the network. */
static void complete_profile(const coll_agreed_settings *settings, coll_job_cache_facts *facts) {
    coll_profile_set_round_trip(&facts->profile, coll_tcp_info_round_trip());
    if (facts->rest == COLL_TOPOLOGY_SOURCE_NOTHING && probes_network(settings, facts))
        (void)coll_network_cache_load(&facts->topo, &facts->profile);
}

static void find_facts(const exchange *x, decision *made) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    coll_job_cache_facts *facts = &made->facts;
    if (!find_places(x, made->settings.topology, facts, problem)) {
        set_error(made, MPI_ERR_NO_MEM, "no memory for the ranks' topology");
        return;
    }
    if (!*problem)
        coll_profile_load(made->settings.profile, &facts->topo, &facts->profile, problem);
    if (*problem)
        set_error(made, MPI_ERR_FILE, problem);
    else if (coll_profile_is_builtin(&facts->profile))
        complete_profile(&made->settings, facts);
    facts->id = coll_job_cache_number(&x->world);
}

/* Makes the decision from all contributions. It may already have an error of rank 0's settings. */
static void make_decision(exchange *x) {
    decision *made = &x->decision;
    bool ready = true;
    made->known = x->common;
    made->more = 0;
    if (!x->contributions) {
        set_error_code(made, no_memory());
        return;
    }
    for (int rank = 0; rank < x->comm->ranks; rank++) {
        const contribution *one = contribution_of(x, rank);
        ready = ready && one->ready;
        x->verify = x->verify || one->has_timeout;
        made->known = made->known && one->known == x->own.known;
        if (needed_bytes(one) > x->contribution_bytes && needed_bytes(one) > made->more)
            made->more = needed_bytes(one);
    }
    if (!ready)
        set_error_code(made, no_memory());
    if (made->known || made->error != MPI_SUCCESS)
        made->more = 0;
    if (made->known || made->more || made->error != MPI_SUCCESS)
        return;
    x->verify = true;
    find_facts(x, made);
}

/* --- The decision's broadcast --- */

static void carry_decision(coll_pack_buffer *pack, decision *made) {
    coll_pack_buffer_move(pack, &made->more, sizeof made->more);
    coll_pack_buffer_move(pack, &made->error, sizeof made->error);
    coll_pack_buffer_move_text(pack, made->text, sizeof made->text);
    if (made->more || made->error != MPI_SUCCESS)
        return;
    coll_pack_buffer_move(pack, &made->known, sizeof made->known);
    coll_settings_carry(pack, &made->settings);
    if (made->known)
        return;
    coll_pack_buffer_move(pack, &made->facts.id, sizeof made->facts.id);
    coll_pack_buffer_move(pack, &made->facts.rest, sizeof made->facts.rest);
    coll_topo_carry(pack, &made->facts.topo);
    coll_profile_carry(pack, &made->facts.profile);
}

/* Packs rank 0's decision. If there is no memory for the decision, packs the error MPI_ERR_NO_MEM
 * instead, which fits in the reserve. */
static coll_pack_buffer pack_decision(decision *made) {
    coll_pack_buffer pack = {.bytes = NULL};
    carry_decision(&pack, made);
    if (!pack.failed)
        return pack;
    coll_pack_buffer_free(&pack);
    set_error_code(made, no_memory());
    carry_decision(&pack, made);
    return pack;
}

static int broadcast(exchange *x, void *bytes, size_t count) {
    return mark_broken(x, coll_members_bcast(&x->ranks, bytes, count));
}

/* Broadcasts the bytes beyond the head through the communicator's scratch memory, which all ranks
 * have. */
static int broadcast_rest(exchange *x, const coll_pack_buffer *packed, char *whole) {
    size_t all = x->head.bytes, most = x->comm->scratch_bytes;
    char *scratch = x->comm->scratch;
    int code = MPI_SUCCESS;
    for (size_t at = HEAD; at < all && code == MPI_SUCCESS; at += most) {
        size_t now = all - at < most ? all - at : most;
        if (is_root(x))
            memcpy(scratch, packed->bytes + at, now);
        code = broadcast(x, scratch, now);
        if (whole)
            memcpy(whole + at, scratch, now);
    }
    return code;
}

static int broadcast_decision(exchange *x) {
    coll_pack_buffer packed = pack_decision(&x->decision);
    x->head.bytes = packed.length;
    x->head.verify = x->verify || packed.length > HEAD;
    x->complete = !packed.failed;
    memcpy(x->head.first, packed.bytes, packed.length < HEAD ? packed.length : HEAD);
    int code = broadcast(x, &x->head, sizeof x->head);
    if (code == MPI_SUCCESS)
        code = broadcast_rest(x, &packed, NULL);
    coll_pack_buffer_free(&packed);
    return code;
}

/* Receives the decision. A rank without memory for the decision still takes part in all broadcasts,
 * and reports the error in agree_on_success. */
static int receive_decision(exchange *x) {
    int code = broadcast(x, &x->head, sizeof x->head);
    if (code != MPI_SUCCESS)
        return code;
    char *whole = malloc(x->head.bytes < HEAD ? HEAD : x->head.bytes);
    if (whole)
        memcpy(whole, x->head.first, HEAD);
    code = broadcast_rest(x, NULL, whole);
    coll_pack_buffer packed = coll_pack_buffer_open(whole ? whole : x->head.first);
    if (code == MPI_SUCCESS && (whole || x->head.bytes <= HEAD)) {
        carry_decision(&packed, &x->decision);
        x->complete = !packed.failed;
    }
    free(whole);
    return code;
}

/* --- The whole exchange --- */

/* Agrees on whether GOOD holds on all ranks. */
static int agree_on_success(exchange *x, bool good, bool *all) {
    int *of_ranks = (int *)x->contributions; /* no longer needed */
    x->good = x->all_good = good;
    x->comm->wait.timeout *= LONGER;
    int code = gather(x, &x->good, sizeof x->good, of_ranks);
    for (int rank = 0; code == MPI_SUCCESS && is_root(x) && rank < x->comm->ranks; rank++)
        x->all_good = x->all_good && of_ranks[rank];
    if (code == MPI_SUCCESS)
        code = broadcast(x, &x->all_good, sizeof x->all_good);
    x->comm->wait.timeout /= LONGER;
    *all = x->all_good;
    return code;
}

/* Prepares this rank's contribution, and on rank 0 the settings. Returns false if out of memory. */
static bool prepare_contribution(exchange *x) {
    coll_agreed_settings *settings = &x->decision.settings;
    int code = is_root(x) ? coll_settings_read(x->comm->user, settings) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        set_error_code(&x->decision, code);
    if (coll_rank_info_make(&x->own.report) != MPI_SUCCESS ||
        coll_world_find(x->comm->user, x->comm->ranks, &x->world) != MPI_SUCCESS)
        return false;
    x->common =
        coll_job_cache_find(&x->world, &x->own.report, is_root(x) ? settings->topology : NULL,
                            settings->profile, &x->places);
    x->own.known = x->common ? coll_job_cache_facts_of(x->common)->id : 0;
    return true;
}

static int run_exchange(exchange *x, bool ready) {
    int code = MPI_SUCCESS;
    x->own.ready = prepare_contribution(x) && ready;
    x->own.has_timeout = x->comm->wait.timeout > 0;
    x->contribution_bytes = USUAL;
    do {
        code = gather_contributions(x);
        if (code == MPI_SUCCESS && is_root(x))
            make_decision(x);
        if (code == MPI_SUCCESS)
            code = is_root(x) ? broadcast_decision(x) : receive_decision(x);
        x->contribution_bytes = x->decision.more;
    } while (code == MPI_SUCCESS && x->contribution_bytes > 0);
    if (code == MPI_SUCCESS && x->decision.error != MPI_SUCCESS)
        code = coll_error(x->decision.error, "%s", x->decision.text);
    return code;
}

/* Initializes WAIT from this rank's environment, for the time until rank 0's settings are known. */
static void init_local_wait(coll_wait *wait) {
    int manner = COLL_WAIT_AUTO;
    double timeout = 0;
    (void)coll_env_word("COLL_WAIT", coll_wait_manners, &manner);
    (void)coll_env_seconds("COLL_TIMEOUT", &timeout);
    coll_wait_init(wait, false, (coll_wait_manner)manner, timeout);
}

/* Moves the decision into SETUP. Returns false if out of memory. */
static bool adopt_decision(exchange *x, coll_setup *setup) {
    decision *made = &x->decision;
    coll_job_cache_facts *facts = &made->facts;
    if (!x->complete)
        return false;
    *setup->own_settings = made->settings;
    setup->settings = setup->own_settings;
    if (made->known) {
        setup->common = x->common;
        setup->topo = x->places;
        x->common = NULL;
        x->places = (coll_topo){.ranks = 0};
        return true;
    }
    strcpy(facts->topology, made->settings.topology);
    strcpy(facts->source, made->settings.profile);
    facts->report = x->own.report;
    facts->probes_network = probes_network(&made->settings, facts);
    setup->common = coll_job_cache_make(facts, &x->world);
    if (!setup->common)
        return false;
    facts->topo = (coll_topo){.ranks = 0};
    return coll_topo_part(&coll_job_cache_facts_of(setup->common)->topo, x->world.count,
                          x->world.own, &setup->topo) == MPI_SUCCESS;
}

static void free_exchange(exchange *x) {
    coll_job_cache_release(x->common);
    coll_topo_free(&x->places);
    coll_topo_free(&x->decision.facts.topo);
    coll_world_free(&x->world);
    if (x->comm->broken != MPI_SUCCESS) {
        coll_wait_leave(x->contributions);
        coll_wait_leave(x);
        return;
    }
    coll_reserve_free(x->contributions);
    coll_reserve_free(x);
}

/* Applies COMM's info keys, if it has any, to a copy of the job's settings. */
static int apply_info_keys(coll_comm *comm, coll_setup *setup) {
    if (!coll_settings_has_info(comm->user))
        return MPI_SUCCESS;
    coll_agreed_settings *own = coll_reserve_alloc(sizeof *own);
    if (!own)
        return no_memory();
    *own = *setup->settings;
    setup->settings = setup->own_settings = own;
    int code = coll_settings_read_info(comm->user, own);
    return code == MPI_SUCCESS ? coll_settings_parse(own) : code;
}

/* --- The job --- */

/* The job's facts, known to every process of MPI_COMM_WORLD after COLL_Setup_job. */
static struct {
    coll_job_cache *common; /* NULL: the job isn't known */
    coll_agreed_settings settings;
    const COLL_Transport *transport; /* NULL: the job is not to be set up as a whole */
} job;

void coll_setup_begin_job(const COLL_Transport *transport) {
    job.transport = transport;
}

void coll_setup_keep_job(coll_job_cache *common, const coll_agreed_settings *settings) {
    coll_job_cache_retain(common);
    job.common = common;
    job.settings = *settings;
}

static void use_transport(coll_comm *comm) {
    comm->private = comm->user;
    comm->transport = job.transport;
}

/* Sets COMM up from the job's facts. Returns false, on all ranks, if the job is not known or COMM
 * has a process of another job. Otherwise returns true and sets *CODE to the result. Local. */
static bool set_up_from_job(coll_comm *comm, bool ready, coll_setup *setup, int *code) {
    if (!job.transport || !job.common)
        return false;
    int *ranks = coll_reserve_alloc((size_t)comm->ranks * sizeof *ranks);
    if (ranks && !job.transport->world_ranks(comm->user, ranks)) {
        coll_reserve_free(ranks);
        return false;
    }
    const bool good = ranks && ready &&
                      coll_topo_part(&coll_job_cache_facts_of(job.common)->topo, comm->ranks, ranks,
                                     &setup->topo) == MPI_SUCCESS;
    coll_reserve_free(ranks);
    if (!good) {
        *code = no_memory();
        return true;
    }
    coll_job_cache_retain(job.common);
    setup->common = job.common;
    setup->settings = &job.settings;
    use_transport(comm);
    coll_wait_init(&comm->wait, setup->topo.crowded, job.settings.manner, job.settings.timeout);
    *code = apply_info_keys(comm, setup);
    return true;
}

int coll_setup_exchange(coll_comm *comm, bool ready, coll_setup *setup) {
    bool all = true;
    int code = MPI_SUCCESS;
    *setup = (coll_setup){.common = NULL};
    if (set_up_from_job(comm, ready, setup, &code))
        return code;
    exchange *x = coll_reserve_calloc(1, sizeof *x);
    if (!x)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", sizeof *x);
    x->comm = comm;
    x->ranks = coll_members_all(comm, COLL_TAG_COLLECTIVE);
    init_local_wait(&comm->wait);
    setup->own_settings = coll_reserve_alloc(sizeof *setup->own_settings);
    ready = ready && setup->own_settings;
    if (job.transport && !job.common)
        use_transport(comm);
    else
        code = duplicate(x, ready);
    if (code == MPI_SUCCESS)
        code = run_exchange(x, ready);
    if (code == MPI_SUCCESS) {
        bool taken = adopt_decision(x, setup);
        if (x->head.verify)
            code = agree_on_success(x, taken, &all);
    }
    if (code == MPI_SUCCESS && !all)
        code = no_memory();
    if (code == MPI_SUCCESS)
        code = coll_settings_parse(setup->own_settings);
    if (code == MPI_SUCCESS)
        coll_wait_init(&comm->wait, setup->topo.crowded, setup->settings->manner,
                       setup->settings->timeout);
    free_exchange(x);
    return code;
}

/* --- Measurements --- */

/* Stores racks and sites, found as NOTE says, in COMMON and TOPO. */
static void locate(coll_job_cache *common, coll_topo *topo, int racks[], int sites[],
                   const char *note) {
    coll_topo_locate(topo, racks, sites);
    coll_job_cache_locate(common, racks, sites, note);
    free(topo->origin);
    topo->origin = strdup(note); /* only for display, so NULL is fine if strdup fails */
}

/* Measures racks and sites, and stores them in COMMON and TOPO. Sets *DOUBTFUL to whether there may
 * be racks that this did not show. */
static int measure_places(coll_comm *comm, coll_job_cache *common, coll_topo *topo,
                          bool *doubtful) {
    const coll_job_cache_facts *facts = coll_job_cache_facts_of(common);
    char note[COLL_TOPOLOGY_SOURCE_NOTE] = "";
    void *scratch;
    const size_t numbers = 3 * (size_t)topo->nodes;
    int code = coll_comm_scratch(
        comm, numbers * sizeof(int) + coll_topology_source_bytes(topo->nodes), &scratch);
    if (code != MPI_SUCCESS)
        return code;
    int *racks = scratch, *sites = racks + topo->nodes, *leaders = sites + topo->nodes;
    coll_topo_first_ranks(topo, leaders);
    for (int node = 0; node < topo->nodes; node++) {
        const coll_place *place = &topo->places[leaders[node]];
        racks[node] = place->rack;
        sites[node] = place->site;
    }
    const coll_topology_source_state at = {topo->nodes, topo->hosts, racks, sites, note, doubtful};
    code = coll_topology_source_rest_of(comm, facts->rest, facts->topology, leaders,
                                        racks + numbers, &at);
    if (code != MPI_SUCCESS)
        return code;
    locate(common, topo, racks, sites, note);
    return MPI_SUCCESS;
}

/* Finds racks by the contention at their uplinks, and stores them in COMMON and TOPO. */
static int find_hidden_racks(coll_comm *comm, coll_job_cache *common, coll_topo *topo) {
    const char *how = "transfers to other racks took longer";
    const double latency = coll_job_cache_facts_of(common)->profile.level[COLL_LEVEL_RACK].latency;
    char note[COLL_TOPOLOGY_SOURCE_NOTE];
    void *scratch;
    const size_t room = 2 * (size_t)topo->nodes * sizeof(int);
    int code = coll_comm_scratch(comm, room + coll_contention_probe_bytes(topo->nodes), &scratch);
    if (code != MPI_SUCCESS)
        return code;
    int *racks = memset(scratch, 0, room), *sites = racks + topo->nodes;
    bool found;
    code = coll_contention_probe(comm, topo, latency, (char *)scratch + room, racks, &found);
    if (code == MPI_SUCCESS && found) {
        const coll_topology_source_state at = {topo->nodes, topo->hosts, racks, sites, note, NULL};
        strcpy(note, how);
        if (comm->rank == 0)
            coll_topology_source_keep(&at, how);
        locate(common, topo, racks, sites, note);
    }
    coll_comm_release_scratch(comm);
    return code;
}

/* Measures the network between the hosts of TOPO, stores the rates in COMMON, and keeps them for
 * later jobs. Measures nothing if the hosts are in several sites. */
static int measure_network(coll_comm *comm, coll_job_cache *common, const coll_topo *topo) {
    coll_profile profile = coll_job_cache_facts_of(common)->profile;
    coll_network_rates rates;
    int code = MPI_SUCCESS;
    if (topo->sites == 1) {
        code = coll_network_probe(comm, topo, profile.level[COLL_LEVEL_RACK].latency, &rates);
        if (code != MPI_SUCCESS)
            return code;
        coll_profile_set_rates(&profile, topo, &rates);
        if (comm->rank == 0)
            coll_network_cache_save(topo, &profile);
    }
    coll_job_cache_set_profile(common, &profile);
    return MPI_SUCCESS;
}

int coll_setup_measure(coll_comm *comm, coll_job_cache *common, coll_topo *topo) {
    const coll_job_cache_facts *facts = coll_job_cache_facts_of(common);
    bool doubtful = facts->doubtful;
    int code = MPI_SUCCESS;
    if (facts->rest != COLL_TOPOLOGY_SOURCE_NOTHING)
        code = measure_places(comm, common, topo, &doubtful);
    if (code == MPI_SUCCESS && facts->probes_network && doubtful && topo->racks == 1)
        code = find_hidden_racks(comm, common, topo);
    if (code == MPI_SUCCESS && facts->probes_network)
        code = measure_network(comm, common, topo);
    return code;
}
