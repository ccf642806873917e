/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/replay/job_record.h"

#include "lib/base/error.h"
#include "lib/base/textfile.h"
#include "lib/replay/call_log.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *coll_job_add_element(void **array, size_t count, size_t size) {
    /* The array is full whenever COUNT is 0 or a power of two. */
    if ((count & (count - 1)) == 0) {
        void *more = realloc(*array, (count ? 2 * count : 1) * size);
        if (!more)
            return NULL;
        *array = more;
    }
    return (char *)*array + count * size;
}

/* The state of reading the files. Times of a rank are in ticks until its last line is read. */
typedef struct reading {
    COLL_Record *record;
    coll_lines lines;
    char *rest; /* of the current line */
    int rank;
    uint64_t job;    /* of rank 0 */
    uint64_t logged; /* calls so far */
    double pending;  /* ticks since the previous call */
    bool ended;
} reading;

/* --- Lines --- */

/* Reads an integer within LEAST and MOST from the next word. */
static bool take_integer(reading *now, int64_t least, int64_t most, int64_t *value) {
    const char *word = coll_word(&now->rest);
    char *end;
    errno = 0;
    *value = strtoll(word, &end, 10);
    return (*word && !*end && !errno && *value >= least && *value <= most) ||
           coll_refuse(&now->lines, "\"%.40s\" is not within %" PRId64 " to %" PRId64, word, least,
                       most);
}

/* Reads COUNT integers, none of which may be negative. */
static bool take_counts(reading *now, int count, int64_t values[]) {
    bool good = true;
    for (int i = 0; i < count && good; i++)
        good = take_integer(now, 0, INT64_MAX, &values[i]);
    return good;
}

static bool take_id(reading *now, uint64_t *id) {
    const char *word = coll_word(&now->rest);
    char *end;
    *id = strtoull(word, &end, 16);
    return (*word && !*end) || coll_refuse(&now->lines, "\"%.40s\" is no id", word);
}

static bool take_word(reading *now, const char *expected) {
    const char *word = coll_word(&now->rest);
    return strcmp(word, expected) == 0 ||
           coll_refuse(&now->lines, "\"%.40s\" is not \"%s\"", word, expected);
}

/* --- The file of a rank --- */

static const char truncated[] = "is truncated, or the program did not get to MPI_Finalize";

static const double LONGEST_RUN = 1e9; /* s; as whole nanoseconds that fits into 63 bits */

static bool no_memory(const reading *now) {
    return coll_refuse(&now->lines, "no memory for this record");
}

static bool read_header(reading *now) {
    COLL_Record *record = now->record;
    size_t length;
    now->rest = coll_lines_next(&now->lines, &length);
    int64_t version, rank, ranks;
    uint64_t job;
    if (!now->rest || !take_word(now, "coll-record"))
        return coll_refuse(&now->lines, "is no record of COLL_RECORD, or is empty");
    if (!take_integer(now, 1, INT32_MAX, &version))
        return false;
    if (version != COLL_CALL_LOG_VERSION)
        return coll_refuse(&now->lines,
                           "version %" PRId64 " is not %d; record again, or use that "
                           "libcoll",
                           version, COLL_CALL_LOG_VERSION);
    now->rest = coll_lines_next(&now->lines, &length);
    if (!now->rest)
        return coll_refuse(&now->lines, "%s", truncated);
    if (!take_word(now, "rank") || !take_integer(now, now->rank, now->rank, &rank) ||
        !take_word(now, "of") || !take_integer(now, 1, 1 << 24, &ranks) || !take_word(now, "job") ||
        !take_id(now, &job) || !take_word(now, "host"))
        return false;
    if (now->rank == 0) {
        now->job = job;
        record->ranks = (int)ranks;
        record->of = calloc((size_t)ranks, sizeof *record->of);
        if (!record->of)
            return no_memory(now);
    }
    if (job != now->job || ranks != record->ranks)
        return coll_refuse(&now->lines, "is of another job than rank 0's; record again");
    coll_job_rank *own = &record->of[now->rank];
    own->site = own->rack = -1;
    snprintf(own->host, sizeof own->host, "%s", coll_word(&now->rest));
    return *own->host || coll_refuse(&now->lines, "has no host");
}

/* Reads "0-3,7" into GROUP. */
static bool read_members(const reading *now, char *text, coll_job_group *group) {
    const int all = now->record->ranks;
    group->members = malloc((size_t)all * sizeof *group->members);
    if (!group->members)
        return no_memory(now);
    while (*text) {
        char *end;
        const long first = strtol(text, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (end == text || (*end && *end != ',') || first < 0 || last < first || last >= all ||
            group->ranks + (last - first) >= all)
            return coll_refuse(&now->lines, "\"%.40s\" are no ranks of this job", text);
        for (long rank = first; rank <= last; rank++)
            group->members[group->ranks++] = (int)rank;
        text = *end ? end + 1 : end;
    }
    for (int i = 0; i < group->ranks; i++)
        if (group->members[i] == now->rank)
            return group->ranks > 1 ||
                   coll_refuse(&now->lines, "a communicator of %d ranks", group->ranks);
    return coll_refuse(&now->lines, "a communicator without rank %d", now->rank);
}

/*
 * Returns the index of the group with the ranks of ONE, which is added if it is new. RECORD takes
 * ONE's memory, unless this returns -1 because memory is short.
 */
static int find_group(COLL_Record *record, coll_job_group *one) {
    const size_t bytes = (size_t)one->ranks * sizeof *one->members;
    int i = 0;
    while (i < record->group_count && (record->groups[i].ranks != one->ranks ||
                                       memcmp(record->groups[i].members, one->members, bytes) != 0))
        i++;
    if (i < record->group_count) {
        free(one->members);
        return i;
    }
    coll_job_group *added =
        coll_job_add_element((void **)&record->groups, (size_t)i, sizeof *added);
    if (!added)
        return -1;
    *added = *one;
    return record->group_count++;
}

static int find_comm(const COLL_Record *record, uint64_t id) {
    int i = 0;
    while (i < record->comm_count && record->comms[i].id != id)
        i++;
    return i;
}

static bool read_comm(reading *now) {
    COLL_Record *record = now->record;
    coll_job_group group = {0};
    uint64_t id;
    if (!take_id(now, &id))
        return false;
    if (!read_members(now, coll_word(&now->rest), &group)) {
        free(group.members);
        return false;
    }
    const int comm = find_comm(record, id), number = find_group(record, &group);
    if (number < 0) {
        free(group.members);
        return no_memory(now);
    }
    if (comm < record->comm_count) {
        record->comms[comm].announced = now->rank;
        return record->comms[comm].group == number ||
               coll_refuse(&now->lines, "a communicator has other ranks than on rank 0 to %d",
                           now->rank - 1);
    }
    coll_job_comm *added =
        coll_job_add_element((void **)&record->comms, (size_t)comm, sizeof *added);
    if (!added)
        return no_memory(now);
    *added = (coll_job_comm){.id = id, .group = number, .announced = now->rank};
    record->comm_count++;
    return true;
}

/* Reads a call. A call that was only STARTED, or that is among neighbours, counts as time between
 * calls. */
static bool read_call(reading *now, bool started) {
    coll_job_rank *own = &now->record->of[now->rank];
    coll_operation operation;
    uint64_t id;
    int64_t root, values[3]; /* bytes, ticks before the call, ticks inside */
    if (coll_find_operation(coll_word(&now->rest), &operation) != MPI_SUCCESS)
        return coll_refuse(&now->lines, "an unknown operation");
    if (!take_id(now, &id))
        return false;
    const int comm = find_comm(now->record, id);
    if (comm == now->record->comm_count || now->record->comms[comm].announced != now->rank)
        return coll_refuse(&now->lines, "a communicator without its line \"comm\"");
    const int ranks = now->record->groups[now->record->comms[comm].group].ranks;
    const char *counts = coll_word(&now->rest);
    const bool uneven = strcmp(counts, "uneven") == 0;
    if (!uneven && strcmp(counts, "even") != 0)
        return coll_refuse(&now->lines, "\"%.40s\" is neither even nor uneven", counts);
    if (!take_integer(now, coll_operations[operation].rootless ? -1 : 0, ranks - 1, &root) ||
        !take_counts(now, 3, values))
        return false;
    now->logged++;
    now->pending += (double)values[1];
    if (started || coll_operations[operation].neighbors) {
        own->skipped++;
        now->pending += (double)values[2];
        return true;
    }
    coll_job_call *call = coll_job_add_element((void **)&own->calls, own->call_count, sizeof *call);
    if (!call)
        return no_memory(now);
    *call = (coll_job_call){.operation = operation,
                            .comm = comm,
                            .root = (int)root,
                            .uneven = uneven,
                            .bytes = (size_t)values[0],
                            .before = now->pending,
                            .inside = (double)values[2]};
    now->pending = 0;
    own->call_count++;
    return true;
}

static bool read_sent(reading *now) {
    coll_job_rank *own = &now->record->of[now->rank];
    int64_t to, values[2]; /* messages, bytes */
    if (!take_integer(now, 0, now->record->ranks - 1, &to) || !take_counts(now, 2, values))
        return false;
    coll_job_sent *sent = coll_job_add_element((void **)&own->sent, own->sent_count, sizeof *sent);
    if (!sent)
        return no_memory(now);
    *sent = (coll_job_sent){(int)to, (double)values[1]};
    own->sent_count++;
    return true;
}

static bool read_place(reading *now) {
    coll_job_rank *own = &now->record->of[now->rank];
    const int most = now->record->ranks - 1;
    int64_t site, rack;
    if (!take_integer(now, 0, most, &site) || !take_integer(now, 0, most, &rack))
        return false;
    own->site = (int)site;
    own->rack = (int)rack;
    return true;
}

/* Reads the last line, and converts the rank's times to seconds. */
static bool read_end(reading *now) {
    coll_job_rank *own = &now->record->of[now->rank];
    int64_t values[4]; /* calls, femtoseconds of a tick, ticks after the last call, calls lost */
    if (!take_counts(now, 4, values))
        return false;
    if ((uint64_t)values[0] != now->logged)
        return coll_refuse(
            &now->lines, "%" PRId64 " calls were recorded, but %" PRIu64 " are here; record again",
            values[0], now->logged);
    if (values[3] > 0)
        return coll_refuse(&now->lines,
                           "%" PRId64 " calls could not be recorded, on more than "
                           "256 groups of ranks",
                           values[3]);
    const double second = 1e-15 * (double)values[1];
    own->after = second * (now->pending + (double)values[2]);
    double run = own->after;
    for (size_t i = 0; i < own->call_count; i++) {
        own->calls[i].before *= second;
        own->calls[i].inside *= second;
        run += own->calls[i].before + own->calls[i].inside;
    }
    now->ended = true;
    return (run > 0 && run < LONGEST_RUN) ||
           coll_refuse(&now->lines, "a run of %g s is not within 0 to %g s; record again", run,
                       LONGEST_RUN);
}

static bool read_lines(reading *now) {
    size_t length;
    bool good = read_header(now);
    while (good && !now->ended && (now->rest = coll_lines_next(&now->lines, &length))) {
        const char *kind = coll_word(&now->rest);
        good = strcmp(kind, "call") == 0    ? read_call(now, false)
               : strcmp(kind, "start") == 0 ? read_call(now, true)
               : strcmp(kind, "comm") == 0  ? read_comm(now)
               : strcmp(kind, "sent") == 0  ? read_sent(now)
               : strcmp(kind, "place") == 0 ? read_place(now)
               : strcmp(kind, "end") == 0   ? read_end(now)
                                            : coll_refuse(&now->lines, "an unknown line");
    }
    return good && (now->ended || coll_refuse(&now->lines, "%s", truncated));
}

/* --- The directory --- */

static bool read_rank(reading *now, const char *directory) {
    char path[4096], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/rank.%d", directory, now->rank);
    const int error = coll_textfile_read(path, COLL_TEXTFILE_ANY_SIZE, &text, &length);
    now->ended = false;
    now->logged = 0;
    now->pending = 0;
    now->lines.path = path;
    now->lines.line = 0;
    if (error)
        return coll_refuse(&now->lines, "%s; every rank of the job has such a file",
                           coll_textfile_fault(error));
    now->lines.next = text;
    now->lines.end = text + length;
    const bool good = length > 0 && text[length - 1] == '\n'
                          ? read_lines(now)
                          : coll_refuse(&now->lines, "%s", truncated);
    free(text);
    return good;
}

/* Returns a rank that a job of RANKS ranks does not have, but whose file is in DIRECTORY; -1 if
 * there is none. */
static long find_stranger(const char *directory, int ranks) {
    DIR *open = opendir(directory);
    long found = -1;
    for (struct dirent *entry; open && found < 0 && (entry = readdir(open));) {
        char *end;
        if (strncmp(entry->d_name, "rank.", 5) != 0)
            continue;
        const long rank = strtol(entry->d_name + 5, &end, 10);
        found = !*end && rank >= ranks ? rank : -1;
    }
    if (open)
        closedir(open);
    return found;
}

int COLL_Record_read(const char *directory, COLL_Record **record) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    reading now = {.record = calloc(1, sizeof *now.record),
                   .lines = {.kind = "record", .problem = problem}};
    int code = MPI_SUCCESS;
    if (!now.record)
        return coll_error(MPI_ERR_NO_MEM, "no memory for the record %.150s", directory);
    now.record->ranks = 1; /* until rank 0 is read */
    for (; now.rank < now.record->ranks && code == MPI_SUCCESS; now.rank++)
        if (!read_rank(&now, directory))
            code = coll_error(MPI_ERR_FILE, "%s", problem);
    const long stranger = code == MPI_SUCCESS ? find_stranger(directory, now.record->ranks) : -1;
    if (stranger >= 0)
        code = coll_error(MPI_ERR_FILE,
                          "record %.150s: mixed: rank %ld is not of this job of %d ranks",
                          directory, stranger, now.record->ranks);
    if (code == MPI_SUCCESS)
        code = coll_job_unify(now.record);
    if (code == MPI_SUCCESS)
        *record = now.record;
    else
        COLL_Record_free(now.record);
    return code;
}

int COLL_Record_ranks(const COLL_Record *record) {
    return record->ranks;
}

void COLL_Record_free(COLL_Record *record) {
    if (!record)
        return;
    for (int rank = 0; record->of && rank < record->ranks; rank++) {
        free(record->of[rank].calls);
        free(record->of[rank].sent);
    }
    for (int i = 0; i < record->group_count; i++)
        free(record->groups[i].members);
    free(record->of);
    free(record->comms);
    free(record->groups);
    free(record);
}

/* --- The order of calls --- */

/* A walk through a record. */
typedef struct walk {
    const COLL_Record *record;
    size_t *next; /* index of each rank's next call */
    int *waiting; /* for each communicator: number of members whose next call is on it */
    int *ready;   /* the communicators on which all members wait */
    int ready_count;
    coll_job_call **calls; /* memory for the calls of a group's members */
} walk;

/* Notes that RANK waits for its next call, if it has one. */
static void wait_for_next(walk *now, int rank) {
    const coll_job_rank *own = &now->record->of[rank];
    if (now->next[rank] == own->call_count)
        return;
    const coll_job_call *call = &own->calls[now->next[rank]];
    if (++now->waiting[call->comm] == coll_job_group_of(now->record, call)->ranks)
        now->ready[now->ready_count++] = call->comm;
}

static int mismatch(const walk *now, int rank, const char *what) {
    const coll_job_rank *own = &now->record->of[rank];
    const coll_job_call *call = &own->calls[now->next[rank]];
    return coll_error(MPI_ERR_FILE, "record: call %zu of rank %d, %s, %s; record again",
                      now->next[rank] + 1, rank, coll_operations[call->operation].name, what);
}

static int visit_next(walk *now, coll_job_visit *visit, void *context) {
    const int comm = now->ready[--now->ready_count];
    const coll_job_group *group = &now->record->groups[now->record->comms[comm].group];
    now->waiting[comm] = 0;
    for (int i = 0; i < group->ranks; i++) {
        const int rank = group->members[i];
        now->calls[i] = &now->record->of[rank].calls[now->next[rank]];
        if (now->calls[i]->operation != now->calls[0]->operation ||
            now->calls[i]->root != now->calls[0]->root)
            return mismatch(now, rank, "is not that of the other ranks");
    }
    const int code = visit(context, group, now->calls);
    for (int i = 0; i < group->ranks; i++) {
        now->next[group->members[i]]++;
        wait_for_next(now, group->members[i]);
    }
    return code;
}

int coll_job_walk(const COLL_Record *record, coll_job_visit *visit, void *context) {
    const size_t ranks = (size_t)record->ranks, comms = (size_t)record->comm_count;
    walk now = {.record = record,
                .next = calloc(ranks, sizeof *now.next),
                .waiting = calloc(comms + 1, sizeof *now.waiting),
                .ready = malloc((comms + 1) * sizeof *now.ready),
                .calls = malloc(ranks * sizeof *now.calls)};
    int code = now.next && now.waiting && now.ready && now.calls
                   ? MPI_SUCCESS
                   : coll_error(MPI_ERR_NO_MEM, "no memory for a record of %zu ranks", ranks);
    for (int rank = 0; rank < record->ranks && code == MPI_SUCCESS; rank++)
        wait_for_next(&now, rank);
    while (now.ready_count > 0 && code == MPI_SUCCESS)
        code = visit_next(&now, visit, context);
    for (int rank = 0; rank < record->ranks && code == MPI_SUCCESS; rank++)
        if (now.next[rank] < record->of[rank].call_count)
            code = mismatch(&now, rank, "is not on all ranks of its communicator");
    free(now.next);
    free(now.waiting);
    free(now.ready);
    free(now.calls);
    return code;
}

/* Sets the bytes of one collective's calls to their mean or, if an alltoall or a reduce_scatter has
 * uneven counts, to the mean block, and their NUMBER to the collective's number, which is counted
 * in CONTEXT. */
static int unify_bytes(void *context, const coll_job_group *group, coll_job_call *const calls[]) {
    const coll_operation operation = calls[0]->operation;
    const bool all_blocks =
        operation == COLL_OPERATION_ALLTOALL || operation == COLL_OPERATION_REDUCE_SCATTER;
    double sum = 0;
    bool uneven = false;
    int64_t *number = context;
    for (int i = 0; i < group->ranks; i++) {
        sum += (double)calls[i]->bytes / group->ranks;
        uneven = uneven || calls[i]->uneven;
    }
    if (uneven && all_blocks)
        sum /= group->ranks;
    for (int i = 0; i < group->ranks; i++) {
        calls[i]->bytes = (size_t)(sum + 0.5);
        calls[i]->uneven = uneven;
        calls[i]->number = *number;
    }
    ++*number;
    return MPI_SUCCESS;
}

int coll_job_unify(const COLL_Record *record) {
    int64_t calls = 0;
    return coll_job_walk(record, unify_bytes, &calls);
}
