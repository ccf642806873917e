/* SPDX-License-Identifier: BSD-3-Clause */
/* Says why hosts cannot reach one another, if MPI waits for that forever. */
#ifndef COLL_TOOLS_DOCTOR_WATCHDOG_H
#define COLL_TOOLS_DOCTOR_WATCHDOG_H

/*
 * Ends the program with a line on stderr that names the connection, once the time since MPI_Init or
 * the latest call of doctor_watchdog_calm exceeds some seconds. Call it before MPI_Init.
 */
void doctor_watchdog_start(void);
void doctor_watchdog_calm(void);
void doctor_watchdog_end(void);

#endif
