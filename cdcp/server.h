/* The life of a DCP. */
#ifndef COLL_CDCP_SERVER_H
#define COLL_CDCP_SERVER_H

#include "cdcp/job.h"

/* Serves until all application ranks of this DCP have said stop. */
int coll_server_run(const coll_job *job);

#endif
