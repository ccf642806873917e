/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command of the user when a job hangs. */
#ifndef COLL_WATCH_COMMAND_H
#define COLL_WATCH_COMMAND_H

#include <stddef.h>

/*
 * Has sh(1) run COMMAND with the LENGTH bytes of TEXT as its standard input, and does not wait for
 * the end of COMMAND. If COMMAND ends with an error, a line on stderr says so. Returns 0 or an
 * error number.
 */
int watch_command_run(const char *command, const char *text, size_t length);

#endif
