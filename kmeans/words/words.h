/* The verbs of coll-words. A new one costs its file, a line here and a line of the table in
 * coll-words.c. */
#ifndef COLL_KMEANS_WORDS_WORDS_H
#define COLL_KMEANS_WORDS_WORDS_H

#include "app/problem.h"

/* Runs with the verb's own arguments, argv[0] being "coll-words"; returns the exit status. */
typedef int verb_run(int argc, char **argv);

verb_run verb_curve;
verb_run verb_encode;
verb_run verb_features;
verb_run verb_sheet;
verb_run verb_test;
verb_run verb_train;

/* Prints "coll-words: PROBLEM", unless it is empty, and returns the exit status of failure. */
int verb_failed(const struct problem *problem);

#endif
