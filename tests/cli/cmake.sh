#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests CMake's find_package(coll): builds the first program of README with the installed files.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
command -v cmake >/dev/null || {
    echo "skipped: no cmake"
    exit 77
}
[ -e .libs/libcoll.so ] || {
    echo "skipped: CMake, which is tried with a shared library"
    exit 77
}
. "$(dirname "$0")/../support/programs.sh"

# The files are laid out as by make install, in another place.
mkdir -p lib/cmake/coll include
cp "$build"/.libs/libcoll.so* lib
cp "$build"/coll-config*.cmake lib/cmake/coll
cp "$source_dir"/include/*.h include
CMAKE_PREFIX_PATH=$work cmake -S "$source_dir/tests/cli/cmake" -B built >out 2>err || fail "cmake"
cmake --build built >out 2>err || fail "the program isn't built"
$limited "$mpirun" -n 2 built/first >out 2>err </dev/null || fail "the program"
test "$(grep -c 'hello from rank 0' out)" = 2 || fail "the program says something else"

# A project in C++ alone.
sed "s/(first C)/(first CXX)/; s|\"[^\"]*/first.c\"|$source_dir/examples/first.cc|" \
    "$source_dir/tests/cli/cmake/CMakeLists.txt" >CMakeLists.txt
if grep -q '^CXX = no' "$build/Makefile"; then
    echo "skipped: CMake in C++, without a compiler"
else
    CMAKE_PREFIX_PATH=$work cmake -S . -B cxx >out 2>err || fail "cmake in C++"
    cmake --build cxx >out 2>err || fail "the program in C++ isn't built"
    $limited "$mpirun" -n 2 cxx/first >out 2>err </dev/null || fail "the program in C++"
fi

# A newer version must not be found.
sed 's/coll 0.1/coll 99/' "$source_dir/tests/cli/cmake/CMakeLists.txt" >CMakeLists.txt
CMAKE_PREFIX_PATH=$work cmake -S . -B other >out 2>err && fail "version 99 is found"
grep -q 'version: 0' err || fail "what version there is isn't said"
