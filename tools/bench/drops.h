/* How many packets a network has dropped, by a command that knows. No MPI. */
#ifndef COLL_TOOLS_BENCH_DROPS_H
#define COLL_TOOLS_BENCH_DROPS_H

#include <stdbool.h>

/*
 * Runs COMMAND with sh and reads the number that it prints into *COUNT, which counts up. False
 * where it fails or prints no number.
 */
bool drops_count(const char *command, double *count);

#endif
