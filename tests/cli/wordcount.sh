#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares examples/wordcount with sort and uniq, at several numbers of processes; and tests its errors.
set -eu
export LC_ALL=C
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
. "$(dirname "$0")/../support/ranks.sh"

wordcount() {
    ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" examples/wordcount "$@" </dev/null
}

# Makes words of all lengths (some over 55 bytes), with several separators in a row and no newline at the
# end.
awk 'BEGIN { for (i = 1; i <= 4000; i++) {
    word = "w" (i * i % 97); while (length(word) < i * 7 % 61) word = word "X";
    printf "%s%s", word, i % 5 ? " " : ",\n--" } printf "last" }' >"$directory/one"
printf 'last Last LAST' >"$directory/two"
: >"$directory/empty"
printf 'a' >"$directory/tiny"

cat "$directory/one" "$directory/empty" "$directory/two" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '\n' |
    sed '/^$/d; s/lastlast/last\nlast/' | cut -c -55 | sort | uniq -c | sort -k1,1nr -k2,2 |
    awk '{ printf "%10d %s\n", $1, $2 }' >"$directory/expected"

for ranks in 1 2 3 7; do
    wordcount "$ranks" --top 1000000 "$directory/one" "$directory/empty" "$directory/two" \
        >"$directory/got"
    cmp "$directory/expected" "$directory/got"
    wordcount "$ranks" --top 3 "$directory/one" "$directory/empty" "$directory/two" \
        >"$directory/got"
    head -n 3 "$directory/expected" | cmp - "$directory/got"
    test "$(wordcount "$ranks" "$directory/tiny")" = "         1 a"
    test -z "$(wordcount "$ranks" "$directory/empty")"
done

wordcount 2 --help | grep -q '^Usage: wordcount'

# fails: expects an error with a line that names the problem, and no output.
fails() {
    message=$1
    shift
    if wordcount 2 "$@" >"$directory/out" 2>"$directory/err"; then
        echo "wordcount $* succeeded"
        exit 1
    fi
    grep -q "$message" "$directory/err"
    test ! -s "$directory/out" || grep -q 'Primary job' "$directory/out"
}
fails 'name at least one file'
fails "$directory/none: No such file" "$directory/one" "$directory/none"
fails 'can.t be read; it must be a regular file' "$directory"
fails 'top x: give a number' --top x "$directory/one"
fails 'top -1: give a number' --top -1 "$directory/one"
fails 'bogus' --bogus "$directory/one"
