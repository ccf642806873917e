# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # chooser-score's options
# Sourced by chooser-score: measures random labs (--random) and those of a file (--labs).

parts=${BASH_SOURCE[0]%/*}

# Prints the labs of --labs, or those that --random and --seed ask for.
print_labs() {
    if [[ -n $labs ]]; then
        awk 1 "$labs" # ends the last line, too
        return
    fi
    awk -v SEED="$seed" -v FIRST="${random%-*}" -v LAST="${random#*-}" -v MOST="${together%mbit}" -f "$parts/draw.awk"
}

# Prints how good auto was in the rows of FILES.
score_random() {
    awk -f "$parts/../bench.d/field.awk" -f "$parts/random.awk" "$@"
}

# measure_told NAME OPERATION RANKS ORDER: adds the rows of a job that is told NAME. It uses the cache that
# earlier jobs have left in $XDG_CACHE_HOME.
measure_told() {
    echo "chooser-score: $lab_drawn: $2, told $1" >&2
    rm -f "$work/json"
    on_lab "$3" --order "$4" -- "$build/coll-bench" "$2" --sizes "$sizes" --total --predict --most 19 \
        --give-up 2 --seconds "$seconds" --json "$work/json" || failures+="$lab_drawn: $2, told $1; "
    [[ -e $work/json ]] || return 0
    sed "s/^{/{\"lab\": \"$lab_drawn\", \"told\": \"$1\", \"processors\": $(nproc), /" \
        "$work/json" >>"$rows"
}

# make_profile TOLD: writes the profile for TOLD.
make_profile() {
    case $1 in
    exact)
        awk -v racks="$racks" -v link="$link" -v uplink="$uplink" -v buffer="$buffer" \
            -v delay="$delay" -f "$parts/exact.awk" >"$work/profile"
        ;;
    profile)
        echo "chooser-score: $lab_drawn: profile" >&2
        on_lab "$hosts" -- "$build/coll-profile" --output "$work/profile" \
            --seconds "$profile_seconds" || die "no profile of $lab_drawn"
        ;;
    esac
    [[ -z $keep || $1 == racks || $1 == nothing ]] || cp "$work/profile" "$keep/$lab_drawn.$1.profile"
}

# measure_random NAME RACKS LINK UPLINK BUFFER DELAY RANKS ORDER: measures a lab that print_labs has printed.
measure_random() {
    local lab_drawn=$1 racks=$2 link=$3 uplink=$4 buffer=$5 delay=$6 order=$8
    local hosts=$((${racks//,/+})) word name operation
    local ranks=$((hosts * $7))
    replace_lab --racks-of "$racks" --link "$link" --uplink "$uplink" --buffer "$buffer" --delay "$delay"
    for word in $told; do
        unset COLL_TOPOLOGY # netlab tells the racks
        case $word in
        cache) name+=', cache' ;;
        *)
            name=$word
            rm -rf "$work/cache"
            make_profile "$word"
            ;;
        esac
        export COLL_PROFILE='' XDG_CONFIG_HOME=$work/config # no profile of this machine
        case $name in
        nothing*) export COLL_TOPOLOGY='' ;;
        exact* | profile*) COLL_PROFILE=$work/profile ;;
        esac
        for operation in $operations; do
            export XDG_CACHE_HOME=$work/cache/$operation
            mkdir -p "$XDG_CACHE_HOME"
            measure_told "$name" "$operation" "$ranks" "$order"
        done
    done
    unset COLL_TOPOLOGY COLL_PROFILE XDG_CACHE_HOME XDG_CONFIG_HOME
}

# Measures all labs and prints how good auto was there.
measure_labs() {
    local line words failures=''
    operations=${operations:-bcast gather scatter reduce allreduce reduce_scatter reduce_scatter_block allgather alltoall}
    sizes=${sizes:-1K,8K,64K,512K}
    while read -r line <&3; do
        read -ra words <<<"$line"
        measure_random "${words[@]}"
    done 3< <(print_labs)
    score_random "$rows"
    [[ -z $failures ]] || die "jobs that failed: ${failures%; }"
}
