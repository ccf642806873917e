/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/report.h"

#include "lib/base/agree.h"
#include "lib/base/cachefile.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/textfile.h"
#include "lib/replay/call_log.h"
#include "lib/report/gather.h"
#include "lib/report/record.h"
#include "lib/tuning/state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tag of the messages on MPI_COMM_WORLD; programs seldom use such a large tag. */
enum { TAG = 32719 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started, later;
static int start_code; /* what the start has returned; all later starts return it, too */
static MPI_Comm world;
static int world_rank, world_ranks;
static bool *expected; /* of rank 0: the ranks that will report */
static bool reports;   /* this rank takes part in the report */
static const char *aside;

void coll_report_start_later(void) {
    later = true;
}

void coll_report_set_aside(const char *why) {
    aside = why;
}

/* Estimates the time that libcoll would have saved in rank 0's calls. */
static void find_would_save(coll_summary *summary, const coll_profile *profile) {
    int classes;
    const coll_report_class *all = coll_report_classes(&classes);
    for (int i = 0; i < classes; i++) {
        const coll_report_group *group = all[i].group;
        coll_report_range next;
        coll_topo part;
        if (!group || group->ranks < 2 ||
            coll_topo_part(&summary->topo, group->ranks, group->members, &part) != MPI_SUCCESS)
            continue;
        if (part.nodes > 1 && coll_report_would_save(&all[i], &part, profile, &next)) {
            summary->would_known = true;
            coll_report_range_add(&summary->would_save, &next);
        }
        coll_topo_free(&part);
    }
}

/* Sets the summary's reason why libcoll ran no call, and the time that libcoll would have saved. */
static void explain(coll_summary *summary) {
    const char *profile_name = coll_env("COLL_PROFILE");
    char problem[COLL_TEXTFILE_PROBLEM];
    coll_profile *profile = malloc(sizeof *profile);
    int classes;
    const coll_report_class *all = coll_report_classes(&classes);
    const coll_report_class *longest = NULL; /* of those with a reason */
    bool disabled = false;
    (void)coll_env_switch("COLL_DISABLE", &disabled);
    for (int i = 0; i < classes; i++)
        if (all[i].why && (!longest || all[i].inside > longest->inside))
            longest = &all[i];
    summary->why = disabled ? "COLL_DISABLE is set" : aside;
    if (!summary->why && longest)
        summary->why = longest->why;
    if (!summary->why && summary->topo.ranks > 0 && summary->topo.nodes == 1)
        summary->why = "all ranks are on one host";
    if (profile && summary->topo.ranks > 0) {
        coll_profile_load(profile_name ? profile_name : "", &summary->topo, profile, problem);
        if (!*problem)
            find_would_save(summary, profile);
    }
    free(profile);
}

static void write_report(const coll_summary *summary) {
    const char *path = coll_env("COLL_REPORT");
    const char *ending = path ? strrchr(path, '.') : NULL;
    coll_printer *print = coll_summary_print;
    if (!ending) {
        (void)coll_summary_print(stderr, summary);
        return;
    }
    if (strcmp(ending, ".json") == 0)
        print = coll_summary_print_json;
    else if (strcmp(ending, ".svg") == 0)
        print = coll_summary_print_svg;
    const int error = coll_cachefile_replace(path, 0666, print, summary, false);
    if (error)
        fprintf(stderr, "coll: COLL_REPORT=%s: not written: %s\n", path, strerror(error));
}

/* Called at the beginning of MPI_Finalize, while MPI still works. */
static int report(MPI_Comm self, int key, void *value, void *extra) {
    double timeout = 0;
    MPI_Errhandler handler;
    (void)self, (void)key, (void)value, (void)extra;
    coll_report_end_recording();
    if (!reports || coll_env_seconds("COLL_TIMEOUT", &timeout) != MPI_SUCCESS)
        return MPI_SUCCESS;
    if (PMPI_Comm_get_errhandler(world, &handler) != MPI_SUCCESS)
        return MPI_SUCCESS;
    (void)PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (world_rank != 0) {
        coll_gather_send(world, TAG, timeout);
    } else {
        coll_summary summary;
        if (coll_gather(world, TAG, timeout, expected, &summary)) {
            if (!summary.served)
                explain(&summary);
            write_report(&summary);
        } else {
            fprintf(stderr, "coll: COLL_REPORT: no memory for the report\n");
        }
        coll_gather_free(&summary);
    }
    (void)PMPI_Comm_set_errhandler(world, handler);
    (void)PMPI_Errhandler_free(&handler);
    return MPI_SUCCESS;
}

/* Starts recording, if that has not been done, and the call log in the directory RECORD unless
 * that is NULL. The lock is held. */
static int start(const char *record) {
    int key;
    if (started)
        return start_code;
    started = true;
    world = coll_dcp_comm(MPI_COMM_WORLD);
    int code = PMPI_Comm_rank(world, &world_rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(world, &world_ranks);
    if (code == MPI_SUCCESS && !(expected = calloc((size_t)world_ranks, sizeof *expected)))
        code = coll_error(MPI_ERR_NO_MEM, "no memory for a report of %d ranks", world_ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, report, &key, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_free_keyval(&key);
    if (code == MPI_SUCCESS)
        code = coll_report_begin_recording(world);
    if (code == MPI_SUCCESS && record)
        code = coll_call_log_open(record, world_rank, world_ranks);
    if (code != MPI_SUCCESS)
        coll_report_end_recording();
    return start_code = code;
}

int coll_report_start(bool report, const char *record) {
    pthread_mutex_lock(&lock);
    const int code = start(record);
    for (int rank = 0; rank < world_ranks && code == MPI_SUCCESS; rank++)
        expected[rank] = true;
    reports = report && code == MPI_SUCCESS;
    pthread_mutex_unlock(&lock);
    return code;
}

/*
 * Starts recording if COMM's settings ask for it, and notes which ranks share COMM with rank 0 of
 * MPI_COMM_WORLD.
 */
static int open_report(coll_comm *comm, const coll_comm *whole) {
    if (whole || later)
        return MPI_SUCCESS;
    const coll_agreed_settings *settings = coll_state_of(comm)->settings;
    if (!settings->report && !*settings->record) {
        if (coll_report_is == COLL_REPORT_UNDECIDED)
            coll_report_end_recording();
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    int code = start(*settings->record ? settings->record : NULL);
    pthread_mutex_unlock(&lock);
    code = coll_agree(comm, code); /* opening the file of COLL_RECORD may fail on one rank alone */
    if (code == MPI_SUCCESS && settings->report) {
        int ranks, *members = coll_report_members(comm->user, &ranks);
        bool shares = false;
        pthread_mutex_lock(&lock);
        for (int i = 0; i < ranks && members; i++)
            shares = shares || members[i] == 0;
        for (int i = 0; i < ranks && shares; i++)
            expected[members[i]] = true;
        reports = reports || shares;
        pthread_mutex_unlock(&lock);
        free(members);
    }
    return code;
}

coll_comm_key coll_report_key = {.bytes = sizeof(char), .open = open_report};
