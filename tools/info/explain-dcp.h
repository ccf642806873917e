/* coll-info explain dcp: options and printing; benefit.h judges. */
#ifndef COLL_TOOLS_INFO_EXPLAIN_DCP_H
#define COLL_TOOLS_INFO_EXPLAIN_DCP_H

/* The program's main where its first arguments are "explain dcp". */
int explain_dcp_main(int argc, char **argv);

#endif
