/* SPDX-License-Identifier: BSD-3-Clause */
/* Subcommands with their own main functions, which get the remaining arguments. */
#ifndef COLL_TOOLS_COMMANDS_H
#define COLL_TOOLS_COMMANDS_H

int bench_dcp_main(int argc, char **argv);     /* coll-bench dcp */
int bench_started_main(int argc, char **argv); /* coll-bench started */
int doctor_main(int argc, char **argv);        /* coll-info doctor */
int draw_main(int argc, char **argv);          /* coll-info draw */
int explain_dcp_main(int argc, char **argv);   /* coll-info explain dcp */
int learnt_main(int argc, char **argv);        /* coll-info learnt */
int place_main(int argc, char **argv);         /* coll-info place */
int profile_dcp_main(int argc, char **argv);   /* coll-profile --dcp */
int replay_main(int argc, char **argv);        /* coll-info replay */

#endif
