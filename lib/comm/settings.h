/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's settings for a communicator. Rank 0's settings, from its environment and the
 * communicator's info keys, hold for all ranks, because the settings of other ranks may differ or
 * be empty.
 */
#ifndef COLL_LIB_COMM_SETTINGS_H
#define COLL_LIB_COMM_SETTINGS_H

#include "lib/algorithm/operations.h"
#include "lib/algorithm/spec.h"
#include "lib/base/comm.h"
#include "lib/base/pack_buffer.h"
#include "lib/cost/profile.h"

#include <stdbool.h>

/* Which operations are tuned: the setting COLL_LEARN. */
typedef enum coll_autotune_what {
    COLL_AUTOTUNE_NOTHING,
    COLL_AUTOTUNE_MOVES, /* operations that move data without reducing it */
    COLL_AUTOTUNE_ALL
} coll_autotune_what;

typedef struct coll_agreed_settings {
    char specs[COLL_OPERATIONS][COLL_SPEC_MAX]; /* algorithms, as text; "": auto */
    coll_spec parsed[COLL_OPERATIONS];          /* the same, set by coll_settings_parse */
    char topology[4096];                        /* the file of racks and sites, or "" */
    char latencies[4096];                       /* the file of latencies between sites, or "" */
    char profile[COLL_PROFILE_SOURCE];
    char record[4096];    /* the directory of the call log, or "" */
    double timeout;       /* s; 0: none. The members from here on are sent as raw bytes */
    bool disabled;        /* the MPI library runs all operations that it has */
    bool reproducible;    /* reductions give the same bits whatever is measured */
    bool trace;           /* rank 0 prints a line for each call */
    bool report;          /* a report is written in MPI_Finalize */
    bool progress_thread; /* a thread progresses nonblocking operations */
    coll_wait_manner manner;
    coll_autotune_what learn;
} coll_agreed_settings;

/*
 * Reads the settings from this process's environment and the info keys of COMM (which may be
 * MPI_COMM_NULL); called on rank 0. Local. Returns MPI_ERR_ARG if a setting is invalid.
 */
int coll_settings_read(MPI_Comm comm, coll_agreed_settings *found);

/* Returns whether an info key of COMM names an algorithm. Local. */
bool coll_settings_has_info(MPI_Comm comm);

/* Replaces algorithms in FOUND by the algorithms that info keys of COMM name. If FOUND says that
 * libcoll is disabled, then makes all operations native that have a native algorithm. Local.
 * Returns MPI_ERR_ARG if a key is invalid. */
int coll_settings_read_info(MPI_Comm comm, coll_agreed_settings *found);

/* Sets PARSED from SPECS. Returns MPI_ERR_ARG if one of SPECS is invalid. */
int coll_settings_parse(coll_agreed_settings *settings);

/* Packs SETTINGS except PARSED into PACK, or unpacks them. */
void coll_settings_carry(coll_pack_buffer *pack, coll_agreed_settings *settings);

/*
 * Checks this process's environment, but not the files that it names. Local; calls MPI only for an
 * error's text.
 */
int coll_settings_check(void);

/*
 * Returns MPI_ERR_ARG if NAMED, the algorithm that the user asked for in SOURCE, does not give
 * OPERATION's reproducible result.
 */
int coll_settings_check_reproducible(const char *source, const coll_operation_info *operation,
                                     const coll_spec *named);

#endif
