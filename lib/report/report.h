/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report at MPI_Finalize (COLL_REPORT): starts the recording, gathers at rank 0 of
 * MPI_COMM_WORLD what the ranks have recorded, and writes the report there. Sends no messages
 * before MPI_Finalize. The same recording feeds the call log (COLL_RECORD, lib/replay/call_log.h).
 */
#ifndef COLL_LIB_REPORT_REPORT_H
#define COLL_LIB_REPORT_REPORT_H

#include "lib/base/comm.h"

/*
 * Starts the recording for a component or wrapper, which must call this on all ranks of
 * MPI_COMM_WORLD at the end of MPI_Init: for the report if REPORT is true, and for the call log in
 * the directory RECORD unless RECORD is NULL. Local. Returns MPI's errors, MPI_ERR_NO_MEM, and the
 * errors of coll_call_log_open.
 */
int coll_report_start(bool report, const char *record);

/* Lets coll_report_start alone start the recording, not the set-up of the first communicator. */
void coll_report_start_later(void);

/*
 * Sets the reason, a static text, for which libcoll leaves all calls to the MPI library. The report
 * gives only the reason of rank 0.
 */
void coll_report_set_aside(const char *why);

/*
 * If a program calls libcoll itself, this slot starts the recording when a communicator is set up.
 * The report then covers the ranks that share a communicator with rank 0 of MPI_COMM_WORLD.
 */
extern coll_comm_key coll_report_key;

#endif
