# Tests that need no MPI.
UNIT_TESTS = \
	tests/unit/assign \
	tests/unit/autotune_rounds \
	tests/unit/bags \
	tests/unit/c_locale \
	tests/unit/cgroup \
	tests/unit/choice_cache \
	tests/unit/collective_plans \
	tests/unit/contention \
	tests/unit/cost \
	tests/unit/crc32c \
	tests/unit/doctor \
	tests/unit/failure_detector \
	tests/unit/findracks \
	tests/unit/hlot_latency \
	tests/unit/hlot_matrix \
	tests/unit/hlot_tree \
	tests/unit/hog \
	tests/unit/images \
	tests/unit/incast \
	tests/unit/job_calls \
	tests/unit/kernels \
	tests/unit/npy \
	tests/unit/order \
	tests/unit/output \
	tests/unit/partition \
	tests/unit/plans \
	tests/unit/pool \
	tests/unit/popcg_grid \
	tests/unit/profile \
	tests/unit/progress_thread \
	tests/unit/pruning \
	tests/unit/quantised \
	tests/unit/reduction_tree \
	tests/unit/replay \
	tests/unit/report \
	tests/unit/request_numbers \
	tests/unit/sim \
	tests/unit/socket_wakeup \
	tests/unit/topocache \
	tests/unit/topofile \
	tests/unit/tuning_db
tests_unit_doctor_LDADD = libdoctor.la $(LDADD)
tests_unit_pool_LDFLAGS = $(failing_allocations)
tests_unit_pool_LDADD = $(threads_ldadd)
tests_unit_progress_thread_LDADD = $(threads_ldadd)
tests_unit_socket_wakeup_LDADD = $(threads_ldadd)
tests_unit_profile_SOURCES = tests/unit/profile.c tools/profile/benefit.c tools/profile/benefit.h
if HAVE_PMPI
UNIT_TESTS += tests/unit/watch_diagnosis
tests_unit_watch_diagnosis_LDADD = libwatch.la $(LDADD)
endif

# Plans at more ranks and from every root, which takes a while.
.PHONY: prove
prove: tests/unit/plans$(EXEEXT) tests/unit/collective_plans$(EXEEXT)
	PROVE=all tests/unit/plans$(EXEEXT)
	PROVE=all tests/unit/collective_plans$(EXEEXT)
