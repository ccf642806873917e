/* The beginning and the end of an application rank's side; cdcp/dcp.h has what lies between. */
#ifndef COLL_CDCP_CLIENT_H
#define COLL_CDCP_CLIENT_H

/* Makes the application's world known, and opens this rank's mailbox. */
int coll_client_open(void);

/* Tells this rank's DCP that nothing more will come. */
int coll_client_close(void);

#endif
