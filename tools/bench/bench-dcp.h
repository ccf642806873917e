/* coll-bench dcp: options and printing; overlap.h measures. */
#ifndef COLL_TOOLS_BENCH_BENCH_DCP_H
#define COLL_TOOLS_BENCH_BENCH_DCP_H

/* The program's main where its first argument is "dcp". */
int bench_dcp_main(int argc, char **argv);

#endif
