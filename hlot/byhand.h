/* Latencies by hand: a matrix file for the sites of a communicator. No communication. */
#ifndef COLL_HLOT_BYHAND_H
#define COLL_HLOT_BYHAND_H

#include "hlot/matrix.h"
#include "lib/place/topo.h"

/*
 * Reads the matrix file at PATH for the sites of TOPO: by the hosts that it lists, else its rows
 * are the sites in the order of their first ranks. False, with PROBLEM (COLL_TEXTFILE_PROBLEM
 * bytes), where the file is bad or of other hosts, or leaves a site without a way.
 */
bool hlot_byhand_read(const char *path, const coll_topo *topo, hlot_latencies latency,
                      char *problem);

#endif
