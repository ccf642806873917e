# The Python package, which pip installs.
EXTRA_DIST += \
	python/bin/coll-run \
	python/coll/__init__.py \
	python/coll/_buffers.py \
	python/coll/_kmeans.py \
	python/coll/_library.py \
	python/coll/_requests.py \
	python/pyproject.toml

# wheel: makes coll-VERSION+MPI-py3-none-SYSTEM.whl, the package with the libraries of this build. MPI is the name
# and the version of the MPI library, which isn't in it.
PYTHON = python3
if HAVE_PMPI
wheel_programs = coll-run coll-watch
endif
.PHONY: wheel
wheel: all
	@$(PYTHON) -c 'import setuptools, wheel' 2>/dev/null || { echo "wheel: $(PYTHON) has no setuptools or wheel;" \
		"install python3-setuptools and python3-wheel, or name another Python: make wheel PYTHON=..." >&2; exit 1; }
	rm -rf wheel coll-*.whl && mkdir -p wheel/coll/lib wheel/bin
	cp $(srcdir)/python/coll/*.py wheel/coll
	$(MAKE) $(AM_MAKEFLAGS) install-exec DESTDIR=$(abs_builddir)/wheel/installed >/dev/null
	cp -L `find wheel/installed -name libcoll.so.0 -o -name libcoll_kmeans.so.0 -o -name libcoll_pmpi.so \
		-o -name libcoll_watch.so -o -name mca_coll_libcoll.so` wheel/coll/lib
	$(STRIP) --strip-unneeded wheel/coll/lib/*
	for program in $(wheel_programs); do \
		cp `find wheel/installed -path "*/bin/$$program"` wheel/coll/lib && \
		cp $(srcdir)/python/bin/coll-run wheel/bin/$$program || exit 1; \
	done
	printf '%s\n' '#include <mpi.h>' '#ifdef OPEN_MPI' \
		'mpi openmpi OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION' \
		'#elif defined MPICH' 'mpi mpich MPICH_VERSION' '#else' \
		'mpi abi MPI_ABI_VERSION . MPI_ABI_SUBVERSION' '#endif' >wheel/mpi.c
	$(CPP) $(CPPFLAGS) -P wheel/mpi.c >wheel/mpi.out
	mpi=`sed -n 's/^mpi //p' wheel/mpi.out | tr -d ' "'` && test -n "$$mpi" && \
		sed "s/^version = .*/version = \"$(VERSION)+$$mpi\"/" $(srcdir)/python/pyproject.toml >wheel/pyproject.toml
	printf '[bdist_wheel]\nplat_name = %s\n[options]\nscripts = %s\n' \
		"`$(PYTHON) -c 'import sysconfig; print(sysconfig.get_platform())'`" \
		"`cd wheel && echo bin/* | sed 's/ /, /g'`" >wheel/setup.cfg
	cd wheel && $(PYTHON) -c 'import setuptools.build_meta as build; build.build_wheel("..")' >build.log 2>&1 || \
		{ cat build.log >&2; exit 1; }
	@rm -rf wheel && echo "made `echo coll-*.whl`"
CLEANFILES += coll-*.whl
