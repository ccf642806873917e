#include "config.h"

#include "lib/bcast/reliable/failure_detector.h"

#include "lib/base/reserve_alloc.h"

bool coll_failure_detector_create(coll_failure_detector *watch, int root, int ranks, double now) {
    *watch = (coll_failure_detector){.root = root, .ranks = ranks, .begun = now, .progress = now};
    watch->heard = coll_reserve_alloc((size_t)ranks * sizeof *watch->heard);
    watch->accounts = coll_reserve_calloc((size_t)ranks, sizeof *watch->accounts);
    if (!watch->heard || !watch->accounts) {
        coll_failure_detector_free(watch);
        return false;
    }
    for (int i = 0; i < ranks; i++)
        watch->heard[i] = now;
    return true;
}

void coll_failure_detector_free(coll_failure_detector *watch) {
    coll_reserve_free(watch->heard);
    coll_reserve_free(watch->accounts);
    *watch = (coll_failure_detector){0};
}

void coll_failure_detector_report(coll_failure_detector *watch, int rank,
                                  const coll_account *account, double now) {
    const coll_account *before = &watch->accounts[rank];
    if (account->epoch != before->epoch || account->taken != before->taken)
        watch->progress = now;
    watch->accounts[rank] = *account;
    watch->heard[rank] = now;
}

void coll_failure_detector_begin(coll_failure_detector *watch, double now) {
    watch->begun = watch->progress = now;
}

static bool is_silent(const coll_failure_detector *watch, int rank, double now, double limit) {
    return rank != watch->root && now - watch->heard[rank] > limit;
}

bool coll_failure_detector_stalls(const coll_failure_detector *watch, double now, double limit) {
    bool stalls = now - watch->progress > limit;
    for (int i = 0; i < watch->ranks && now - watch->begun > limit; i++)
        stalls = stalls || is_silent(watch, i, now, limit);
    return stalls;
}

/* Returns the segments of EPOCH that RANK has: 0 if its last account is of an older epoch. */
static uint64_t segments_passed(const coll_failure_detector *watch, int rank, uint32_t epoch) {
    if (rank == watch->root)
        return UINT64_MAX;
    const coll_account *account = &watch->accounts[rank];
    return account->epoch == epoch ? account->passed : 0;
}

/* Returns a diagnosis that names the silent ranks; its WHO is -1 if none is silent. */
static coll_diagnosis blame_silent(const coll_failure_detector *watch, double now, double limit) {
    coll_diagnosis blame = {.fault = COLL_FAULT_SILENT, .who = -1, .from = -1};
    for (int i = 0; i < watch->ranks; i++)
        if (is_silent(watch, i, now, limit) &&
            (blame.who < 0 || watch->heard[i] < watch->heard[blame.who]))
            blame.who = i;
    for (int i = 0; i < watch->ranks; i++)
        if (i != blame.who && is_silent(watch, i, now, limit)) {
            if (blame.more < COLL_DIAGNOSIS_ALSO)
                blame.also[blame.more] = i;
            blame.more++;
        }
    if (blame.who >= 0)
        blame.seconds = now - watch->heard[blame.who];
    return blame;
}

coll_diagnosis coll_failure_detector_diagnose(const coll_failure_detector *watch, const int order[],
                                              uint32_t epoch, double now, double limit) {
    coll_diagnosis silent = blame_silent(watch, now, limit);
    if (silent.who >= 0)
        return silent;

    int last = watch->ranks - 1;
    while (last > 1 && segments_passed(watch, order[last], epoch) >=
                           segments_passed(watch, order[last - 1], epoch))
        last--;
    return (coll_diagnosis){.fault = COLL_FAULT_STUCK,
                            .who = order[last],
                            .from = order[last - 1],
                            .seconds = now - watch->progress};
}
