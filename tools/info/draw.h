/* coll-info draw: a call as the cost model plays it, as a picture; COLL_Draw draws. */
#ifndef COLL_TOOLS_INFO_DRAW_H
#define COLL_TOOLS_INFO_DRAW_H

/* The program's main where its first argument is "draw". */
int draw_main(int argc, char **argv);

#endif
