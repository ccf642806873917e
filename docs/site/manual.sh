#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# manual.sh FOLDER PAGE...: makes pages of the site from manual pages, by pandoc, and an index of them.
set -eu
folder=$1
shift
cd "$folder"
printf '%s\n' 'Manual pages' '============' '' >index.rst
for page; do
    file=$(basename "$page") # coll-bench.1
    name=${file%.*} section=${file##*.}
    {
        printf '%s\n' "$name($section)" '==============================' ''
        # pandoc joins an option and its value, and leaves the star of file names. Names of pages become links.
        pandoc -f man -t rst --shift-heading-level-by=1 "$page" |
            sed -e 's/-\*,/-\\*,/' -e 's/\(\*\*--*[a-z][a-z-]*\*\*\)\\ \*/\1 */g' \
                -e 's/\*\*\(coll-*[a-z]*\)\*\*\\ (\([137]\))/:doc:`\1(\2) <\1>`/g'
    } >"$name.rst"
    sed -n '/^\.SH NAME/{n;s/^[a-z-]* \\- //p;}' "$page" |
        sed "s/^/* :doc:\`$name($section) <$name>\`: /" >>index.rst
done
printf '%s\n' '' '.. toctree::' '   :hidden:' '   :glob:' '' '   *' >>index.rst
