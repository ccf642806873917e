/* The public entries that tell what the library found out, and keep what was measured. */
#include "config.h"

#include "coll.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/cost/profilefile.h"
#include "lib/operation/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *COLL_Operation_name(int operation) {
    return operation >= 0 && operation < COLL_OPERATIONS ? coll_operations[operation].name : NULL;
}

/* The state of COMM for the entry NAMED so; errors are raised. */
static int state_of(MPI_Comm comm, const char *name, coll_state **state) {
    if (comm == MPI_COMM_NULL)
        return coll_raise(MPI_COMM_WORLD, coll_error(MPI_ERR_COMM, "%s: null communicator", name));
    int inter = 0;
    int code = PMPI_Comm_test_inter(comm, &inter);
    if (code == MPI_SUCCESS && inter)
        code = coll_error(MPI_ERR_COMM, "%s: an intercommunicator", name);
    coll_comm *found;
    if (code == MPI_SUCCESS)
        code = coll_comm_get(comm, &found);
    if (code == MPI_SUCCESS)
        *state = coll_state_of(found);
    return coll_raise(comm, code);
}

int COLL_Places(MPI_Comm comm, COLL_Place places[]) {
    coll_state *state;
    int code = state_of(comm, "COLL_Places", &state);
    for (int rank = 0; code == MPI_SUCCESS && rank < state->topo.ranks; rank++) {
        const coll_place *place = &state->topo.places[rank];
        places[rank] = (COLL_Place){.site = place->site,
                                    .rack = place->rack,
                                    .node = place->node,
                                    .numa = place->numa,
                                    .host = state->topo.hosts[place->node]};
    }
    return code;
}

int COLL_Describe(MPI_Comm comm, COLL_Description *description) {
    coll_state *state;
    int code = state_of(comm, "COLL_Describe", &state);
    if (code != MPI_SUCCESS)
        return code;
    const coll_topo *topo = &state->topo;
    *description = (COLL_Description){
        .ranks = topo->ranks,
        .sites = topo->sites,
        .racks = topo->racks,
        .nodes = topo->nodes,
        .most_ranks_per_node = topo->most_ranks_per_node,
        .cores_per_node = topo->cores_per_node,
        .crowded = topo->crowded,
        .wait = coll_wait_manner_name(state->comm->wait.manner),
        .timeout = state->comm->wait.timeout,
        .topology = *state->topology ? state->topology : NULL,
        .profile = state->profile->source,
    };
    for (int level = 0; level < COLL_LEVELS; level++) {
        description->cost[level] = state->profile->level[level];
        description->measured[level] = state->profile->measured[level];
    }
    memcpy(description->copy, state->profile->copy, sizeof description->copy);
    return MPI_SUCCESS;
}

static int collect_levels(const COLL_Profile *profile, coll_profilefile *file) {
    char fault[100];
    int levels = 0;
    for (int level = 0; level < COLL_LEVELS; level++) {
        if (!profile->measured[level])
            continue;
        if (coll_profilefile_fault(&profile->cost[level], fault, sizeof fault))
            return coll_error(MPI_ERR_ARG, "level %s: %s", COLL_Level_name(level), fault);
        file->level[level] = profile->cost[level];
        file->measured[level] = true;
        levels++;
    }
    return levels ? MPI_SUCCESS : coll_error(MPI_ERR_ARG, "a profile without any level");
}

static int collect_copies(const COLL_Profile *profile, coll_profilefile *file) {
    for (int i = 0; i < COLL_COPIES; i++) {
        const char *fault = profile->copy[i].knots ? coll_curve_fault(&profile->copy[i]) : NULL;
        if (fault)
            return coll_error(MPI_ERR_ARG, "%s has %s", COLL_Copy_name(i), fault);
        file->copy[i] = profile->copy[i];
    }
    return MPI_SUCCESS;
}

static int collect_trials(const COLL_Profile *profile, coll_profilefile *file) {
    if (profile->trials < 0 || profile->trials > COLL_TRIALS)
        return coll_error(MPI_ERR_ARG, "a profile of %d trials", profile->trials);
    for (int i = 0; i < profile->trials; i++) {
        const char *fault = coll_trial_fault(&profile->trial[i]);
        if (fault)
            return coll_error(MPI_ERR_ARG, "trial %d has %s", i, fault);
        file->trial[i] = profile->trial[i];
    }
    file->trials = profile->trials;
    return MPI_SUCCESS;
}

/* Takes what was measured into FILE, but for the hosts. */
static int collect(const COLL_Profile *profile, coll_profilefile *file) {
    *file = (coll_profilefile){.hosts = NULL};
    int code = collect_levels(profile, file);
    if (code == MPI_SUCCESS)
        code = collect_copies(profile, file);
    if (code == MPI_SUCCESS)
        code = collect_trials(profile, file);
    time_t now = time(NULL);
    struct tm date;
    if (code == MPI_SUCCESS && (!gmtime_r(&now, &date) || !strftime(file->date, sizeof file->date,
                                                                    "%Y-%m-%dT%H:%M:%SZ", &date)))
        code = coll_error(MPI_ERR_OTHER, "the clock has no date");
    return code;
}

static int file_error(const char *path, int error) {
    return coll_error(MPI_ERR_FILE, "%.150s: can't be written: %s", path, strerror(error));
}

/* Writes all to STREAM and closes it. */
static int write_stream(FILE *stream, const char *path, const coll_profilefile *file,
                        const coll_topo *topo) {
    char problem[COLL_PROFILEFILE_PROBLEM];
    int code = MPI_SUCCESS;
    if (!coll_profilefile_print(stream, file, (const char *const *)topo->hosts, topo->nodes,
                                problem))
        code = coll_error(MPI_ERR_ARG, "%s", problem);
    else if (fflush(stream) || fsync(fileno(stream)))
        code = file_error(path, errno);
    if (fclose(stream) && code == MPI_SUCCESS)
        code = file_error(path, errno);
    return code;
}

/* Under a temporary name beside PATH first, so that a reader finds the old file or the new one. */
static int write_file(const char *path, const coll_profilefile *file, const coll_topo *topo) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return coll_error(MPI_ERR_FILE, "%.150s: can't be written: it is no regular file", path);
    enum { ENDING = 32 };
    size_t size = strlen(path) + ENDING;
    char *temporary = malloc(size);
    if (!temporary)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a file's name");
    snprintf(temporary, size, "%s.%ld.part", path, (long)getpid());

    int code;
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (stream)
        code = write_stream(stream, path, file, topo);
    else
        code = file_error(path, errno);
    if (!stream && descriptor >= 0)
        close(descriptor);
    if (code == MPI_SUCCESS && rename(temporary, path))
        code = file_error(path, errno);
    if (code != MPI_SUCCESS && descriptor >= 0)
        unlink(temporary);
    free(temporary);
    return code;
}

int COLL_Profile_write(const char *path, MPI_Comm comm, const COLL_Profile *profile) {
    coll_state *state;
    coll_profilefile file;
    int code = state_of(comm, "COLL_Profile_write", &state);
    if (code != MPI_SUCCESS)
        return code;
    code = collect(profile, &file);
    if (code == MPI_SUCCESS)
        code = write_file(path, &file, &state->topo);
    return coll_raise(comm, code);
}
