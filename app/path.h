/* Where paths lead. Both texts are the caller's to free. */
#ifndef COLL_APP_PATH_H
#define COLL_APP_PATH_H

/* The directory that PATH lies in, "." for a name alone; NULL without memory. */
char *app_path_directory(const char *path);

/*
 * PATH with the symbolic links at its end followed, also where they lead to nothing yet; NULL, with
 * errno, where that has no end.
 */
char *app_path_follow(const char *path);

#endif
