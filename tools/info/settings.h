/* coll-info settings: every setting with its values and its default. */
#ifndef COLL_TOOLS_INFO_SETTINGS_H
#define COLL_TOOLS_INFO_SETTINGS_H

/* Prints them without MPI; scripts/settings reads the format. Returns the exit status. */
int settings_main(void);

#endif
