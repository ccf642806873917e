# What needs a lab of scripts/netlab, and so root.
LAB_TESTS = \
	tests/labs/autotopo.sh \
	tests/labs/doctor.sh \
	tests/labs/hlot_lab.sh \
	tests/labs/lab_faults.sh \
	tests/labs/netlab.sh \
	tests/labs/slurm.sh
EXTRA_DIST += $(LAB_TESTS)

# What they run there.
noinst_PROGRAMS += tests/labs/fault_probe tests/labs/hlot_follow tests/labs/places
tests_labs_fault_probe_LDADD = libcoll_core.la
tests_labs_hlot_follow_LDADD = libcoll_core.la
tests_labs_places_LDADD = libcoll_core.la
