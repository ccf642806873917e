/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/call/request.h"

#include "lib/algorithm/rank_order.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/progress_thread.h"
#include "lib/base/reserve_alloc.h"
#include "lib/plan/plan.h"
#include "lib/topology/graph.h"
#include "lib/tuning/state.h"
#include "lib/tuning/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of sets of tags that a communicator has for nonblocking requests; it has as many more
 * for persistent requests. */
enum { TURNS = COLL_TAGS_STARTED / COLL_LANES / 2 };

/*
 * Bytes that every communicator reserves for a request for which malloc fails; further such
 * requests queue for the reserve. Since all ranks start requests in the same order, and each rank
 * can always run at least one, the oldest request progresses on all ranks. For requests that may
 * need more than the reserve, and for those whose in-place input all ranks copy, the ranks first
 * agree on whether all have the memory.
 */
enum { RESERVE = 3 << 19 };

/* The requests' data of a communicator. */
typedef struct requests {
    coll_comm *comm;
    uint64_t turn, persistent_turn; /* numbers of the next nonblocking and persistent request */
    bool reserve_taken;
    char *reserve; /* RESERVE bytes; NULL before the first start */
} requests;

/* Protects the list and its requests from the progress thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_request *first, **end = &first; /* in order of creation */
static atomic_int active;

static requests *requests_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_request_key);
}

/* --- The list --- */

static void append_to_list(coll_request *request) {
    request->link = end;
    request->next = NULL;
    *end = request;
    end = &request->next;
}

static void remove_from_list(coll_request *request) {
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
    else
        end = request->link;
}

bool coll_request_exists(const coll_request *request) {
    pthread_mutex_lock(&lock);
    const coll_request *one = first;
    while (one && one != request)
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

coll_request *coll_request_create(const char *name, MPI_Comm comm, int ranks) {
    size_t line = coll_scratch_bytes(sizeof(coll_request));
    char *memory = coll_reserve_alloc(line + sizeof(coll_rank_order) + (size_t)ranks * sizeof(int));
    if (!memory)
        return NULL;
    coll_request *request = (void *)memory;
    *request = (coll_request){
        .name = name, .user = comm, .native = MPI_REQUEST_NULL, .line = (void *)(memory + line)};
    pthread_mutex_lock(&lock);
    append_to_list(request);
    pthread_mutex_unlock(&lock);
    return request;
}

static bool under_way(const coll_request *request) {
    return request->stage != COLL_REQUEST_IDLE && request->stage != COLL_REQUEST_COMPLETE;
}

/* --- Memory and tags --- */

/* Frees REQUEST's memory or returns it to the reserve. If ASTRAY, messages may still arrive in the
 * memory: it is never freed, or the reserve stays in use. */
static void release_memory(coll_request *request, bool astray) {
    if (request->reserved)
        requests_of(request->comm)->reserve_taken = astray;
    else if (astray)
        coll_wait_leave(request->memory);
    else
        free(request->memory);
    request->memory = NULL;
    request->reserved = false;
}

static bool get_memory(coll_request *request) {
    requests *all = requests_of(request->comm);
    if (!request->memory)
        request->memory = malloc(request->bytes);
    if (request->memory || request->bytes > RESERVE || all->reserve_taken || !all->reserve)
        return request->memory;
    request->memory = all->reserve;
    return request->reserved = all->reserve_taken = true;
}

/* Returns whether REQUEST's tags may still be in use: whether a request of the communicator that is
 * at least TURNS turns older is under way. */
static bool tags_in_use(const coll_request *request) {
    for (const coll_request *one = first; one; one = one->next)
        if (one != request && one->comm == request->comm && under_way(one) && !one->persistent &&
            one->turn + TURNS <= request->turn)
            return true;
    return false;
}

/* --- One request --- */

static void complete_request(coll_request *request, int code) {
    bool ran = request->stage == COLL_REQUEST_RUNS;
    request->code = code;
    request->stage = COLL_REQUEST_COMPLETE;
    atomic_fetch_sub(&active, 1);
    if (code != MPI_SUCCESS && ran) {
        coll_task_abandon(request->task);
        request->comm->broken = code;
    }
    if (!request->persistent && request->memory)
        release_memory(request, ran && code != MPI_SUCCESS);
    const double seconds = PMPI_Wtime() - request->since;
    if (ran && code == MPI_SUCCESS)
        coll_trace(request->comm, request->name, &request->call.shape,
                   coll_call_args_amount(&request->call), &request->choice, seconds);
    if (code == MPI_SUCCESS)
        coll_report_completed(request->class, seconds);
}

/* Sets the call's tags. Call it before the task is opened, since the task copies the tags. */
static void set_tag(coll_request *request, int turn) {
    request->call.tag = COLL_TAG_STARTED + COLL_LANES * turn;
}

/* Returns the bytes for the copy of in-place input, which is behind the task's memory. */
static size_t copy_bytes(const coll_request *request) {
    return coll_call_args_copies(&request->call) ? coll_scratch_bytes(request->call.copied + 1) : 0;
}

static coll_exec_args engine_arguments(const coll_request *request) {
    return coll_call_args_exec(request->choice.algorithm, &request->call, &request->choice.values);
}

static void open_task(coll_request *request) {
    size_t copy = copy_bytes(request);
    if (copy)
        coll_call_args_move_input(&request->call, (char *)request->memory + request->bytes - copy);
    const coll_exec_args planned = engine_arguments(request);
    request->task = coll_exec_args_open(&planned, request->memory);
}

static void start_task(coll_request *request) {
    coll_call_args_begin(&request->call);
    request->stage = COLL_REQUEST_RUNS;
    int code = request->task->start(request->task);
    if (code != MPI_SUCCESS || request->task->active == 0)
        complete_request(request, code);
}

/* Allocates the memory and starts the agreement on whether all ranks have it; for requests that the
 * reserve does not serve. */
static void agree_on_memory(coll_request *request) {
    request->memory = malloc(request->bytes);
    const int64_t lacks = !request->memory;
    request->stage = COLL_REQUEST_AGREES;
    int code =
        coll_agreement_start(&request->agreement, request->comm, request->call.tag, 1, &lacks);
    if (code != MPI_SUCCESS)
        complete_request(request, code);
}

/*
 * Returns whether the ranks agree on whether all have REQUEST's memory. If only some of them may
 * copy in-place input, as in an exscan, they agree if the reserve has no room for a copy.
 */
static bool needs_agreement(const coll_request *request) {
    const coll_call_args *call = &request->call;
    const size_t bytes = request->bytes - copy_bytes(request);
    return coll_call_args_all_copy(call) ||
           bytes + coll_scratch_bytes(coll_call_args_some_copy(call) + 1) > RESERVE;
}

/* If the tags of a nonblocking REQUEST are free: starts the agreement on REQUEST's memory if one is
 * needed and has not been made, else starts REQUEST if there is memory for it. In all other cases
 * REQUEST stays queued. */
static void start_if_possible(coll_request *request) {
    if (tags_in_use(request))
        return;
    if (!request->memory && needs_agreement(request)) {
        agree_on_memory(request);
    } else if (get_memory(request)) {
        open_task(request);
        start_task(request);
    }
}

static void advance_native(coll_request *request, bool *moved) {
    int done = 0, code = PMPI_Test(&request->native, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return;
    *moved = true;
    complete_request(request, code);
}

static void advance_agreement(coll_request *request, bool *moved) {
    bool done;
    int code = coll_agreement_advance(&request->agreement, &done);
    if (code == MPI_SUCCESS && !done)
        return;
    *moved = true;
    if (code == MPI_SUCCESS && request->agreement.highest[0] > 0)
        code = coll_error(MPI_ERR_NO_MEM,
                          "%s: no memory for %zu bytes that are under way on some rank",
                          request->name, request->bytes);
    if (code != MPI_SUCCESS)
        complete_request(request, code);
    else
        request->stage = COLL_REQUEST_QUEUED;
}

static void advance_request(coll_request *request, coll_is_complete *is_complete, bool *moved) {
    if (request->stage == COLL_REQUEST_NATIVE)
        advance_native(request, moved);
    if (request->stage == COLL_REQUEST_AGREES)
        advance_agreement(request, moved);
    if (request->stage == COLL_REQUEST_QUEUED)
        start_if_possible(request);
    if (request->stage != COLL_REQUEST_RUNS)
        return;
    int code = coll_task_advance(request->task, is_complete, moved);
    if (code != MPI_SUCCESS || request->task->active == 0)
        complete_request(request, code);
}

/* Progresses all requests, and returns whether any moved. The caller holds the lock. */
static bool advance_all(coll_is_complete *is_complete) {
    bool moved = false;
    for (coll_request *one = first; one; one = one->next)
        if (under_way(one))
            advance_request(one, is_complete, &moved);
    return moved;
}

/* Whether the program's calls have progressed requests since the thread last looked. */
static atomic_bool calls_advance;

/* Progresses all requests in a call of the program. The caller holds the lock. */
static bool advance_in_call(coll_is_complete *is_complete) {
    atomic_store_explicit(&calls_advance, true, memory_order_relaxed);
    return advance_all(is_complete);
}

/* Progresses requests during the library's other waits. */
static void advance_during_waits(void) {
    if (atomic_load(&active) == 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    advance_in_call(NULL);
    pthread_mutex_unlock(&lock);
}

/* --- The progress thread --- */

static int users; /* open communicators; the thread ends with the last one */

/* Returns whether waits are polite on the communicator of the oldest request under way, of those
 * whose communicator is known. */
static bool waits_politely(void) {
    for (const coll_request *one = first; one; one = one->next)
        if (one->comm && under_way(one))
            return coll_wait_is_polite(&one->comm->wait);
    return false;
}

static coll_tick advance_from_thread(void) {
    if (atomic_load(&active) == 0)
        return COLL_TICK_IDLE;
    const bool by_calls = atomic_exchange_explicit(&calls_advance, false, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    /* On shared cores a program that often tests or waits loses more processor time to the thread
     * than the thread's progress saves. */
    const bool moved = (!by_calls || !waits_politely()) && advance_all(NULL);
    pthread_mutex_unlock(&lock);
    return moved ? COLL_TICK_MOVED : COLL_TICK_STILL;
}

/* Prints, once, why there is no thread. Not an error: requests then progress only in library calls.
 */
static void say_why_no_thread(const char *why) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "coll: no progress thread (COLL_PROGRESS=thread): %s\n", why);
}

static void ensure_thread(void) {
    int level;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE)
        say_why_no_thread("initialize MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE");
    else if (!coll_progress_thread_begin(advance_from_thread))
        say_why_no_thread("the system gives none");
    else
        coll_progress_thread_wake();
}

/* --- Interface --- */

void coll_request_free(coll_request *request) {
    pthread_mutex_lock(&lock);
    remove_from_list(request);
    if (request->memory)
        release_memory(request, request->code != MPI_SUCCESS);
    pthread_mutex_unlock(&lock);
    if (request->native != MPI_REQUEST_NULL || coll_agreement_under_way(&request->agreement)) {
        /* REQUEST failed by a timeout: the MPI library may still write to its memory */
        coll_wait_leave(request);
        return;
    }
    coll_reserve_free(request->native_arguments);
    coll_call_args_close(&request->call);
    coll_reserve_free(request);
}

int coll_request_prepare(coll_request *request, coll_operation operation, const coll_user *user) {
    coll_call_args *call = &request->call;
    request->user_call = *user;
    if (user->uneven) {
        request->uneven = *user->uneven;
        request->user_call.uneven = &request->uneven;
    }
    const coll_graph *graph = NULL;
    int code = coll_operations[operation].neighbors
                   ? coll_graph_of(request->comm, &coll_state_of(request->comm)->topo, &graph)
                   : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = coll_call_args_open(call, operation, &request->user_call, request->comm, graph);
    if (code != MPI_SUCCESS || coll_call_args_is_local(call))
        return code;
    request->choice = coll_state_choose_started(coll_state_of(request->comm), &call->shape);
    if (!request->choice.algorithm)
        return MPI_SUCCESS;
    const coll_rank_order *line = coll_rank_order_of(request->comm, &call->shape);
    memcpy(request->line, line, sizeof *line + (size_t)call->comm->ranks * sizeof *line->order);
    call->line = request->line;
    const coll_exec_args planned = engine_arguments(request);
    request->bytes = coll_exec_args_bytes(&planned) + copy_bytes(request);
    return MPI_SUCCESS;
}

/* Returns whether a persistent request on COMM has the tags of TURN. */
static bool is_tag_taken(const coll_comm *comm, uint64_t turn) {
    bool taken = false;
    pthread_mutex_lock(&lock);
    for (const coll_request *one = first; one && !taken; one = one->next)
        taken = one->persistent && one->comm == comm && one->turn % TURNS == turn % TURNS;
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Finds the next turn whose tags no rank uses. Ranks may free requests at different times, so they
 * agree on the turn. */
static int find_turn(const coll_request *request, uint64_t *turn) {
    requests *all = requests_of(request->comm);
    for (int i = 0; i < TURNS; i++) {
        *turn = all->persistent_turn++;
        const int64_t mine = is_tag_taken(request->comm, *turn);
        int64_t taken;
        const int code = coll_agree_highest(request->comm, 1, &mine, &taken);
        if (code != MPI_SUCCESS || !taken)
            return code;
    }
    return coll_error(MPI_ERR_OTHER,
                      "%s: %d persistent requests on one communicator; free some by "
                      "COLL_Request_free",
                      request->name, TURNS);
}

int coll_request_keep(coll_request *request, int code) {
    uint64_t turn = 0;
    const int found = find_turn(request, &turn);
    if (code == MPI_SUCCESS)
        code = found;
    request->memory = request->bytes ? malloc(request->bytes) : NULL;
    if (code == MPI_SUCCESS && request->bytes && !request->memory)
        code = coll_error(MPI_ERR_NO_MEM, "%s: no memory for %zu bytes that are under way",
                          request->name, request->bytes);
    code = coll_agree(request->comm, code);
    if (code != MPI_SUCCESS)
        return code;
    request->persistent = true;
    request->turn = turn;
    set_tag(request, TURNS + (int)(turn % TURNS));
    if (request->memory)
        open_task(request);
    return MPI_SUCCESS;
}

/* Completes a request that sends nothing, or starts the MPI library's own operation if no algorithm
 * of libcoll can be started. */
static int start_without_plan(coll_request *request) {
    coll_call_args *call = &request->call;
    if (coll_call_args_is_local(call)) {
        coll_call_args_begin(call);
        complete_request(request, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    coll_reserve_free(request->native_arguments);
    request->native_arguments = NULL;
    request->stage = COLL_REQUEST_NATIVE;
    const MPI_Comm runs_on = coll_call_args_comm(call->operation, request->comm);
    const int code = coll_native_run(call->operation, call->user, runs_on, &request->native,
                                     &request->native_arguments);
    call->raised = code != MPI_SUCCESS && runs_on == request->comm->user;
    return code;
}

int coll_request_start(coll_request *request) {
    int code = request->comm->broken;
    request->call.raised = false;
    if (code != MPI_SUCCESS)
        return code;
    if (request->choice.algorithm)
        request->class = coll_report_ran(
            request->comm, request->persistent ? COLL_REPORT_PERSISTENT : COLL_REPORT_NONBLOCKING,
            &request->call.shape, coll_call_args_amount(&request->call), &request->choice);
    pthread_mutex_lock(&lock);
    /* The reserve is allocated at the first start, as most communicators start nothing. If malloc
     * fails, the next start tries again. */
    requests *all = requests_of(request->comm);
    if (!all->reserve)
        all->reserve = malloc(RESERVE);
    coll_wait_meanwhile = advance_during_waits;
    request->since = PMPI_Wtime();
    atomic_fetch_add(&active, 1);
    request->stage = COLL_REQUEST_QUEUED;
    if (!request->persistent) {
        request->turn = all->turn++;
        set_tag(request, (int)(request->turn % TURNS));
    }
    if (request->bytes == 0)
        code = start_without_plan(request);
    else if (request->persistent)
        start_task(request);
    else
        start_if_possible(request);
    if (code != MPI_SUCCESS) {
        complete_request(request, code);
        request->stage = COLL_REQUEST_IDLE;
    }
    bool goes_on = under_way(request);
    pthread_mutex_unlock(&lock);
    if (goes_on && coll_state_of(request->comm)->settings->progress_thread)
        ensure_thread();
    return code;
}

void coll_request_start_native(coll_request *request, MPI_Request native) {
    pthread_mutex_lock(&lock);
    coll_wait_meanwhile = advance_during_waits;
    request->native = native;
    request->stage = COLL_REQUEST_NATIVE;
    atomic_fetch_add(&active, 1);
    pthread_mutex_unlock(&lock);
}

void coll_request_test(coll_request *request, bool *done) {
    pthread_mutex_lock(&lock);
    if (request->stage != COLL_REQUEST_COMPLETE)
        advance_in_call(NULL);
    *done = request->stage == COLL_REQUEST_COMPLETE;
    pthread_mutex_unlock(&lock);
}

/* Returns the timeout error for REQUEST, naming the silent ranks if they are known. */
static int timeout_error(const coll_request *request, double seconds) {
    const coll_task *task = request->task;
    return request->stage == COLL_REQUEST_RUNS
               ? coll_wait_report(seconds, task->count, task->requests, task->peers)
               : coll_wait_silent(seconds, -1, 0);
}

/*
 * Fails requests that exceed their timeout, for a caller that polls without saying which request it
 * waits for: if polling has been continuous and nothing has progressed for the timeout, it fails
 * every request that has been active for that long. A pause between polls means that the program
 * was computing, and restarts the clock. The caller holds the lock.
 */
static void fail_overdue(bool moved) {
    static const double COMPUTED = 0.1; /* longer pauses between polls, in s, are computing */
    static double looked, quiet_since;
    double now = PMPI_Wtime();
    if (moved || now - looked > COMPUTED)
        quiet_since = now;
    looked = now;
    for (coll_request *one = first; one; one = one->next) {
        double timeout = one->comm ? one->comm->wait.timeout : 0;
        double since = one->since > quiet_since ? one->since : quiet_since;
        if (timeout > 0 && under_way(one) && now - since > timeout)
            complete_request(one, timeout_error(one, timeout));
    }
}

bool coll_request_any_under_way(void) {
    return atomic_load_explicit(&active, memory_order_relaxed) > 0;
}

bool coll_request_advance(coll_is_complete *is_complete) {
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    fail_overdue(advance_in_call(is_complete));
    pthread_mutex_unlock(&lock);
    return true;
}

/* Progresses all requests once, and fails REQUEST after its timeout. Returns whether REQUEST is
 * complete. */
static bool advance_until_timeout(coll_request *request, coll_backoff *backoff) {
    double timeout = backoff->wait->timeout;
    pthread_mutex_lock(&lock);
    if (request->stage != COLL_REQUEST_COMPLETE && advance_in_call(NULL))
        coll_backoff_progress(backoff);
    else if (under_way(request) && coll_backoff_expired(backoff, timeout))
        complete_request(request, timeout_error(request, timeout));
    bool done = request->stage == COLL_REQUEST_COMPLETE;
    pthread_mutex_unlock(&lock);
    return done;
}

void coll_request_wait(coll_request *request) {
    coll_wait unknown = {.manner = COLL_WAIT_AUTO};
    coll_backoff backoff = coll_backoff_begin(request->comm ? &request->comm->wait : &unknown);
    while (!advance_until_timeout(request, &backoff))
        coll_backoff_relax(&backoff);
}

int coll_request_end(coll_request *request) {
    request->stage = COLL_REQUEST_IDLE;
    return request->code;
}

/* --- The communicator's slot --- */

static int open_requests(coll_comm *comm, const coll_comm *whole) {
    requests *all = requests_of(comm);
    (void)whole;
    all->comm = comm;
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* Reports and fails the requests of COMM that are under way in MPI_Finalize: nobody waits for them
 * any more. */
static void fail_requests_of(const coll_comm *comm) {
    pthread_mutex_lock(&lock);
    for (coll_request *one = first; one; one = one->next) {
        char name[MPI_MAX_OBJECT_NAME] = "?";
        int length;
        if (one->comm != comm || !under_way(one))
            continue;
        PMPI_Comm_get_name(one->user, name, &length);
        fprintf(
            stderr,
            "coll: MPI_Finalize with %s under way on communicator %s: complete it by COLL_Wait\n",
            one->name, *name ? name : "without a name");
        complete_request(one,
                         coll_error(MPI_ERR_REQUEST, "MPI_Finalize with %s under way", one->name));
    }
    pthread_mutex_unlock(&lock);
}

/*
 * Progresses all requests once, and fails those of COMM after the timeout. Returns true if no
 * request of COMM is under way. Other threads may complete and free requests meanwhile.
 */
static bool advance_requests_of(const coll_comm *comm, coll_backoff *backoff) {
    bool none = true;
    pthread_mutex_lock(&lock);
    const bool moved = advance_in_call(NULL);
    const bool expired = !moved && coll_backoff_expired(backoff, comm->wait.timeout);
    if (moved)
        coll_backoff_progress(backoff);
    for (coll_request *one = first; one; one = one->next) {
        if (one->comm != comm || !under_way(one))
            continue;
        if (expired)
            complete_request(one, timeout_error(one, comm->wait.timeout));
        else
            none = false;
    }
    pthread_mutex_unlock(&lock);
    return none;
}

static void close_requests(void *slot) {
    requests *all = slot;
    if (!all->comm)
        return; /* never opened */
    if (coll_comm_finalizing()) {
        fail_requests_of(all->comm);
    } else {
        coll_backoff backoff = coll_backoff_begin(&all->comm->wait);
        while (!advance_requests_of(all->comm, &backoff))
            coll_backoff_relax(&backoff);
    }
    pthread_mutex_lock(&lock);
    for (coll_request *one = first; one; one = one->next)
        if (one->comm == all->comm)
            one->comm = NULL;
    bool last = --users == 0;
    if (all->reserve_taken)
        coll_wait_leave(all->reserve);
    else
        free(all->reserve);
    pthread_mutex_unlock(&lock);
    if (last)
        coll_progress_thread_end();
}

coll_comm_key coll_request_key = {
    .bytes = sizeof(requests), .open = open_requests, .close = close_requests};
