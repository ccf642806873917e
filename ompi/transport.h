/*
 * libcoll's messages in Open MPI, without a communicator of libcoll's own: they go over the
 * program's, by the point-to-point layer below MPI (PML), with negative tags, as those of Open
 * MPI's own collectives do. No receive of a program matches these.
 */
#ifndef COLL_OMPI_TRANSPORT_H
#define COLL_OMPI_TRANSPORT_H

#include <coll_tools.h>

/* Two libcolls may be in a process: each has tags of its own. */
typedef enum libcoll_tags { LIBCOLL_TAGS_COMPONENT, LIBCOLL_TAGS_WRAPPER } libcoll_tags;

/*
 * Returns the transport with the tags of WHICH, or NULL, with a line in TEXT that says why, if the
 * Open MPI that runs isn't the release that this was built for: its inner structures are promised
 * to nobody. To be called after MPI_Init or by a component.
 */
const COLL_Transport *libcoll_transport(libcoll_tags which, char text[], size_t size);

#endif
