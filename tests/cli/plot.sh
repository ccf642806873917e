#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests scripts/plot with made-up rows; skipped (77) if gnuplot is missing.
set -u
. "$(dirname "$0")/../support/expect.sh"
plot=$(cd "$(dirname "$0")/../.." && pwd)/scripts/plot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# row ALGORITHM PARAMS RANKS BYTES MEDIAN OF_WIRE: prints a row as coll-bench writes it.
row() {
    printf '{"op": "%s", "algorithm": "%s", "params": "%s", "ranks": %s, "bytes": %s, ' \
        "${op-bcast}" "$1" "$2" "$3" "$4"
    printf '"reps": 5, "min_us": 1, "median_us": %s, "p95_us": 9e3, "max_us": 9e3, ' "$5"
    printf '"MBps": 1.5, "vs_native": 1, "of_wire": %s, "cpu_ms": 0.25}\n' "$6"
}

# run RANKS: prints the rows of a run with two sizes and with size 0.
run() {
    row native '' "$1" 0 3 1
    row auto '' "$1" 0 3 1
    local bytes
    for bytes in 1024 65536; do
        row native '' "$1" "$bytes" "$((bytes / 2))" 0.25
        row auto '' "$1" "$bytes" "$((bytes / 7))" 0.9
        row chain chunk=32K,window=16 "$1" "$bytes" "$((bytes / 7))" 0.9
        row chain chunk=8K,window=4 "$1" "$bytes" "$((bytes / 6))" 0.85
        row ompi_chain segment=1024 "$1" "$bytes" "$((bytes / 3))" 0.5
        row ompi_linear '' "$1" "$bytes" "$((bytes / (bytes == 1024 ? 4 : 1)))" 0.1
        row ibcast '' "$1" "$bytes" "$bytes" 0.1
        row wire to=1 "$1" "$bytes" "$((bytes / 8))" 1
    done
}

# Prints the width of a PNG, or 0 if FILE is not a complete PNG.
png_width() {
    if [[ -e $1 && $(head -c 8 "$1" | od -An -tx1 | tr -d ' ') == 89504e470d0a1a0a &&
        $(tail -c 8 "$1" | head -c 4) == IEND ]]; then
        echo $((0x$(od -An -tx1 -j16 -N4 "$1" | tr -d ' ')))
    else
        echo 0
    fi
}

# draws ARGUMENTS: expects that plot makes out.png, prints nothing and leaves no other file.
draws() {
    local text status=0 before
    rm -f out.png
    before=$(ls -A)
    text=$("$plot" --output out.png "$@" 2>&1) || status=$?
    same "status of: plot $*" 0 "$status"
    same "words of: plot $*" '' "$text"
    (($(png_width out.png) >= 1000)) || same "picture of: plot $*" yes no
    rm -f out.png
    same "left by: plot $*" "$before" "$(ls -A)"
}

# refused PATTERN ARGUMENTS: expects status 1, one line on stderr that matches PATTERN, and no changed file.
refused() {
    local text status=0 before pattern=$1
    shift
    before=$(ls -lA --full-time)
    text=$("$plot" "$@" 2>&1 >stdout) || status=$?
    same "status of: plot $*" 1 "$status"
    matches "words of: plot $*" "plot: $pattern" "$text"
    same "lines of: plot $*" 1 "$(wc -l <<<"$text")"
    same "output of: plot $*" '' "$(<stdout)"
    rm -f stdout
    same "left by: plot $*" "$before" "$(ls -lA --full-time)"
}

# malformed PATTERN LINE: expects that a file with a good row and then LINE is refused.
malformed() {
    { row auto '' 4 1024 10 0.5 && printf '%s\n' "$2"; } >bad.json
    refused "bad.json:2: $1" --output out.png bad.json
}

# curve NAME COMMANDS: prints the points of the curve with this name in the legend.
curve() {
    local number
    number=$(grep -oP "\\\$curve\K[0-9]+(?= [^\$]* title '\Q$1\E'(,|\$))" <<<"$2")
    sed -n "/^\\\$curve$number << END\$/,/^END\$/{/END\$/!p}" <<<"$2" | paste -sd ';'
}

# commands OPTIONS FILE...: prints the commands for gnuplot.
commands() {
    cat >"$work/bin/gnuplot" <<'END'
#!/bin/sh
cat >"$COLL_TEST_COMMANDS"
exit 1
END
    chmod +x "$work/bin/gnuplot"
    COLL_TEST_COMMANDS=$work/commands PATH=$work/bin:$PATH \
        "$plot" --output out.png "$@" >/dev/null 2>&1
    cat "$work/commands"
    rm -f "$work/commands" "$work/bin/gnuplot"
}

mkdir bin
run 4 >four.json
run 25 >many.json
run 4 | grep -v -e ompi_ -e ibcast >plain.json

# --- the words ---

matches version 'plot (libcoll) [0-9]*' "$("$plot" --version)"
matches help '*plot \[OPTION...\] --output FILE.png*' "$("$plot" --help)"
refused 'where to? give --output FILE.png' four.json
refused 'nothing to draw; name a file *' --output out.png
refused "there is no option '--size'; *" --size --output out.png four.json
refused '--output needs a value; *' four.json --output
refused "--kind must be size, ranks or link, not 'pie'" --kind pie --output out.png four.json
refused "--rivals must be best, all or none, not ''" --rivals= --output out.png four.json
refused "--output 'four.json' must end in .png" --output four.json four.json
refused "--output: there is no directory 'nowhere'" --output nowhere/out.png four.json
refused "there is no file 'none.json'" --output out.png four.json none.json
refused "'bin' is a directory*" --output out.png bin
refused "control characters *" --title $'a\nb' --output out.png four.json
refused "--algorithms: no row of 'chian'; there are:* chain*" \
    --algorithms 'auto;chian' --output out.png four.json
refused '--algorithms: the list is empty' --algorithms ' ; ' --output out.png four.json
cp four.json $'four\n.json'
refused 'control characters *' --output out.png $'four\n.json'
rm $'four\n.json'
mkdir folder.png
refused "--output 'folder.png' is a directory" --output folder.png four.json
rmdir folder.png
ln -s four.json link.png
refused "--output './link.png' is also read, as 'four.json'" --output link.png four.json
rm link.png

# --- the files ---

: >empty.json
refused 'empty.json: nothing in it*' --output out.png four.json empty.json
head -c 4000 four.json | head -c -5 >cut.json
refused 'cut.json:*: no JSON object as coll-bench writes it' --output out.png cut.json
head -c 3000 /dev/zero >zero.json
refused 'zero.json:1: no JSON object *' --output out.png zero.json
malformed 'no JSON object *' 'bytes 1024'
malformed 'no JSON object *' '{}{}'
malformed 'no JSON object *' '{"op": "bcast",}'
malformed 'no JSON object *' '{"op": "bcast", "op": "bcast"}'
malformed 'no JSON object *' '{"op": ["bcast"]}'
malformed 'no JSON object *' '{"op": "bcast'
malformed 'no JSON object *' '{"op": "\x"}'
malformed 'no JSON object *' '{"ranks": 04}'
malformed 'no JSON object *' '{}'
malformed 'no string "op"; *' '{"ranks": 4}'
malformed 'no string "algorithm"; *' '{"op": "bcast", "algorithm": 7}'
malformed 'no number "ranks"; *' "$(row auto '' '"4"' 1 1 1)"
malformed '"ranks" must be an integer, 1 or more' "$(row auto '' 0 1 1 1)"
malformed '"bytes" must be an integer, 0 or more' "$(row auto '' 4 1.5 1 1)"
malformed '"bytes" must be an integer, 0 or more' "$(row auto '' 4 1e999 1 1)"
malformed '"median_us" must be from 0 *' "$(row auto '' 4 1 -1 1)"
malformed '"of_wire" must be from 0 *' "$(row auto '' 4 1 1 1e999)"
malformed 'another row of auto with 4 ranks and 1K bytes; the first is bad.json:1' \
    "$(row auto '' 4 1024 11 0.5)"
malformed 'gather among rows of bcast; *' "$(op=gather row auto '' 4 1024 11 0.5)"
rm bad.json
row auto '' 1 0 5 0 >nothing.json
refused 'nothing to draw: no row has a size and a time*' --output out.png nothing.json
row auto '' 1 64 5 0 >alone.json
refused 'nothing to draw: no row has of_wire*' --kind link --output out.png alone.json

# --- what is drawn ---

told=$(commands four.json)
same 'auto' '1024 146;65536 9362' "$(curve 'auto: what libcoll chooses' "$told")"
same 'parameters' '1024 170;65536 10922' "$(curve chain:chunk=8K,window=4 "$told")"
same 'best rival' '1024 256;65536 21845' "$(curve "best of MPI''s settings" "$told")"
same 'native' '1024 512;65536 32768' "$(curve "native: MPI''s default" "$told")"
same 'wire' '1024 128;65536 8192' "$(curve 'wire: one message to one other host' "$told")"
same 'no single rivals' 0 "$(grep -c ompi_ <<<"$told")"
same 'all rivals' '1024 1024;65536 65536' "$(curve ibcast "$(commands --rivals all four.json)")"
same 'no rivals' 0 "$(commands --rivals none four.json | grep -c MPI)"
same 'native is no best setting' 0 "$(commands plain.json | grep -c 'best of')"
told=$(commands --kind ranks --algorithms auto many.json four.json)
same 'ranks' '4 146;25 146' "$(curve 'auto: what libcoll chooses, 1K bytes' "$told")"
told=$(commands --kind link --algorithms auto four.json)
same 'link' '1024 0.9;65536 0.9' "$(curve 'auto: what libcoll chooses' "$told")"
same 'best of the wire' '1024 0.5;65536 0.5' "$(curve "best of MPI''s settings" "$told")"
same 'the chosen alone' 0 "$(grep -c chain <<<"$told")"

# If gnuplot fails, is interrupted or is missing, no file is left.
refuse_as() {
    printf '#!/bin/sh\n%s\n' "$1" >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$work/bin:$PATH refused "$2" --output out.png four.json
    rm bin/gnuplot
}
refuse_as 'echo half; exit 1' 'gnuplot failed; *'
refuse_as 'echo half' "*out.png' could not be written completely; *"
for tool in bash readlink awk; do
    ln -s "$(type -P $tool)" bin/$tool
done
text=$(PATH=$work/bin "$plot" --output out.png four.json 2>&1)
same 'without gnuplot' \
    '3 plot: gnuplot not found; install the Debian package gnuplot-nox' "$? $text"

if ! command -v gnuplot >/dev/null; then
    ((failures == 0)) || exit 1
    echo 'skipped: gnuplot not found (Debian package gnuplot-nox)'
    exit 77
fi

# --- pictures ---

for kind in size ranks link; do
    for rivals in best all none; do
        draws --kind $kind --rivals $rivals four.json
    done
    draws --kind $kind --algorithms 'auto chain:chunk=8K,window=4' many.json four.json
done
draws alone.json
draws --algorithms ompi_chain --rivals none four.json
# shellcheck disable=SC2016  # not for this shell
draws --title "it's \`touch bad\` \$(touch bad) @x \"\\n" four.json
# shellcheck disable=SC2016
{ row "it's \`touch bad\`" '\"\\\u000a' 2 1024 5 0.5 && printf '\n'; } | sed 's/$/\r/' >odd=name.json
draws -- odd=name.json
{ row auto '' 2 $((1 << 50)) null 1 && row auto '' 3 $((1 << 49)) 1e15 1 &&
    row auto '' 1000000 1 1e-6 1e9; } >extremes.json
for kind in size ranks link; do
    draws --kind $kind extremes.json
done

echo old >out.png
chmod 604 out.png
ln -s out.png link.png
"$plot" --output "$work/link.png" four.json
(($(png_width out.png) >= 1000)) || same 'an old picture is replaced' yes no
same 'its permissions' 604 "$(stat -c %a out.png)"
same 'the link to it' out.png "$(readlink link.png)"
rm out.png
(umask 027 && "$plot" --output out.png four.json)
same 'permissions of a new one' 640 "$(stat -c %a out.png)"
rm out.png
# Another user may have put a link where the name of a temporary file can be guessed.
# shellcheck disable=SC2016
bash -c 'ln -s victim "out.png.part.$$" && exec "$@"' - "$plot" --output out.png four.json
[[ ! -e victim ]] || same 'what a link leads to' untouched written

((failures == 0))
