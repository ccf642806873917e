/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws a simulated call as an SVG: a line for each rank in chain order, time to the right,
 * messages as arrows coloured by level, racks as bands, and in the margin the bytes over the racks'
 * uplinks. If there are very many messages, only a part is drawn, and the title says so.
 */
#ifndef COLL_TOOLS_INFO_CALL_SVG_H
#define COLL_TOOLS_INFO_CALL_SVG_H

#include "app/problem.h"

#include <coll_tools.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct call_svg_input {
    const COLL_Question *question;
    const char *spec;    /* the algorithm, as for COLL_Simulate */
    const char *profile; /* the source of the costs */
    MPI_Comm comm;
} call_svg_input;

/*
 * Draws the call, which RANKS ranks make, to STREAM. Returns false, with a text in PROBLEM, if
 * memory is short or the call can't be simulated. The caller checks STREAM for errors.
 */
bool call_svg_draw(const call_svg_input *input, int ranks, FILE *stream, app_problem *problem);

#endif
