#include "config.h"

#include "lib/call/request.h"

#include "lib/algorithm/rank_order.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/progress_thread.h"
#include "lib/base/reserve_alloc.h"
#include "lib/plan/plan.h"
#include "lib/tuning/state.h"
#include "lib/tuning/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets of tags of one communicator for nonblocking requests, and as many for persistent ones. */
enum { TURNS = COLL_TAGS_STARTED / COLL_LANES / 2 };

/*
 * Bytes that every communicator reserves for a request that gets no memory; further ones queue for
 * the reserve. Since all ranks start requests in the same order, and each rank can always run at
 * least one, the oldest request progresses on all ranks. For requests that need more than the
 * reserve, the ranks first agree on whether all have the memory.
 */
enum { RESERVE = 3 << 19 };

/* The requests' data of a communicator. */
typedef struct requests {
    coll_comm *comm;
    uint64_t turn, persistent_turn; /* numbers of the next nonblocking and persistent request */
    bool reserve_taken;
    char *reserve; /* RESERVE bytes; NULL before the first request */
} requests;

/* Protects the list and its requests from the progress thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_request *first, **end = &first; /* in order of creation */
static atomic_int active;

static requests *requests_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_request_key);
}

/* --- The list --- */

static void append_to_list(coll_request *pending) {
    pending->link = end;
    pending->next = NULL;
    *end = pending;
    end = &pending->next;
}

static void remove_from_list(coll_request *pending) {
    *pending->link = pending->next;
    if (pending->next)
        pending->next->link = pending->link;
    else
        end = pending->link;
}

bool coll_request_exists(const coll_request *pending) {
    pthread_mutex_lock(&lock);
    const coll_request *one = first;
    while (one && one != pending)
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

coll_request *coll_request_create(const char *name, MPI_Comm comm, int ranks) {
    size_t line = coll_comm_room_of(sizeof(coll_request));
    char *memory = coll_reserve_alloc(line + sizeof(coll_rank_order) + (size_t)ranks * sizeof(int));
    if (!memory)
        return NULL;
    coll_request *pending = (void *)memory;
    *pending = (coll_request){
        .name = name, .user = comm, .native = MPI_REQUEST_NULL, .line = (void *)(memory + line)};
    pthread_mutex_lock(&lock);
    append_to_list(pending);
    pthread_mutex_unlock(&lock);
    return pending;
}

static bool under_way(const coll_request *pending) {
    return pending->stage != COLL_REQUEST_IDLE && pending->stage != COLL_REQUEST_COMPLETE;
}

/* --- Memory and tags --- */

/* Frees PENDING's memory or returns it to the reserve. If ASTRAY, messages may still arrive in it:
 * it is leaked, or the reserve stays in use. */
static void release_memory(coll_request *pending, bool astray) {
    if (pending->reserved)
        requests_of(pending->comm)->reserve_taken = astray;
    else if (astray)
        coll_wait_leave(pending->memory);
    else
        free(pending->memory);
    pending->memory = NULL;
    pending->reserved = false;
}

static bool get_memory(coll_request *pending) {
    requests *all = requests_of(pending->comm);
    if (!pending->memory)
        pending->memory = malloc(pending->bytes);
    if (pending->memory || pending->bytes > RESERVE || all->reserve_taken || !all->reserve)
        return pending->memory;
    pending->memory = all->reserve;
    return pending->reserved = all->reserve_taken = true;
}

/* Returns whether an older request of the communicator is still using PENDING's tags. */
static bool tags_in_use(const coll_request *pending) {
    for (const coll_request *one = first; one; one = one->next)
        if (one != pending && one->comm == pending->comm && under_way(one) && !one->persistent &&
            one->turn + TURNS <= pending->turn)
            return true;
    return false;
}

/* --- One request --- */

static void complete_request(coll_request *pending, int code) {
    bool ran = pending->stage == COLL_REQUEST_RUNS;
    pending->code = code;
    pending->stage = COLL_REQUEST_COMPLETE;
    atomic_fetch_sub(&active, 1);
    if (code != MPI_SUCCESS && ran) {
        coll_task_abandon(pending->task);
        pending->comm->broken = code;
    }
    if (!pending->persistent && pending->memory)
        release_memory(pending, ran && code != MPI_SUCCESS);
    if (ran && code == MPI_SUCCESS)
        coll_trace(pending->comm, pending->name, &pending->call.shape,
                   coll_call_args_amount(&pending->call), &pending->choice,
                   PMPI_Wtime() - pending->since);
}

/* Sets the call's tags; before its task is opened, which copies them. */
static void set_tag(coll_request *pending, int turn) {
    pending->call.tag = COLL_TAG_STARTED + COLL_LANES * turn;
}

/* Returns the bytes for the copy of in-place input, which is behind the task's memory. */
static size_t copy_bytes(const coll_request *pending) {
    return coll_call_args_copies(&pending->call) ? coll_comm_room_of(pending->call.copied + 1) : 0;
}

static coll_exec_args engine_arguments(const coll_request *pending) {
    return coll_call_args_planned(pending->choice.algorithm, &pending->call,
                                  &pending->choice.values);
}

static void open_task(coll_request *pending) {
    size_t copy = copy_bytes(pending);
    if (copy)
        coll_call_args_move_input(&pending->call, (char *)pending->memory + pending->bytes - copy);
    const coll_exec_args planned = engine_arguments(pending);
    pending->task = coll_exec_args_open(&planned, pending->memory);
}

/* Starts the task if memory and tags are available; else PENDING stays queued. */
static void start_if_possible(coll_request *pending) {
    if (!pending->persistent && (tags_in_use(pending) || !get_memory(pending)))
        return;
    if (!pending->persistent)
        open_task(pending);
    coll_call_args_begin(&pending->call);
    pending->stage = COLL_REQUEST_RUNS;
    int code = pending->task->start(pending->task);
    if (code != MPI_SUCCESS || pending->task->active == 0)
        complete_request(pending, code);
}

static void advance_native(coll_request *pending, bool *moved) {
    int done = 0, code = PMPI_Test(&pending->native, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return;
    *moved = true;
    complete_request(pending, code);
}

static void advance_agreement(coll_request *pending, bool *moved) {
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
        complete_request(pending, code);
    else
        pending->stage = COLL_REQUEST_QUEUED;
}

static void advance_request(coll_request *pending, bool *moved) {
    if (pending->stage == COLL_REQUEST_NATIVE)
        advance_native(pending, moved);
    if (pending->stage == COLL_REQUEST_AGREES)
        advance_agreement(pending, moved);
    if (pending->stage == COLL_REQUEST_QUEUED)
        start_if_possible(pending);
    if (pending->stage != COLL_REQUEST_RUNS)
        return;
    int code = coll_task_advance(pending->task, moved);
    if (code != MPI_SUCCESS || pending->task->active == 0)
        complete_request(pending, code);
}

/* Progresses all requests, and returns whether any moved. The caller holds the lock. */
static bool advance_all(void) {
    bool moved = false;
    for (coll_request *one = first; one; one = one->next)
        if (under_way(one))
            advance_request(one, &moved);
    return moved;
}

/* Progresses requests during the library's other waits. */
static void advance_during_waits(void) {
    if (atomic_load(&active) == 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    advance_all();
    pthread_mutex_unlock(&lock);
}

/* --- The progress thread --- */

static int users; /* open communicators; the thread ends with the last one */

static coll_tick advance_from_thread(void) {
    if (atomic_load(&active) == 0)
        return COLL_TICK_IDLE;
    pthread_mutex_lock(&lock);
    bool moved = advance_all();
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

void coll_request_free(coll_request *pending) {
    pthread_mutex_lock(&lock);
    remove_from_list(pending);
    if (pending->memory)
        release_memory(pending, pending->code != MPI_SUCCESS);
    pthread_mutex_unlock(&lock);
    if (pending->native != MPI_REQUEST_NULL || coll_agreement_under_way(&pending->agreement)) {
        /* it failed by a timeout: the MPI library may still write to it */
        coll_wait_leave(pending);
        return;
    }
    coll_reserve_free(pending->native_arguments);
    coll_call_args_close(&pending->call);
    coll_reserve_free(pending);
}

int coll_request_prepare(coll_request *pending, coll_operation operation, const coll_user *user) {
    coll_call_args *call = &pending->call;
    pending->user_call = *user;
    if (user->uneven) {
        pending->uneven = *user->uneven;
        pending->user_call.uneven = &pending->uneven;
    }
    int code = coll_call_args_open(call, operation, &pending->user_call, pending->comm);
    if (code != MPI_SUCCESS || coll_call_args_is_local(call))
        return code;
    pending->choice =
        coll_state_choose_started(coll_state_of(pending->comm), operation, &call->shape);
    if (!pending->choice.algorithm)
        return MPI_SUCCESS;
    const coll_rank_order *line = coll_rank_order_of(pending->comm, &call->shape);
    memcpy(pending->line, line, sizeof *line + (size_t)call->comm->ranks * sizeof *line->order);
    call->line = pending->line;
    const coll_exec_args planned = engine_arguments(pending);
    pending->bytes = coll_exec_args_bytes(&planned) + copy_bytes(pending);
    return MPI_SUCCESS;
}

int coll_request_keep(coll_request *pending, int code) {
    requests *all = requests_of(pending->comm);
    uint64_t turn = all->persistent_turn++;
    pthread_mutex_lock(&lock);
    for (const coll_request *one = first; one; one = one->next)
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
        open_task(pending);
    return MPI_SUCCESS;
}

/* Allocates the memory and starts the agreement on whether all ranks have it; for requests that the
 * reserve does not serve. */
static int agree_on_memory(coll_request *pending) {
    pending->memory = malloc(pending->bytes);
    const int64_t lacks = !pending->memory;
    pending->stage = COLL_REQUEST_AGREES;
    return coll_agreement_start(&pending->agreement, pending->comm, pending->call.tag, 1, &lacks);
}

/* Completes a request that sends nothing, or starts the MPI library's own operation if no algorithm
 * of libcoll can be started. */
static int start_without_plan(coll_request *pending) {
    coll_call_args *call = &pending->call;
    if (coll_call_args_is_local(call)) {
        coll_call_args_begin(call);
        complete_request(pending, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    coll_reserve_free(pending->native_arguments);
    pending->native_arguments = NULL;
    pending->stage = COLL_REQUEST_NATIVE;
    return coll_call_args_native(call->operation, call->user, pending->comm->private,
                                 &pending->native, &pending->native_arguments);
}

int coll_request_start(coll_request *pending) {
    int code = pending->comm->broken;
    if (code != MPI_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    /* Allocated at the first start: most communicators start nothing. Without memory, the next
     * start tries again. */
    requests *all = requests_of(pending->comm);
    if (!all->reserve)
        all->reserve = malloc(RESERVE);
    coll_wait_meanwhile = advance_during_waits;
    pending->since = PMPI_Wtime();
    atomic_fetch_add(&active, 1);
    pending->stage = COLL_REQUEST_QUEUED;
    if (!pending->persistent) {
        pending->turn = all->turn++;
        set_tag(pending, (int)(pending->turn % TURNS));
    }
    if (pending->bytes == 0)
        code = start_without_plan(pending);
    else if (!pending->persistent && (pending->bytes > RESERVE || copy_bytes(pending)))
        code = agree_on_memory(pending);
    else
        start_if_possible(pending);
    if (code != MPI_SUCCESS)
        complete_request(pending, code);
    bool goes_on = under_way(pending);
    pthread_mutex_unlock(&lock);
    if (goes_on && coll_state_of(pending->comm)->settings->progress_thread)
        ensure_thread();
    return code;
}

void coll_request_start_native(coll_request *pending, MPI_Request native) {
    pthread_mutex_lock(&lock);
    coll_wait_meanwhile = advance_during_waits;
    pending->native = native;
    pending->stage = COLL_REQUEST_NATIVE;
    atomic_fetch_add(&active, 1);
    pthread_mutex_unlock(&lock);
}

void coll_request_test(coll_request *pending, bool *done) {
    pthread_mutex_lock(&lock);
    if (pending->stage != COLL_REQUEST_COMPLETE)
        advance_all();
    *done = pending->stage == COLL_REQUEST_COMPLETE;
    pthread_mutex_unlock(&lock);
}

/* Returns the timeout error for PENDING, naming the silent ranks if they are known. */
static int timeout_error(const coll_request *pending, double seconds) {
    const coll_task *task = pending->task;
    return pending->stage == COLL_REQUEST_RUNS
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
    static const double COMPUTED = 0.1; /* s between polls */
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

bool coll_request_advance(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    fail_overdue(advance_all());
    pthread_mutex_unlock(&lock);
    return true;
}

/* Progresses all requests once, and fails PENDING after its timeout. Returns whether it is
 * complete.
 */
static bool advance_until_timeout(coll_request *pending, coll_patience *patience) {
    double timeout = patience->wait->timeout;
    pthread_mutex_lock(&lock);
    if (pending->stage != COLL_REQUEST_COMPLETE && advance_all())
        coll_patience_progress(patience);
    else if (under_way(pending) && coll_patience_expired(patience, timeout))
        complete_request(pending, timeout_error(pending, timeout));
    bool done = pending->stage == COLL_REQUEST_COMPLETE;
    pthread_mutex_unlock(&lock);
    return done;
}

void coll_request_wait(coll_request *pending) {
    coll_wait unknown = {.manner = COLL_WAIT_AUTO};
    coll_patience patience = coll_patience_begin(pending->comm ? &pending->comm->wait : &unknown);
    while (!advance_until_timeout(pending, &patience))
        coll_patience_relax(&patience);
}

int coll_request_end(coll_request *pending) {
    pending->stage = COLL_REQUEST_IDLE;
    return pending->code;
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
 * Progresses all requests once, and fails those of COMM after the timeout. Returns whether none of
 * COMM's is under way. Other threads may complete and free them meanwhile.
 */
static bool advance_requests_of(const coll_comm *comm, coll_patience *patience) {
    bool none = true;
    pthread_mutex_lock(&lock);
    const bool moved = advance_all();
    const bool expired = !moved && coll_patience_expired(patience, comm->wait.timeout);
    if (moved)
        coll_patience_progress(patience);
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
        coll_patience patience = coll_patience_begin(&all->comm->wait);
        while (!advance_requests_of(all->comm, &patience))
            coll_patience_relax(&patience);
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
