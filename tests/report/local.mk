# Programs whose report tests/cli/report.sh and scripts/doctor-score check.
noinst_PROGRAMS += tests/report/blocks tests/report/late tests/report/linked tests/report/recorded \
    tests/report/seeded
tests_report_blocks_LDADD = libcoll.la
tests_report_late_LDADD =
tests_report_recorded_LDADD =
tests_report_seeded_LDADD =
tests_report_linked_SOURCES = tests/report/late.c
tests_report_linked_CPPFLAGS = $(AM_CPPFLAGS) -DLINKED
tests_report_linked_LDADD = libcoll.la
