#include "config.h"

#include "lib/base/env.h"

#include "lib/base/error.h"
#include "lib/base/plain.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

const COLL_Setting coll_settings[] = {
    {"COLL_BCAST", "algorithm of broadcast: auto, or NAME[:PARAMETER=VALUE,...]"},
    {"COLL_GATHER", "algorithm of gather: auto, or NAME[:PARAMETER=VALUE,...]"},
    {"COLL_AGGREGATE", "algorithm of aggregation: auto, or NAME[:PARAMETER=VALUE,...]"},
    {"COLL_TOPOLOGY",
     "file of racks (Slurm topology.conf syntax), auto: measured once, auto:fresh, check:FILE"},
    {"COLL_LATENCIES",
     "file of latencies between sites (coll-hlot(1)); default: they are measured"},
    {"COLL_PROFILE", "file of measured costs, which coll-profile writes; or built-in"},
    {"COLL_TIMEOUT", "seconds without progress after which a call is an error; 0: wait for ever"},
    {"COLL_WAIT",
     "how to wait: polite (yield, sleep), spin, auto: polite on shared cores; block: in MPI"},
    {"COLL_DCP", "dedicated processors: 1:4, one to four application ranks, or how many in all"},
    {"COLL_DCP_TRANSPORT", "to the DCP of its node a rank talks by: auto, shared (memory) or p2p"},
    {"COLL_DCP_LIMIT", "the largest allreduce that DCPs take, as 1K; default: by the cost model"},
    {"COLL_TRACE", "1: print one line a call to stderr: operation, bytes, choice, why, seconds"},
    {"COLL_KMEANS_KERNEL", "kernel of coll-kmeans: avx512-vnni, avx2 or scalar; default: the best"},
    {NULL, NULL},
};

const char *coll_env(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Settings of earlier versions, and what to do instead. */
static const COLL_Setting retired[] = {
    {"COLL_GUARD", "trials in the profile do its work (coll-profile)"},
    {NULL, NULL},
};

/* The setting in LIST that VARIABLE, "NAME=VALUE", is; or NULL. */
static const COLL_Setting *find(const COLL_Setting list[], const char *variable) {
    size_t length = strcspn(variable, "=");
    for (const COLL_Setting *s = list; s->name; s++)
        if (strlen(s->name) == length && strncmp(s->name, variable, length) == 0)
            return s;
    return NULL;
}

/* Once a process. */
static void say_retired(const COLL_Setting *setting) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "coll: %s does nothing any more, unset it: %s\n", setting->name,
                setting->help);
}

int coll_env_check(void) {
    static const char prefix[] = "COLL_", tests[] = "COLL_TEST_";
    for (char **variable = environ; variable && *variable; variable++) {
        bool ours = strncmp(*variable, prefix, sizeof prefix - 1) == 0 &&
                    strncmp(*variable, tests, sizeof tests - 1) != 0;
        if (!ours || find(coll_settings, *variable))
            continue;
        const COLL_Setting *gone = find(retired, *variable);
        if (gone) {
            say_retired(gone);
            continue;
        }
        char names[300] = "";
        for (const COLL_Setting *s = coll_settings; s->name; s++) {
            if (s != coll_settings)
                strncat(names, ", ", sizeof names - strlen(names) - 1);
            strncat(names, s->name, sizeof names - strlen(names) - 1);
        }
        return coll_error(MPI_ERR_ARG, "unknown setting %.*s; known: %s",
                          (int)strcspn(*variable, "="), *variable, names);
    }
    return MPI_SUCCESS;
}

/* Thirty years. */
static const double MOST_SECONDS = 1e9;

int coll_env_seconds(const char *name, double *seconds) {
    const char *text = coll_env(name);
    if (!text) {
        *seconds = 0;
        return MPI_SUCCESS;
    }
    double value;
    if (!coll_plain_number(text, &value) || !(value >= 0 && value <= MOST_SECONDS))
        return coll_error(MPI_ERR_ARG, "%s=%s: must be seconds, 0 to %.0f, as 2.5", name, text,
                          MOST_SECONDS);
    *seconds = value;
    return MPI_SUCCESS;
}

int coll_env_switch(const char *name, bool *on) {
    const char *text = coll_env(name);
    *on = text && strcmp(text, "1") == 0;
    if (text && !*on && strcmp(text, "0") != 0)
        return coll_error(MPI_ERR_ARG, "%s=%s: must be 0 or 1", name, text);
    return MPI_SUCCESS;
}

const COLL_Setting *COLL_Settings(void) {
    return coll_settings;
}
