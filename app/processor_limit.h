/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor time that control groups grant this process. */
#ifndef COLL_APP_PROCESSOR_LIMIT_H
#define COLL_APP_PROCESSOR_LIMIT_H

/*
 * Returns how many processors' worth of time this process may use; 0 if there is no limit or it
 * can't be read.
 */
double app_processor_limit(void);

#endif
