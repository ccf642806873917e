# Programs that know nothing of libcoll: tests/cli/component.sh runs them with the component.
if HAVE_OMPI_COMPONENT
noinst_PROGRAMS += tests/component/connections tests/component/counted tests/component/dups \
	tests/component/errors tests/component/fault tests/component/late tests/component/made \
	tests/component/operations tests/component/set
tests_component_connections_LDADD =
tests_component_connections_LDFLAGS = -export-dynamic
tests_component_counted_LDADD =
tests_component_dups_LDADD =
tests_component_errors_SOURCES = tests/component/errors.c tests/component/persistent.h
tests_component_errors_LDADD =
tests_component_fault_LDADD =
tests_component_late_LDADD =
tests_component_made_SOURCES = tests/component/made.c tests/component/persistent.h
tests_component_made_LDADD = -lpthread
tests_component_operations_SOURCES = tests/component/operations.c tests/component/persistent.h
tests_component_operations_LDADD =
tests_component_set_LDADD = libcoll.la
endif
