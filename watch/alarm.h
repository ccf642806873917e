/* Sees that a call of this rank lasts too long, or has failed, and has a report made. */
#ifndef COLL_WATCH_ALARM_H
#define COLL_WATCH_ALARM_H

/*
 * Raises an alarm where it is due; returns after how many milliseconds to look again. On the
 * watcher's thread.
 */
int watch_alarm_look(void);

/* A call has failed with TEXT. From any thread; the watcher's is woken. */
void watch_alarm_failed(const char *text);

#endif
