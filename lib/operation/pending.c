#include "config.h"

#include "lib/operation/pending.h"

#include "lib/algorithm/line.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/base/ticker.h"
#include "lib/operation/state.h"
#include "lib/operation/trace.h"
#include "lib/schedule/plan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * So many on one communicator have tags of their own at a time: those that are started once, and
 * those that are persistent.
 */
enum { TURNS = COLL_TAGS_STARTED / COLL_LANES / 2 };

/*
 * What every communicator keeps for the request that finds no memory. Others that find none queue
 * for it. All ranks begin requests in the same order and each has one turn at least at a time, so
 * that the oldest one moves on on all of them. What needs more finds out first whether all have it.
 */
enum { RESERVE = 3 << 19 };

typedef struct keep {
    coll_comm *comm;
    uint64_t turn, kept_turn; /* of the next request, and of the next persistent one */
    bool reserve_taken;
    char *reserve; /* RESERVE bytes; NULL before the first request */
} keep;

/* Guards the list and all that is in it; a thread may be moving them on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_pending *first, **end = &first; /* in the order in which they were made or started */
static atomic_int active;

static keep *keep_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_pending_key);
}

/* --- The list --- */

static void append(coll_pending *pending) {
    pending->link = end;
    pending->next = NULL;
    *end = pending;
    end = &pending->next;
}

static void take_out(coll_pending *pending) {
    *pending->link = pending->next;
    if (pending->next)
        pending->next->link = pending->link;
    else
        end = pending->link;
}

bool coll_pending_exists(const coll_pending *pending) {
    pthread_mutex_lock(&lock);
    const coll_pending *one = first;
    while (one && one != pending)
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

coll_pending *coll_pending_create(const char *name, MPI_Comm comm, int ranks) {
    size_t line = coll_comm_room_of(sizeof(coll_pending));
    char *memory = coll_spare_alloc(line + sizeof(coll_line) + (size_t)ranks * sizeof(int));
    if (!memory)
        return NULL;
    coll_pending *pending = (void *)memory;
    *pending = (coll_pending){
        .name = name, .user = comm, .native = MPI_REQUEST_NULL, .line = (void *)(memory + line)};
    pthread_mutex_lock(&lock);
    append(pending);
    pthread_mutex_unlock(&lock);
    return pending;
}

static bool under_way(const coll_pending *pending) {
    return pending->stage != COLL_PENDING_IDLE && pending->stage != COLL_PENDING_COMPLETE;
}

/* --- Memory and tags --- */

/* ASTRAY: messages may still be under way into it, and nobody else gets it. */
static void give_memory_back(coll_pending *pending, bool astray) {
    if (pending->reserved)
        keep_of(pending->comm)->reserve_taken = astray;
    else if (astray)
        coll_wait_leave(pending->memory);
    else
        free(pending->memory);
    pending->memory = NULL;
    pending->reserved = false;
}

static bool find_memory(coll_pending *pending) {
    keep *kept = keep_of(pending->comm);
    if (!pending->memory)
        pending->memory = malloc(pending->bytes);
    if (pending->memory || pending->bytes > RESERVE || kept->reserve_taken || !kept->reserve)
        return pending->memory;
    pending->memory = kept->reserve;
    return pending->reserved = kept->reserve_taken = true;
}

/* Whether an older request of the communicator still has the tags of PENDING. */
static bool tags_in_use(const coll_pending *pending) {
    for (const coll_pending *one = first; one; one = one->next)
        if (one != pending && one->comm == pending->comm && under_way(one) && !one->persistent &&
            one->turn + TURNS <= pending->turn)
            return true;
    return false;
}

/* --- One request --- */

static void complete(coll_pending *pending, int code) {
    bool ran = pending->stage == COLL_PENDING_RUNS;
    pending->code = code;
    pending->stage = COLL_PENDING_COMPLETE;
    atomic_fetch_sub(&active, 1);
    if (code != MPI_SUCCESS && ran) {
        coll_course_abandon(pending->course);
        pending->comm->broken = code;
    }
    if (!pending->persistent && pending->memory)
        give_memory_back(pending, ran && code != MPI_SUCCESS);
    if (ran && code == MPI_SUCCESS)
        coll_trace(pending->comm, pending->name, &pending->call.shape,
                   coll_collective_amount(&pending->call), &pending->choice,
                   PMPI_Wtime() - pending->since);
}

/* A course has the call's tags: they are set before it is opened. */
static void set_tag(coll_pending *pending, int turn) {
    pending->call.tag = COLL_TAG_STARTED + COLL_LANES * turn;
}

/* The copy of what is in place lies behind what the course needs. */
static size_t copy_bytes(const coll_pending *pending) {
    return coll_collective_copies(&pending->call) ? coll_comm_room_of(pending->call.copied + 1) : 0;
}

static coll_planned planned_of(const coll_pending *pending) {
    return coll_collective_planned(pending->choice.algorithm, &pending->call,
                                   &pending->choice.values);
}

static void open_course(coll_pending *pending) {
    size_t copy = copy_bytes(pending);
    if (copy)
        coll_collective_move_input(&pending->call, (char *)pending->memory + pending->bytes - copy);
    const coll_planned planned = planned_of(pending);
    pending->course = coll_planned_open(&planned, pending->memory);
}

/* Goes on as soon as there are memory and tags. */
static void begin(coll_pending *pending) {
    if (!pending->persistent && (tags_in_use(pending) || !find_memory(pending)))
        return;
    if (!pending->persistent)
        open_course(pending);
    coll_collective_begin(&pending->call);
    pending->stage = COLL_PENDING_RUNS;
    int code = pending->course->start(pending->course);
    if (code != MPI_SUCCESS || pending->course->active == 0)
        complete(pending, code);
}

static void advance_native(coll_pending *pending, bool *moved) {
    int done = 0, code = PMPI_Test(&pending->native, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return;
    *moved = true;
    complete(pending, code);
}

static void advance_agreement(coll_pending *pending, bool *moved) {
    bool done;
    int code = coll_agreement_advance(&pending->agreement, &done);
    if (code == MPI_SUCCESS && !done)
        return;
    *moved = true;
    if (code == MPI_SUCCESS && pending->agreement.highest[0] > 0)
        code = coll_error(MPI_ERR_NO_MEM,
                          "%s: no memory for %zu bytes that are under way on some rank",
                          pending->name, pending->bytes);
    if (code != MPI_SUCCESS)
        complete(pending, code);
    else
        pending->stage = COLL_PENDING_QUEUED;
}

static void advance(coll_pending *pending, bool *moved) {
    if (pending->stage == COLL_PENDING_NATIVE)
        advance_native(pending, moved);
    if (pending->stage == COLL_PENDING_AGREES)
        advance_agreement(pending, moved);
    if (pending->stage == COLL_PENDING_QUEUED)
        begin(pending);
    if (pending->stage != COLL_PENDING_RUNS)
        return;
    int code = coll_course_advance(pending->course, moved);
    if (code != MPI_SUCCESS || pending->course->active == 0)
        complete(pending, code);
}

/* Moves all on; the lock is held. */
static bool advance_all(void) {
    bool moved = false;
    for (coll_pending *one = first; one; one = one->next)
        if (under_way(one))
            advance(one, &moved);
    return moved;
}

/* What other waits of the library do meanwhile. */
static void meanwhile(void) {
    if (atomic_load(&active) == 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    advance_all();
    pthread_mutex_unlock(&lock);
}

/* --- The thread --- */

static int users; /* communicators that it may work for */

static coll_tick look_from_thread(void) {
    if (atomic_load(&active) == 0)
        return COLL_TICK_IDLE;
    pthread_mutex_lock(&lock);
    bool moved = advance_all();
    pthread_mutex_unlock(&lock);
    return moved ? COLL_TICK_MOVED : COLL_TICK_STILL;
}

/* Without it requests move on in calls of the library alone: said once, not an error. */
static void say_why_no_thread(const char *why) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "coll: no progress thread (COLL_PROGRESS=thread): %s\n", why);
}

static void see_to_thread(void) {
    int level;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE)
        say_why_no_thread("initialize MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE");
    else if (!coll_ticker_begin(look_from_thread))
        say_why_no_thread("the system gives none");
    else
        coll_ticker_wake();
}

/* --- What users do with it --- */

void coll_pending_free(coll_pending *pending) {
    pthread_mutex_lock(&lock);
    take_out(pending);
    if (pending->memory)
        give_memory_back(pending, pending->code != MPI_SUCCESS);
    pthread_mutex_unlock(&lock);
    if (pending->native != MPI_REQUEST_NULL || coll_agreement_under_way(&pending->agreement)) {
        /* given up: the MPI library may write to it */
        coll_wait_leave(pending);
        return;
    }
    coll_spare_free(pending->native_arguments);
    coll_collective_close(&pending->call);
    coll_spare_free(pending);
}

int coll_pending_prepare(coll_pending *pending, coll_operation operation, const coll_user *user) {
    coll_collective *call = &pending->call;
    pending->user_call = *user;
    if (user->uneven) {
        pending->uneven = *user->uneven;
        pending->user_call.uneven = &pending->uneven;
    }
    int code = coll_collective_open(call, operation, &pending->user_call, pending->comm);
    if (code != MPI_SUCCESS || coll_collective_is_local(call))
        return code;
    pending->choice =
        coll_state_choose_started(coll_state_of(pending->comm), operation, &call->shape);
    if (!pending->choice.algorithm)
        return MPI_SUCCESS;
    const coll_line *line = coll_line_of(pending->comm, &call->shape);
    memcpy(pending->line, line, sizeof *line + (size_t)call->comm->ranks * sizeof *line->order);
    call->line = pending->line;
    const coll_planned planned = planned_of(pending);
    pending->bytes = coll_planned_bytes(&planned) + copy_bytes(pending);
    return MPI_SUCCESS;
}

int coll_pending_keep(coll_pending *pending, int code) {
    keep *kept = keep_of(pending->comm);
    uint64_t turn = kept->kept_turn++;
    pthread_mutex_lock(&lock);
    for (const coll_pending *one = first; one; one = one->next)
        if (one->persistent && one->comm == pending->comm && one->turn + TURNS <= turn)
            code = coll_error(MPI_ERR_OTHER,
                              "%s: %d persistent requests on one communicator; free "
                              "some by COLL_Request_free",
                              pending->name, TURNS);
    pthread_mutex_unlock(&lock);
    pending->memory = pending->bytes ? malloc(pending->bytes) : NULL;
    if (code == MPI_SUCCESS && pending->bytes && !pending->memory)
        code = coll_error(MPI_ERR_NO_MEM, "%s: no memory for %zu bytes that are under way",
                          pending->name, pending->bytes);
    code = coll_agree(pending->comm, code);
    if (code != MPI_SUCCESS)
        return code;
    pending->persistent = true;
    pending->turn = turn;
    set_tag(pending, TURNS + (int)(turn % TURNS));
    if (pending->memory)
        open_course(pending);
    return MPI_SUCCESS;
}

/* Asks all ranks whether they have as much memory as the reserve hasn't. */
static int ask_for_memory(coll_pending *pending) {
    pending->memory = malloc(pending->bytes);
    const int64_t lacks = !pending->memory;
    pending->stage = COLL_PENDING_AGREES;
    return coll_agreement_start(&pending->agreement, pending->comm, pending->call.tag, 1, &lacks);
}

/* Where nothing has to be sent all is done; where no plan can do it, the MPI library does. */
static int start_without_plan(coll_pending *pending) {
    coll_collective *call = &pending->call;
    if (coll_collective_is_local(call)) {
        coll_collective_begin(call);
        complete(pending, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    coll_spare_free(pending->native_arguments);
    pending->native_arguments = NULL;
    pending->stage = COLL_PENDING_NATIVE;
    return coll_collective_native(call->operation, call->user, pending->comm->private,
                                  &pending->native, &pending->native_arguments);
}

/* Most communicators start nothing. Without memory for it there is no reserve yet. */
static void make_reserve(keep *kept) {
    if (!kept->reserve)
        kept->reserve = malloc(RESERVE);
}

int coll_pending_start(coll_pending *pending) {
    int code = pending->comm->broken;
    if (code != MPI_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    make_reserve(keep_of(pending->comm));
    coll_wait_meanwhile = meanwhile;
    pending->since = PMPI_Wtime();
    atomic_fetch_add(&active, 1);
    pending->stage = COLL_PENDING_QUEUED;
    if (!pending->persistent) {
        pending->turn = keep_of(pending->comm)->turn++;
        set_tag(pending, (int)(pending->turn % TURNS));
    }
    if (pending->bytes == 0)
        code = start_without_plan(pending);
    else if (!pending->persistent && (pending->bytes > RESERVE || copy_bytes(pending)))
        code = ask_for_memory(pending);
    else
        begin(pending);
    if (code != MPI_SUCCESS)
        complete(pending, code);
    bool goes_on = under_way(pending);
    pthread_mutex_unlock(&lock);
    if (goes_on && coll_state_of(pending->comm)->settings->progress_thread)
        see_to_thread();
    return code;
}

void coll_pending_start_native(coll_pending *pending, MPI_Request native) {
    pthread_mutex_lock(&lock);
    coll_wait_meanwhile = meanwhile;
    pending->native = native;
    pending->stage = COLL_PENDING_NATIVE;
    atomic_fetch_add(&active, 1);
    pthread_mutex_unlock(&lock);
}

void coll_pending_test(coll_pending *pending, bool *done) {
    pthread_mutex_lock(&lock);
    if (pending->stage != COLL_PENDING_COMPLETE)
        advance_all();
    *done = pending->stage == COLL_PENDING_COMPLETE;
    pthread_mutex_unlock(&lock);
}

/* The error of a wait in vain for PENDING. */
static int name_silent(const coll_pending *pending, double seconds) {
    const coll_course *course = pending->course;
    return pending->stage == COLL_PENDING_RUNS
               ? coll_wait_report(seconds, course->count, course->requests, course->peers)
               : coll_wait_silent(seconds, -1, 0);
}

/*
 * Those who look again and again are waiting, for what they don't say: where nothing has moved for
 * too long all is given up that has been started for as long. Who hasn't looked for a while has
 * done something else. The lock is held.
 */
static void give_up_late(bool moved) {
    static const double COMPUTED = 0.1;
    static double looked, quiet_since;
    double now = PMPI_Wtime();
    if (moved || now - looked > COMPUTED)
        quiet_since = now;
    looked = now;
    for (coll_pending *one = first; one; one = one->next) {
        double timeout = one->comm ? one->comm->wait.timeout : 0;
        double since = one->since > quiet_since ? one->since : quiet_since;
        if (timeout > 0 && under_way(one) && now - since > timeout)
            complete(one, name_silent(one, timeout));
    }
}

bool coll_pending_advance(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    give_up_late(advance_all());
    pthread_mutex_unlock(&lock);
    return true;
}

/* One look at all; says whether PENDING is complete, or given up after too much patience. */
static bool look(coll_pending *pending, coll_patience *patience) {
    double timeout = patience->wait->timeout;
    pthread_mutex_lock(&lock);
    if (pending->stage != COLL_PENDING_COMPLETE && advance_all())
        coll_patience_progress(patience);
    else if (under_way(pending) && coll_patience_expired(patience, timeout))
        complete(pending, name_silent(pending, timeout));
    bool done = pending->stage == COLL_PENDING_COMPLETE;
    pthread_mutex_unlock(&lock);
    return done;
}

void coll_pending_wait(coll_pending *pending) {
    coll_wait unknown = {.manner = COLL_WAIT_AUTO};
    coll_patience patience = coll_patience_begin(pending->comm ? &pending->comm->wait : &unknown);
    while (!look(pending, &patience))
        coll_patience_relax(&patience);
}

int coll_pending_end(coll_pending *pending) {
    pending->stage = COLL_PENDING_IDLE;
    return pending->code;
}

/* --- What a communicator keeps --- */

static int open_keep(coll_comm *comm, const coll_comm *whole) {
    keep *kept = keep_of(comm);
    (void)whole;
    kept->comm = comm;
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* MPI_Comm_free lets operations end; MPI_Finalize finds some that nobody waits for. */
static void finish_or_give_up(coll_pending *pending) {
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length;
    if (!coll_comm_finalizing()) {
        coll_pending_wait(pending);
        return;
    }
    PMPI_Comm_get_name(pending->user, name, &length);
    fprintf(stderr,
            "coll: MPI_Finalize with %s under way on communicator %s: complete it by COLL_Wait\n",
            pending->name, *name ? name : "without a name");
    pthread_mutex_lock(&lock);
    if (under_way(pending))
        complete(pending,
                 coll_error(MPI_ERR_REQUEST, "MPI_Finalize with %s under way", pending->name));
    pthread_mutex_unlock(&lock);
}

static void close_keep(void *slot) {
    keep *kept = slot;
    if (!kept->comm)
        return; /* it was never opened */
    for (coll_pending *one = first; one; one = one->next)
        if (one->comm == kept->comm && under_way(one))
            finish_or_give_up(one);
    pthread_mutex_lock(&lock);
    for (coll_pending *one = first; one; one = one->next)
        if (one->comm == kept->comm)
            one->comm = NULL;
    bool last = --users == 0;
    if (kept->reserve_taken)
        coll_wait_leave(kept->reserve);
    else
        free(kept->reserve);
    pthread_mutex_unlock(&lock);
    if (last)
        coll_ticker_end();
}

coll_comm_key coll_pending_key = {.bytes = sizeof(keep), .open = open_keep, .close = close_keep};
