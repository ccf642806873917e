/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the ranks' latest calls to a trace and a picture, at the end of the program. */
#ifndef COLL_WATCH_TIMELINE_H
#define COLL_WATCH_TIMELINE_H

/*
 * Writes the latest calls of all ranks, on rank 0, to TRACE, in Chrome's trace format, and draws
 * them in PICTURE, an SVG. Either name may be "", for no such file. If a file can't be written, a
 * message on stderr names it. Collective over MPI_COMM_WORLD, before MPI_Finalize.
 */
void watch_timeline_write(const char *trace, const char *picture);

#endif
