#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that configure names the Debian package of anything that is missing, and that it checks the
# structures of Open MPI.
set -u
configure=$(cd "$(dirname "$0")/../.." && pwd)/configure
. "$(dirname "$0")/../support/programs.sh"
compiler=$(sed -n 's/^CC = //p' "$build/Makefile")
compiler=${compiler%% -std*}
if grep -q '^#define COLL_MPI_ABI' "$build/build-aux/config.h"; then
    echo "skipped: configure without the MPI ABI"
    exit 77
fi

# lacks TEXT WORDS...: expects that configure with WORDS fails with an error that has TEXT.
lacks() {
    text=$1
    shift
    $limited "$configure" "$@" >out 2>err </dev/null && fail "configure $*"
    grep '^configure: error: ' err | grep -F -q -e "$text" || fail "no \"$text\": configure $*"
}
lacks "install openmpi-bin and libopenmpi-dev" CC=nosuch-mpicc
lacks "install libhwloc-dev" CC="$compiler" PKG_CONFIG_LIBDIR="$work" PKG_CONFIG_PATH=
cat >old-mpicc <<END
#!/bin/sh
case "\$*" in *-std=c11*) exit 1 ;; esac
exec $compiler "\$@"
END
chmod +x old-mpicc
lacks "compiles no C11; install a newer compiler (the package gcc)" CC="$work/old-mpicc"

# The MPI ABI needs a header of its own.
lacks "no $work/include/mpi.h; name the folder of MPICH 5" CC="$compiler" --with-mpi-abi="$work"
lacks "mpi.h is not that of the MPI ABI" CC="$compiler" --with-mpi-abi

# The component isn't built if Open MPI's library has other structures than its headers declare.
if [ -f "$build/.libs/mca_coll_libcoll.so" ]; then
    $limited "$configure" CC="$compiler" CXX=no FC=no CPPFLAGS='-Dc_pml_comm=c_pml_comm,*c_extra[4]' >out 2>err </dev/null ||
        fail "configure with other structures"
    grep -q "component of Open MPI: *no: .*ompi_communicator_t" out || fail "other structures are not found"
fi
