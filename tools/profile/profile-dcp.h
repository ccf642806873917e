/* coll-profile --dcp: what dedicated processors would save here, by their ratio. */
#ifndef COLL_TOOLS_PROFILE_PROFILE_DCP_H
#define COLL_TOOLS_PROFILE_PROFILE_DCP_H

/* A main of its own. */
int profile_dcp_main(int argc, char **argv);

#endif
