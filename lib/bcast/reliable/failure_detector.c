/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/failure_detector.h"

#include <string.h>

size_t coll_failure_detector_bytes(int ranks) {
    return (size_t)ranks * (sizeof(coll_account) + sizeof(double));
}

void coll_failure_detector_open(coll_failure_detector *detector, void *memory, int root,
                                int ranks) {
    memset(memory, 0, coll_failure_detector_bytes(ranks));
    *detector = (coll_failure_detector){.root = root,
                                        .ranks = ranks,
                                        .accounts = memory,
                                        .heard = (double *)((coll_account *)memory + ranks)};
}

void coll_failure_detector_report(coll_failure_detector *detector, int rank,
                                  const coll_account *account, double now) {
    const coll_account *before = &detector->accounts[rank];
    if (account->epoch != before->epoch || account->taken != before->taken)
        detector->progress = now;
    detector->accounts[rank] = *account;
    detector->heard[rank] = now;
}

void coll_failure_detector_begin(coll_failure_detector *detector, double now) {
    detector->begun = detector->progress = now;
}

static bool is_silent(const coll_failure_detector *detector, int rank, double now, double limit) {
    return rank != detector->root && now - detector->heard[rank] > limit;
}

bool coll_failure_detector_stalls(const coll_failure_detector *detector, double now, double limit) {
    bool stalls = now - detector->progress > limit;
    for (int i = 0; i < detector->ranks && now - detector->begun > limit; i++)
        stalls = stalls || is_silent(detector, i, now, limit);
    return stalls;
}

/* Returns how many segments of EPOCH RANK has: 0 if its last account is of an older epoch,
 * UINT64_MAX for the root. */
static uint64_t segments_passed(const coll_failure_detector *detector, int rank, uint32_t epoch) {
    if (rank == detector->root)
        return UINT64_MAX;
    const coll_account *account = &detector->accounts[rank];
    return account->epoch == epoch ? account->passed : 0;
}

/* Returns a diagnosis that names the silent ranks; its WHO is -1 if none is silent. */
static coll_diagnosis diagnose_silent(const coll_failure_detector *detector, double now,
                                      double limit) {
    coll_diagnosis diagnosis = {.fault = COLL_FAULT_SILENT, .who = -1, .from = -1};
    for (int i = 0; i < detector->ranks; i++)
        if (is_silent(detector, i, now, limit) &&
            (diagnosis.who < 0 || detector->heard[i] < detector->heard[diagnosis.who]))
            diagnosis.who = i;
    for (int i = 0; i < detector->ranks; i++)
        if (i != diagnosis.who && is_silent(detector, i, now, limit)) {
            if (diagnosis.more < COLL_DIAGNOSIS_ALSO)
                diagnosis.also[diagnosis.more] = i;
            diagnosis.more++;
        }
    if (diagnosis.who >= 0)
        diagnosis.seconds = now - detector->heard[diagnosis.who];
    return diagnosis;
}

coll_diagnosis coll_failure_detector_diagnose(const coll_failure_detector *detector,
                                              const int order[], uint32_t epoch, double now,
                                              double limit) {
    coll_diagnosis silent = diagnose_silent(detector, now, limit);
    if (silent.who >= 0)
        return silent;

    int last = detector->ranks - 1;
    while (last > 1 && segments_passed(detector, order[last], epoch) >=
                           segments_passed(detector, order[last - 1], epoch))
        last--;
    return (coll_diagnosis){.fault = COLL_FAULT_STUCK,
                            .who = order[last],
                            .from = order[last - 1],
                            .seconds = now - detector->progress};
}
