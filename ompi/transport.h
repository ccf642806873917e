/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends libcoll's messages in Open MPI without a communicator of libcoll's own. They use the
 * program's communicators, through the point-to-point layer below MPI (PML), with negative tags
 * like those of Open MPI's own collectives. No receive of a program matches these messages.
 */
#ifndef COLL_OMPI_TRANSPORT_H
#define COLL_OMPI_TRANSPORT_H

#include <coll_component.h>
#include <stdbool.h>

/* Two copies of libcoll may be in a process; each has its own tags. */
typedef enum libcoll_tags { LIBCOLL_TAGS_COMPONENT, LIBCOLL_TAGS_WRAPPER } libcoll_tags;

/*
 * The environment variable that the component sets within a process if it is going to write the
 * report, so that the wrapper's copy of libcoll does not write a report of the same calls.
 */
#define LIBCOLL_COMPONENT_REPORTS "LIBCOLL_COMPONENT_REPORTS"

/*
 * Returns the transport with the tags of WHICH. Returns NULL, with the reason in TEXT, if the
 * running Open MPI isn't the release that this was built for, or has a structure of another size:
 * internal structures differ between releases. Call it after MPI_Init or in a component.
 */
const COLL_Transport *libcoll_transport(libcoll_tags which, char text[], size_t size);

/*
 * Returns whether the PML sends all of the transport's tags as they are. PML ucx has tags of 24
 * bits, and would make libcoll's tags those of the program. The same on all ranks. Call it after
 * libcoll_transport has returned a transport and the PML is selected.
 */
bool libcoll_tags_fit(void);

#endif
