#include "config.h"

#include "tools/profile/trial.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/progress.h"
#include "app/stats.h"
#include "tools/bench/bench.h"
#include "tools/profile/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const size_t trial_size[TRIAL_SIZES] = {256,     1 << 10,  2 << 10,  4 << 10,
                                        8 << 10, 16 << 10, 32 << 10, 64 << 10};

const char *const trial_operation[] = {
    "bcast",     "gather",   "allreduce", "reduce",  "reduce_scatter_block",
    "allgather", "alltoall", "scatter",   "barrier", NULL};

/* All ranks, half of them, a quarter, and no more, as long as there are so many. */
enum { GROUPS = 3, SPARSER = 2, FEWEST = 3 };

enum { CANDIDATES = 32, LEAST_ROUNDS = 6, MOST_ROUNDS = 200 };

/* Who takes so many times as long as the fastest by the model is not tried. */
static const double HOPELESS = 4;

/* Rounds go on until the medians are known to within the first share of themselves or time is up;
 * where they are not known to within the second one then, as where packets are lost now and then,
 * it is the mean that counts. */
static const double STEADY = 0.03, NOISY = 1;

/* Ranks outside a group sleep for so long between looks for its end; s. */
static const double NAP = 5e-3;

/* The ranks of a group: all in their own order, as programs run, or those nearest to rank 0. */
typedef struct group {
    MPI_Comm comm; /* MPI_COMM_NULL on others */
    int ranks;
    COLL_Level level; /* the farthest at which they are apart */
} group;

/* One operation on one group. */
typedef struct race {
    group group;
    const operation *operation;
    app_clock clock;
    contender_list list; /* all candidates */
    double end;          /* of rank 0's time for the group */
    int sizes;           /* to try until then */
    double seconds;      /* for the next one */
} race;

/* This rank's place in the order of distance from rank 0. */
static int position_of(int rank, const COLL_Place places[], int ranks) {
    COLL_Level own = survey_apart(&places[0], &places[rank]);
    int before = 0;
    for (int other = 0; other < ranks; other++) {
        COLL_Level level = survey_apart(&places[0], &places[other]);
        before += level < own || (level == own && other < rank);
    }
    return before;
}

/* The level of the last of COUNT ranks in that order. */
static COLL_Level level_of(int count, const COLL_Place places[], int ranks) {
    int at[COLL_LEVELS] = {0}, level = 0;
    for (int rank = 0; rank < ranks; rank++)
        at[survey_apart(&places[0], &places[rank])]++;
    for (int within = at[0]; within < count; within += at[level])
        level++;
    return (COLL_Level)level;
}

static int make_group(MPI_Comm comm, const COLL_Place places[], int count, group *made) {
    int ranks = app_ranks(comm);
    *made = (group){.comm = MPI_COMM_NULL, .ranks = count, .level = level_of(count, places, ranks)};
    int rank = app_rank(comm);
    int position = count == ranks ? rank : position_of(rank, places, ranks);
    int code = MPI_Comm_split(comm, position < count ? 0 : MPI_UNDEFINED, position, &made->comm);
    if (code == MPI_SUCCESS && made->comm != MPI_COMM_NULL)
        code = MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
    return code;
}

/* Adds all candidates of the operation that can be chosen. */
static int add_candidates(race *r) {
    COLL_Candidate candidates[CANDIDATES];
    const char *names[CANDIDATES + 1] = {NULL};
    int count, added = 0;
    int code = COLL_Explain(r->operation->library, (MPI_Count)trial_size[TRIAL_SIZES - 1], 0,
                            r->group.comm, candidates, CANDIDATES, &count);
    for (int i = 0; code == MPI_SUCCESS && i < count && i < CANDIDATES; i++)
        if (candidates[i].applicable && !candidates[i].rival)
            names[added++] = candidates[i].name;
    return code == MPI_SUCCESS ? contender_add_ours(&r->list, r->operation->library, names,
                                                    operation_ours, r->group.comm)
                               : code;
}

/* What the model says of each contender at BYTES, in s: 0 of those that can't run. */
static int ask_model(const race *r, size_t bytes, double model[]) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < r->list.count && code == MPI_SUCCESS; i++) {
        COLL_Candidate candidate;
        code = contender_explain(r->group.comm, r->operation->library, bytes, 0,
                                 r->list.at[i].algorithm, &candidate);
        model[i] = code == MPI_SUCCESS && candidate.applicable ? candidate.model : 0;
    }
    return code;
}

static bool is_native(const contender *c) {
    return strcmp(c->algorithm, "native") == 0;
}

/* Leaves those in HOPEFUL, in their order, that may turn out to be the fastest, and the MPI
 * library's own, which the model knows least; MODEL likewise, and WHICH they are of all. */
static void leave_hopeful(const race *r, double model[], contender_list *hopeful, int which[]) {
    double least = 0;
    for (int i = 0; i < r->list.count; i++)
        if (model[i] > 0 && (least == 0 || model[i] < least))
            least = model[i];
    hopeful->count = 0;
    for (int i = 0; i < r->list.count; i++) {
        if (!(model[i] > 0) || (model[i] > HOPELESS * least && !is_native(&r->list.at[i])))
            continue;
        hopeful->at[hopeful->count] = r->list.at[i];
        model[hopeful->count] = model[i];
        which[hopeful->count++] = i;
    }
}

/* Whether the least rounds fit into the time, as far as the model knows. */
static bool is_affordable(const race *r, const double model[], int count) {
    double round = 0;
    for (int i = 0; i < count; i++)
        round += model[i];
    return round * LEAST_ROUNDS < r->seconds;
}

/* Leaves out the slowest by the model, but not the MPI library's own, until they fit into the time
 * or there are only two. So long sizes, where packets may be lost, are tried, too. */
static void leave_affordable(const race *r, double model[], contender_list *hopeful, int which[]) {
    while (hopeful->count > 2 && !is_affordable(r, model, hopeful->count)) {
        int slowest = is_native(&hopeful->at[0]), last = --hopeful->count;
        for (int i = slowest + 1; i <= last; i++)
            if (model[i] > model[slowest] && !is_native(&hopeful->at[i]))
                slowest = i;
        for (int i = slowest; i < last; i++) {
            hopeful->at[i] = hopeful->at[i + 1];
            model[i] = model[i + 1];
            which[i] = which[i + 1];
        }
    }
}

/* What a call takes by SORTED times. */
static double time_of(const double sorted[], int count) {
    if (app_stats_median_is_steady(sorted, count, NOISY))
        return app_stats_quantile(sorted, count, 0.5);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += sorted[i];
    return sum / count;
}

/* What contender I took at one more size. */
static void add_knot(const race *r, int i, size_t bytes, double model, const bench_result *result,
                     COLL_Trial *found) {
    if (!(model > 0) || result->error != MPI_SUCCESS || !result->count)
        return;
    if (!found->knots) {
        *found = (COLL_Trial){.level = r->group.level, .ranks = r->group.ranks};
        snprintf(found->operation, sizeof found->operation, "%s", r->operation->library);
        snprintf(found->algorithm, sizeof found->algorithm, "%s", r->list.at[i].algorithm);
    }
    found->bytes[found->knots] = (double)bytes;
    found->model[found->knots] = model;
    found->seconds[found->knots++] = time_of(result->samples, result->count);
}

static int try_size(const race *r, size_t bytes, COLL_Trial found[]) {
    const bench_settings settings = {.operation = r->operation,
                                     .warmups = 1,
                                     .least = LEAST_ROUNDS,
                                     .most = MOST_ROUNDS,
                                     .seconds = r->seconds,
                                     .steady = STEADY};
    double model[CANDIDATES];
    bench_result results[CANDIDATES];
    contender some[CANDIDATES];
    contender_list hopeful = {.at = some};
    int which[CANDIDATES], code = ask_model(r, bytes, model);
    leave_hopeful(r, model, &hopeful, which);
    leave_affordable(r, model, &hopeful, which);
    if (code != MPI_SUCCESS || !is_affordable(r, model, hopeful.count))
        return code;
    code = bench_run(&hopeful, bytes, &settings, &r->clock, r->group.comm, results);
    for (int i = 0; i < hopeful.count && code == MPI_SUCCESS; i++)
        add_knot(r, which[i], bytes, model[i], &results[i], &found[which[i]]);
    bench_free(results, hopeful.count);
    return code;
}

/* How many sizes there are to try: a barrier has none, and is tried once. */
static int sizes_of(const operation *tried) {
    return tried->in == OPERATION_NOTHING && tried->out == OPERATION_NOTHING ? 1 : TRIAL_SIZES;
}

/* An even share of what time is left, the same on all ranks. */
static int share_time(race *r) {
    r->seconds = (r->end - MPI_Wtime()) / r->sizes--;
    return MPI_Bcast(&r->seconds, 1, MPI_DOUBLE, 0, r->group.comm);
}

/* All sizes of one operation; what is found is appended on the group's rank 0. */
static int try_operation(race *r, COLL_Trial found[], int *count) {
    COLL_Trial here[CANDIDATES] = {{.knots = 0}};
    int rank = app_rank(r->group.comm), code = add_candidates(r);
    for (int i = 0; i < sizes_of(r->operation) && code == MPI_SUCCESS; i++) {
        if (rank == 0)
            app_progress("trials: %s of %zu bytes, %d ranks", r->operation->name, trial_size[i],
                         r->group.ranks);
        code = share_time(r);
        if (code == MPI_SUCCESS)
            code = try_size(r, trial_size[i], here);
    }
    for (int i = 0; i < r->list.count && rank == 0; i++)
        if (here[i].knots && *count < COLL_TRIALS)
            found[(*count)++] = here[i];
    contender_free(&r->list);
    return code;
}

/* The time is shared out evenly; what one size leaves goes to those after it. */
static int try_group(const group *g, const trial_plan *plan, double seconds, COLL_Trial found[],
                     int *count) {
    race r = {.group = *g, .end = MPI_Wtime() + seconds};
    int code = app_clock_init(&r.clock, g->comm);
    for (size_t i = 0; i < plan->count; i++)
        r.sizes += sizes_of(operation_find(plan->operations[i]));
    for (size_t i = 0; i < plan->count && code == MPI_SUCCESS; i++) {
        r.operation = operation_find(plan->operations[i]);
        code = try_operation(&r, found, count);
    }
    return code;
}

/* The nearest RANKS, while all others sleep. */
static int try_ranks(MPI_Comm comm, const COLL_Place places[], int ranks, const trial_plan *plan,
                     double seconds, COLL_Trial found[], int *count) {
    group g;
    MPI_Request end;
    int code = make_group(comm, places, ranks, &g);
    if (code == MPI_SUCCESS && g.comm != MPI_COMM_NULL && g.level >= COLL_LEVEL_RACK &&
        g.level < COLL_LEVEL_WIDE)
        code = try_group(&g, plan, seconds, found, count);
    if (g.comm != MPI_COMM_NULL)
        MPI_Comm_free(&g.comm);
    if (code == MPI_SUCCESS)
        code = MPI_Ibarrier(comm, &end);
    return code == MPI_SUCCESS ? app_wait_asleep(&end, NAP, NAP) : code;
}

int trial_run(MPI_Comm comm, const COLL_Place places[], const trial_plan *plan, COLL_Trial found[],
              int *count) {
    int ranks = app_ranks(comm), groups = 1, code = MPI_SUCCESS;
    for (int fewer = ranks / SPARSER; groups < GROUPS && fewer >= FEWEST; fewer /= SPARSER)
        groups++;
    *count = 0;
    for (int i = 0; i < groups && code == MPI_SUCCESS; i++, ranks /= SPARSER)
        code = try_ranks(comm, places, ranks, plan, plan->seconds / groups, found, count);
    return code;
}
