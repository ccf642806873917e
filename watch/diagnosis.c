/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/diagnosis.h"

#include "watch/analysis.h"

#include <stdlib.h>

const char *watch_finding_name(watch_finding_kind kind) {
    static const char *const names[] = {"mismatch", "cycle",  "unsent",
                                        "unwanted", "absent", "missing"};
    return names[kind];
}

bool watch_diagnosis_hangs(const watch_diagnosis *diagnosis) {
    for (int i = 0; i < diagnosis->count; i++)
        if (diagnosis->findings[i].hangs)
            return true;
    return false;
}

watch_finding *watch_analysis_add(watch_analysis *v, watch_finding_kind kind, int rank, bool hangs,
                                  watch_text *text) {
    if (v->out->count == WATCH_FINDINGS)
        return NULL;
    watch_finding *finding = &v->out->findings[v->out->count++];
    finding->kind = kind;
    finding->rank = rank;
    finding->hangs = hangs;
    *text = watch_text_in(finding->text, sizeof finding->text);
    return finding;
}

const watch_record *watch_analysis_call(const watch_analysis *v, int rank) {
    const watch_record *found = NULL;
    const watch_state *state = &v->states[rank];
    for (uint32_t i = 0; i < state->head.records; i++) {
        if (!state->records[i].open)
            continue;
        if (found)
            return NULL;
        found = &state->records[i];
    }
    return found;
}

void watch_analysis_append_call(const watch_analysis *v, watch_text *text, int rank) {
    const watch_record *call = watch_analysis_call(v, rank);
    if (!call)
        return;
    watch_append_call(text, call);
    watch_append_call_comm(text, call, v->states, v->ranks);
}

bool watch_diagnose(const watch_state states[], int ranks, uint64_t young,
                    watch_diagnosis *diagnosis) {
    size_t count = (size_t)ranks;
    watch_analysis v = {.states = states,
                        .ranks = ranks,
                        .young = young,
                        .conditions = calloc(count, sizeof *v.conditions),
                        .any = calloc(count, sizeof *v.any),
                        .stuck = calloc(count, sizeof *v.stuck),
                        .waits = calloc(count, count),
                        .out = diagnosis};
    diagnosis->count = 0;
    bool done = v.conditions && v.any && v.stuck && v.waits && watch_analysis_find_mismatches(&v);
    if (done) {
        bool explained = diagnosis->count > 0;
        watch_analysis_find_waits(&v);
        for (int rank = 0; rank < ranks; rank++)
            watch_analysis_find_unmatched(&v, rank);
        explained = explained || diagnosis->count > 0;
        /* Any other error explains why ranks wait: a cycle may then be a mere consequence of it. */
        if (!explained)
            watch_analysis_find_cycles(&v);
        done = watch_analysis_find_absent(&v);
    }
    free(v.conditions);
    free(v.any);
    free(v.stuck);
    free(v.waits);
    return done;
}
