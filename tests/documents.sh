#!/bin/bash
# What people read says what the programs do: tables made from coll-info.
set -u
source_dir=$(cd "$(dirname "$0")/.." && pwd)
. "$source_dir/tests/programs.sh"

"$source_dir/scripts/tables" --check "$build/coll-info" >out 2>err || fail "tables differ"

echo "all as it should be"
