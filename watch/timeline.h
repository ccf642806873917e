/* What the ranks did, in pictures: their latest calls, at the end of the program. */
#ifndef COLL_WATCH_TIMELINE_H
#define COLL_WATCH_TIMELINE_H

/*
 * Collective over MPI_COMM_WORLD, before MPI_Finalize: rank 0 writes all ranks' calls to TRACE, in
 * Chrome's trace format, and an overview to PICTURE, an SVG. Either may be "". A file that can't be
 * written is named on stderr.
 */
void watch_timeline_write(const char *trace, const char *picture);

#endif
