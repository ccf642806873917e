# The files for packaging: Debian's, an RPM spec, and recipes for Guix and Spack.
EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libcoll-bin.install \
	debian/libcoll-dev.install \
	debian/libcoll-doc.docs \
	debian/libcoll-doc.examples \
	debian/libcoll-f08-0.install \
	debian/libcoll-fortran-dev.install \
	debian/libcoll-openmpi.install \
	debian/libcoll-openmpi.lintian-overrides \
	debian/libcoll0.install \
	debian/libcoll0.symbols \
	debian/not-installed \
	debian/python3-coll.install \
	debian/rules \
	debian/source/format \
	debian/tests/cmake \
	debian/tests/control \
	debian/tests/first-program \
	debian/tests/fortran \
	debian/tests/installed \
	debian/tests/python \
	packaging/guix.scm \
	packaging/libcoll.spec \
	packaging/spack/package.py
