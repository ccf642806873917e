#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the tarball of make dist has all files of the git checkout, except for those that only git and the
# automatic build use.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/programs.sh"
git -C "$source_dir" rev-parse --show-toplevel 2>err | grep -q -x -F -e "$source_dir" || {
    echo "skipped: no git checkout"
    exit 77
}

make -C "$build" distdir distdir="$work/tarball" >out 2>err || fail "make distdir"
git -C "$source_dir" ls-files | grep -v '^\.git\|^\.ci/' | LC_ALL=C sort >wanted
[ "$(wc -l <wanted)" -ge 100 ] || fail "git ls-files has too few files"
(cd tarball && find . -type f) | sed 's|^\./||' | LC_ALL=C sort >found
comm -23 wanted found >out
[ ! -s out ] || fail "the tarball lacks files; add them to EXTRA_DIST or the like"
echo "all as it should be"
