# For find_package(coll) of CMake, as coll.pc is for pkg-config.
cmakedir = $(libdir)/cmake/coll
nodist_cmake_DATA = coll-config.cmake coll-config-version.cmake
$(nodist_cmake_DATA): Makefile
	$(AM_V_GEN)sed -e 's|[@]MPICC@|$(MPICC)|g' -e 's|[@]VERSION@|$(VERSION)|g' \
		-e 's|[@]includedir@|$(includedir)|g' $(srcdir)/cmake/$@.in >$@
coll-config.cmake: cmake/coll-config.cmake.in
coll-config-version.cmake: cmake/coll-config-version.cmake.in
CLEANFILES += $(nodist_cmake_DATA)
EXTRA_DIST += cmake/coll-config.cmake.in cmake/coll-config-version.cmake.in
