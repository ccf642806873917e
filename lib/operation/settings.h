/*
 * What the user has set for a communicator: rank 0's word, in its environment and in the
 * communicator's info keys, counts for all ranks, since theirs may differ or be empty.
 */
#ifndef COLL_LIB_OPERATION_SETTINGS_H
#define COLL_LIB_OPERATION_SETTINGS_H

#include "lib/algorithm/spec.h"
#include "lib/base/comm.h"
#include "lib/base/parcel.h"
#include "lib/cost/profile.h"
#include "lib/operation/learn.h"
#include "lib/operation/operations.h"

#include <stdbool.h>

typedef struct coll_agreed_settings {
    char specs[COLL_OPERATIONS][COLL_SPEC_MAX]; /* algorithms, as text; "": auto */
    coll_spec parsed[COLL_OPERATIONS];          /* the same, by coll_settings_parse */
    char topology[4096];                        /* the file of racks and sites, or "" */
    char latencies[4096];                       /* the file of latencies between sites, or "" */
    char profile[COLL_PROFILE_SOURCE];
    double timeout;       /* s; 0: none; it and what follows is no text */
    bool reproducible;    /* reductions give the same bits whatever is measured */
    bool trace;           /* rank 0 prints a line a call */
    bool progress_thread; /* a thread moves on what was started */
    coll_wait_manner manner;
    coll_learn_what learn;
} coll_agreed_settings;

/*
 * What this process's environment and the info keys of COMM (or MPI_COMM_NULL) say: rank 0's word.
 * Local; MPI_ERR_ARG with a text.
 */
int coll_settings_read(MPI_Comm comm, coll_agreed_settings *found);

/* Returns whether an info key of COMM names an algorithm. Local. */
bool coll_settings_has_info(MPI_Comm comm);

/* Replaces the algorithms in FOUND that info keys of COMM name. Local; MPI_ERR_ARG with a text. */
int coll_settings_read_info(MPI_Comm comm, coll_agreed_settings *found);

/* Makes PARSED of SPECS. MPI_ERR_ARG with a text. */
int coll_settings_parse(coll_agreed_settings *settings);

/* Puts SETTINGS into PARCEL, but for what is parsed, or takes them out. */
void coll_settings_carry(coll_parcel *parcel, coll_agreed_settings *settings);

/*
 * The error of this process's environment, or MPI_SUCCESS; files that it names are not looked at.
 * Local; makes no call of MPI but for the error's text.
 */
int coll_settings_check(void);

/*
 * MPI_ERR_ARG where the user asks, by SOURCE, for an algorithm of OPERATION that gives other bits
 * than the rest of the table.
 */
int coll_settings_check_reproducible(const char *source, const coll_operation_info *operation,
                                     const coll_spec *named);

#endif
