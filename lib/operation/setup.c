#include "config.h"

#include "lib/operation/setup.h"

#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/base/textfile.h"
#include "lib/operation/job.h"
#include "lib/place/tcp_info.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each rank tells. */
typedef struct word {
    int64_t known;   /* the id of what it knows of all these ranks, or 0 */
    bool ready;      /* it has memory for the communicator's state */
    bool patient;    /* it waits for so long only */
    coll_report own; /* cut where it ends: few hosts have long names, or so many cores */
} word;

/* What rank 0 decides, up to where it is not good. */
typedef struct decision {
    size_t more; /* a word is so long on some rank, and all are to be told anew; 0: none is */
    int error;   /* its class, or MPI_SUCCESS */
    char text[MPI_MAX_ERROR_STRING];
    bool known; /* all know what they have in common */
    coll_agreed_settings settings;
    coll_common_facts facts; /* unless they are known */
} decision;

/*
 * Words go in USUAL bytes unless some rank needs more; of the decision the first HEAD bytes are in
 * one message, and with a measured profile or many ranks the rest in another.
 */
enum { USUAL = 256, HEAD = 512 + MPI_MAX_ERROR_STRING };

/* MPI may still write to it after an error. */
typedef struct meeting {
    coll_comm *comm;
    coll_world world;
    coll_common *common; /* what this rank knows, and the ranks' places by that */
    coll_topo places;
    word mine;
    size_t word_bytes;
    char *words;   /* on rank 0: all ranks' */
    bool one_word; /* without memory for them: one of them, and nobody knows whose */
    struct {
        size_t bytes; /* of the decision */
        bool verify;  /* whether all could do as they were told */
        char first[HEAD];
    } head;
    bool verify; /* on rank 0 */
    bool told;   /* this rank has all of the decision */
    int good, all_good;
    decision decision;
} meeting;

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "no memory for a communicator's state on some rank");
}

static bool is_root(const meeting *m) {
    return m->comm->rank == 0;
}

/* Ends what was begun with CODE on the user's communicator. */
static int finish(meeting *m, int code, MPI_Request *request) {
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&m->comm->wait, 1, request, NULL);
    if (code != MPI_SUCCESS)
        m->comm->broken = code;
    return code;
}

/*
 * Where one rank gave up just before the last one came, others have seen all messages. They find
 * out here, which all others enter at once, so that longer patience makes nobody miss it; none goes
 * on to what waits in the MPI library, without a time-out, before.
 */
static int verify(meeting *m, bool good, bool *all) {
    enum { LONGER = 10 };
    MPI_Request request;
    m->good = good;
    m->comm->wait.timeout *= LONGER;
    int code =
        PMPI_Iallreduce(&m->good, &m->all_good, 1, MPI_INT, MPI_MIN, m->comm->user, &request);
    code = finish(m, code, &request);
    m->comm->wait.timeout /= LONGER;
    *all = m->all_good;
    return code;
}

/* --- What all tell rank 0 --- */

static word *word_of(const meeting *m, int rank) {
    return (word *)(m->words + (size_t)rank * m->word_bytes);
}

static size_t word_bytes(const word *told) {
    const size_t unit = alignof(word);
    size_t bytes = offsetof(word, own) + coll_report_bytes(&told->own);
    return (bytes + unit - 1) / unit * unit;
}

/* What takes up all words in the place of one. */
static int make_word_upon_word(size_t bytes, MPI_Datatype *type) {
    MPI_Datatype one;
    int code = PMPI_Type_contiguous((int)bytes, MPI_BYTE, &one);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Type_create_resized(one, 0, 0, type);
    PMPI_Type_free(&one);
    return code == MPI_SUCCESS ? PMPI_Type_commit(type) : code;
}

/* For want of memory; the others can't be told before rank 0 has received what they sent. */
static int gather_into_one(meeting *m) {
    MPI_Request request;
    MPI_Datatype type;
    m->words = coll_spare_alloc(m->word_bytes);
    if (!m->words)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", m->word_bytes);
    int code = make_word_upon_word(m->word_bytes, &type);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Igather(&m->mine, (int)m->word_bytes, MPI_BYTE, m->words, 1, type, 0, m->comm->user,
                        &request);
    PMPI_Type_free(&type);
    return finish(m, code, &request);
}

static int gather(meeting *m) {
    MPI_Request request;
    coll_spare_free(m->words);
    m->words = NULL;
    if (is_root(m))
        m->words = coll_spare_alloc((size_t)m->comm->ranks * m->word_bytes);
    m->one_word = is_root(m) && !m->words;
    if (m->one_word)
        return gather_into_one(m);
    int code = PMPI_Igather(&m->mine, (int)m->word_bytes, MPI_BYTE, m->words, (int)m->word_bytes,
                            MPI_BYTE, 0, m->comm->user, &request);
    return finish(m, code, &request);
}

/* --- What rank 0 decides --- */

static void refuse(decision *made, int class, const char *text) {
    made->error = class;
    snprintf(made->text, sizeof made->text, "%s", text);
}

static void refuse_by(decision *made, int code) {
    int length;
    made->error = coll_error_class(code);
    PMPI_Error_string(code, made->text, &length);
}

/* The reports, and from them the racks as far as they are known without a measurement. */
static bool find_places(const meeting *m, const char *source, coll_common_facts *facts,
                        char *problem) {
    const coll_reports all = {(const char *)&word_of(m, 0)->own, m->word_bytes};
    coll_topo *topo = &facts->topo;
    if (!coll_topo_make(&all, m->comm->ranks, topo))
        return false;
    int *racks = calloc(2 * (size_t)topo->nodes, sizeof *racks);
    if (!racks)
        return false;
    const coll_location at = {topo->nodes, topo->hosts, racks, racks + topo->nodes, topo->origin};
    facts->rest = coll_locate(&at, source, problem);
    coll_topo_locate(topo, at.racks, at.sites);
    free(racks);
    return true;
}

static void find_facts(const meeting *m, decision *made) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    coll_common_facts *facts = &made->facts;
    if (!find_places(m, made->settings.topology, facts, problem)) {
        refuse(made, MPI_ERR_NO_MEM, "no memory for the ranks' topology");
        return;
    }
    if (!*problem)
        coll_profile_load(made->settings.profile, &facts->topo, &facts->profile, problem);
    if (*problem)
        refuse(made, MPI_ERR_FILE, problem);
    else if (coll_profile_is_builtin(&facts->profile))
        coll_profile_set_round_trip(&facts->profile, coll_tcp_info_round_trip());
    facts->id = coll_common_number(&m->world);
}

/* Where rank 0's own settings are no good the decision says so already. */
static void decide(meeting *m) {
    decision *made = &m->decision;
    bool ready = true;
    made->known = m->common;
    made->more = 0;
    if (m->one_word) {
        refuse_by(made, no_memory());
        return;
    }
    for (int rank = 0; rank < m->comm->ranks; rank++) {
        const word *told = word_of(m, rank);
        ready = ready && told->ready;
        m->verify = m->verify || told->patient;
        made->known = made->known && told->known == m->mine.known;
        if (word_bytes(told) > m->word_bytes && word_bytes(told) > made->more)
            made->more = word_bytes(told);
    }
    if (!ready)
        refuse_by(made, no_memory());
    if (made->known || made->error != MPI_SUCCESS)
        made->more = 0;
    if (made->known || made->more || made->error != MPI_SUCCESS)
        return;
    m->verify = true;
    find_facts(m, made);
}

/* --- What rank 0 tells all --- */

static void carry(coll_parcel *parcel, decision *made) {
    coll_parcel_move(parcel, &made->more, sizeof made->more);
    coll_parcel_move(parcel, &made->error, sizeof made->error);
    coll_parcel_move_text(parcel, made->text, sizeof made->text);
    if (made->more || made->error != MPI_SUCCESS)
        return;
    coll_parcel_move(parcel, &made->known, sizeof made->known);
    coll_settings_carry(parcel, &made->settings);
    if (made->known)
        return;
    coll_parcel_move(parcel, &made->facts.id, sizeof made->facts.id);
    coll_parcel_move(parcel, &made->facts.rest, sizeof made->facts.rest);
    coll_topo_carry(parcel, &made->facts.topo);
    coll_profile_carry(parcel, &made->facts.profile);
}

/* Rank 0's decision, packed: it has no other where it has no memory for one. */
static coll_parcel pack(decision *made) {
    coll_parcel parcel = {.bytes = NULL};
    carry(&parcel, made);
    if (!parcel.failed)
        return parcel;
    coll_parcel_free(&parcel);
    refuse_by(made, no_memory());
    carry(&parcel, made);
    return parcel;
}

static int broadcast(meeting *m, void *bytes, size_t count) {
    MPI_Request request;
    int code = PMPI_Ibcast(bytes, (int)count, MPI_BYTE, 0, m->comm->user, &request);
    return finish(m, code, &request);
}

/* What the head hasn't got goes by way of the room, which all ranks have. */
static int spread_rest(meeting *m, const coll_parcel *packed, char *whole) {
    size_t all = m->head.bytes, most = m->comm->room_bytes;
    char *room = m->comm->room;
    int code = MPI_SUCCESS;
    for (size_t at = HEAD; at < all && code == MPI_SUCCESS; at += most) {
        size_t now = all - at < most ? all - at : most;
        if (is_root(m))
            memcpy(room, packed->bytes + at, now);
        code = broadcast(m, room, now);
        if (whole)
            memcpy(whole + at, room, now);
    }
    return code;
}

static int tell(meeting *m) {
    coll_parcel packed = pack(&m->decision);
    m->head.bytes = packed.length;
    m->head.verify = m->verify || packed.length > HEAD;
    m->told = !packed.failed;
    memcpy(m->head.first, packed.bytes, packed.length < HEAD ? packed.length : HEAD);
    int code = broadcast(m, &m->head, sizeof m->head);
    if (code == MPI_SUCCESS)
        code = spread_rest(m, &packed, NULL);
    coll_parcel_free(&packed);
    return code;
}

/* Without memory for all of it this rank takes part nevertheless, up to where all verify. */
static int hear(meeting *m) {
    int code = broadcast(m, &m->head, sizeof m->head);
    if (code != MPI_SUCCESS)
        return code;
    char *whole = malloc(m->head.bytes < HEAD ? HEAD : m->head.bytes);
    if (whole)
        memcpy(whole, m->head.first, HEAD);
    code = spread_rest(m, NULL, whole);
    coll_parcel told = coll_parcel_open(whole ? whole : m->head.first);
    if (code == MPI_SUCCESS && (whole || m->head.bytes <= HEAD)) {
        carry(&told, &m->decision);
        m->told = !told.failed;
    }
    free(whole);
    return code;
}

/* --- From beginning to end --- */

/* What this rank has to say; rank 0's settings come with it. */
static bool prepare(meeting *m) {
    coll_agreed_settings *settings = &m->decision.settings;
    int code = is_root(m) ? coll_settings_read(m->comm->user, settings) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        refuse_by(&m->decision, code);
    if (coll_report_make(&m->mine.own) != MPI_SUCCESS ||
        coll_world_find(m->comm->user, m->comm->ranks, &m->world) != MPI_SUCCESS)
        return false;
    m->common = coll_common_find(&m->world, &m->mine.own, is_root(m) ? settings->topology : NULL,
                                 settings->profile, &m->places);
    m->mine.known = m->common ? coll_common_facts_of(m->common)->id : 0;
    return true;
}

static int confer(meeting *m, bool ready) {
    int code = MPI_SUCCESS;
    m->mine.ready = prepare(m) && ready;
    m->mine.patient = m->comm->wait.timeout > 0;
    m->word_bytes = USUAL;
    do {
        code = gather(m);
        if (code == MPI_SUCCESS && is_root(m))
            decide(m);
        if (code == MPI_SUCCESS)
            code = is_root(m) ? tell(m) : hear(m);
        m->word_bytes = m->decision.more;
    } while (code == MPI_SUCCESS && m->word_bytes > 0);
    if (code == MPI_SUCCESS && m->decision.error != MPI_SUCCESS)
        code = coll_error(m->decision.error, "%s", m->decision.text);
    return code;
}

/* Until rank 0's settings are known. */
static void wait_as_told_here(coll_wait *wait) {
    int manner = COLL_WAIT_AUTO;
    double timeout = 0;
    (void)coll_env_word("COLL_WAIT", coll_wait_manners, &manner);
    (void)coll_env_seconds("COLL_TIMEOUT", &timeout);
    coll_wait_init(wait, false, (coll_wait_manner)manner, timeout);
}

/* What was decided becomes SETUP's; false without memory. */
static bool take(meeting *m, coll_setup *setup) {
    decision *made = &m->decision;
    coll_common_facts *facts = &made->facts;
    if (!m->told)
        return false;
    *setup->own_settings = made->settings;
    setup->settings = setup->own_settings;
    if (made->known) {
        setup->common = m->common;
        setup->topo = m->places;
        m->common = NULL;
        m->places = (coll_topo){.ranks = 0};
        return true;
    }
    strcpy(facts->topology, made->settings.topology);
    strcpy(facts->source, made->settings.profile);
    facts->report = m->mine.own;
    setup->common = coll_common_make(facts, &m->world);
    if (!setup->common)
        return false;
    facts->topo = (coll_topo){.ranks = 0};
    return coll_topo_part(&coll_common_facts_of(setup->common)->topo, m->world.count, m->world.own,
                          &setup->topo) == MPI_SUCCESS;
}

static void end(meeting *m) {
    coll_common_release(m->common);
    coll_topo_free(&m->places);
    coll_topo_free(&m->decision.facts.topo);
    coll_world_free(&m->world);
    if (m->comm->broken != MPI_SUCCESS) {
        coll_wait_leave(m->words);
        coll_wait_leave(m);
        return;
    }
    coll_spare_free(m->words);
    coll_spare_free(m);
}

/* COMM's settings are the job's, but for its info keys. */
static int take_info_keys(coll_comm *comm, coll_setup *setup) {
    if (!coll_settings_has_info(comm->user))
        return MPI_SUCCESS;
    coll_agreed_settings *own = malloc(sizeof *own);
    if (!own)
        return no_memory();
    *own = *setup->settings;
    setup->settings = setup->own_settings = own;
    int code = coll_settings_read_info(comm->user, own);
    return code == MPI_SUCCESS ? coll_settings_parse(own) : code;
}

/* What is known of the job tells all. */
static int look_up(coll_comm *comm, const coll_job_part *part, coll_setup *setup) {
    setup->settings = part->settings;
    setup->common = part->common;
    setup->topo = part->topo;
    coll_wait_init(&comm->wait, part->topo.crowded, part->settings->manner,
                   part->settings->timeout);
    return take_info_keys(comm, setup);
}

int coll_setup_meet(coll_comm *comm, bool ready, coll_setup *setup) {
    bool all = true;
    int found;
    coll_job_part part;
    *setup = (coll_setup){.common = NULL};
    if (coll_job_find(comm, &part, &found)) {
        if (found == MPI_SUCCESS && ready)
            return look_up(comm, &part, setup);
        if (found == MPI_SUCCESS) {
            coll_topo_free(&part.topo);
            coll_common_release(part.common);
        }
        return no_memory();
    }
    meeting *m = coll_spare_calloc(1, sizeof *m);
    if (!m)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", sizeof *m);
    m->comm = comm;
    wait_as_told_here(&comm->wait);
    setup->own_settings = malloc(sizeof *setup->own_settings);
    int code = confer(m, ready && setup->own_settings);
    if (code == MPI_SUCCESS) {
        bool taken = take(m, setup);
        if (m->head.verify)
            code = verify(m, taken, &all);
    }
    if (code == MPI_SUCCESS && !all)
        code = no_memory();
    if (code == MPI_SUCCESS)
        code = coll_settings_parse(setup->own_settings);
    if (code == MPI_SUCCESS)
        coll_wait_init(&comm->wait, setup->topo.crowded, setup->settings->manner,
                       setup->settings->timeout);
    end(m);
    return code;
}

int coll_setup_measure(coll_comm *comm, coll_common *common, coll_topo *topo) {
    const coll_common_facts *facts = coll_common_facts_of(common);
    char note[COLL_LOCATE_NOTE] = "";
    void *room;
    if (facts->rest == COLL_LOCATE_NOTHING)
        return MPI_SUCCESS;
    int code = coll_comm_room(comm, 3 * (size_t)topo->nodes * sizeof(int), &room);
    if (code != MPI_SUCCESS)
        return code;
    int *racks = room, *sites = racks + topo->nodes, *leaders = sites + topo->nodes;
    for (int rank = topo->ranks - 1; rank >= 0; rank--) {
        const coll_place *place = &topo->places[rank];
        leaders[place->node] = rank;
        racks[place->node] = place->rack;
        sites[place->node] = place->site;
    }
    const coll_location at = {topo->nodes, topo->hosts, racks, sites, note};
    code = coll_locate_rest_of(comm->private, facts->rest, facts->topology, leaders, &at);
    if (code != MPI_SUCCESS)
        return code;
    coll_topo_locate(topo, racks, sites);
    coll_common_locate(common, racks, sites, note);
    free(topo->origin);
    topo->origin = strdup(note); /* without memory there is none to show */
    return MPI_SUCCESS;
}
