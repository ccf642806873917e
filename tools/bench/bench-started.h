/* coll-bench started: how much of an operation hides behind what a program does meanwhile. */
#ifndef COLL_TOOLS_BENCH_BENCH_STARTED_H
#define COLL_TOOLS_BENCH_BENCH_STARTED_H

/* The program's main where its first argument is "started". */
int bench_started_main(int argc, char **argv);

#endif
