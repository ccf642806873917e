/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports a connection between hosts that does not work, if MPI waits for it forever. */
#ifndef COLL_TOOLS_DOCTOR_WATCHDOG_H
#define COLL_TOOLS_DOCTOR_WATCHDOG_H

/*
 * doctor_watchdog_start starts a thread; call it before MPI_Init. If the time since MPI_Init or the
 * latest call of doctor_watchdog_calm exceeds some seconds, the thread ends the program with a line
 * on stderr, which names a connection that gets no answer, if there is one. doctor_watchdog_end
 * ends the thread.
 */
void doctor_watchdog_start(void);
void doctor_watchdog_calm(void);
void doctor_watchdog_end(void);

#endif
