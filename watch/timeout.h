/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects a call of this rank that lasts too long or has failed, and requests a report. */
#ifndef COLL_WATCH_TIMEOUT_H
#define COLL_WATCH_TIMEOUT_H

/*
 * Raises an alarm if one is due. Returns the milliseconds until the next check. Runs on the
 * watcher's thread.
 */
int watch_timeout_check(void);

/*
 * Notes that a call has failed with the error message TEXT, and wakes the watcher's thread. May be
 * called from any thread.
 */
void watch_timeout_call_failed(const char *text);

#endif
