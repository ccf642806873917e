/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets a program run without libcoll if libcoll was preloaded for another MPI library. */
#ifndef COLL_LIB_BASE_STAND_ASIDE_H
#define COLL_LIB_BASE_STAND_ASIDE_H

/*
 * Starts the program ARGV again in this process, without the preloaded libraries of libcoll, if the
 * program's MPI library is not BUILT; exits with status 1 if that fails. Call it when a preloaded
 * library is loaded.
 */
void coll_stand_aside(const char *built, char **argv);

#endif
