#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-info doctor on labs with one problem each. What must be measured is not part of it: on a busy machine
# hosts that share its cores may look slow. Needs root; skipped (77) without labs.
. "$(dirname "$0")/../support/lab.sh"
set_up up --racks 1 --hosts 2
"$netlab" down --name "$lab"
build=${BUILD:-$PWD}
"$(dirname "$netlab")/doctor-score" --quick "$build"
