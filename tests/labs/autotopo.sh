#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests COLL_TOPOLOGY=auto on small labs of scripts/netlab. Needs root. Skipped (77) if netlab reports that
# the machine lacks something.
set -u
. "$(dirname "$0")/../support/expect.sh"
. "$(dirname "$0")/../support/lab.sh"
places=$PWD/tests/labs/places
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config

# places TOPOLOGY [OPTIONS]: prints host, rack and site of each host. Writes the source of the topology to
# $work/origin.
places() {
    local topology=$1
    shift
    COLL_TOPOLOGY=$topology timeout 600 "$netlab" run --name "$lab" "$@" -- "$places" \
        </dev/null >"$work/out" 2>"$work/err" || cat "$work/err"
    sed -i 's/\x00//g' "$work/out" "$work/err" # Open MPI 5 prints null bytes between lines
    grep '^#' "$work/out" >"$work/origin"
    grep -v '^#' "$work/out"
}

# finds WHAT ARGUMENTS: expects that a new measurement finds the lab's topology. Other work on the machine
# may lengthen all tries of a pair, and two hosts of a site are only one pair. Therefore up to six
# measurements are made, each after a call of $before if that is set.
finds() {
    local what=$1 known found attempt
    shift
    known=$(places "$work/topology" "$@")
    for attempt in {1..6}; do
        ${before-}
        found=$(places "${topology-auto:fresh}" "$@")
        [[ $found != "$known" ]] || break
        echo "$what: measurement $attempt was disturbed"
    done
    same "$what" "$known" "$found"
    matches "$what: it was measured" '# * pairs measured in *; kept in *' "$(<"$work/origin")"
}

if ((EUID != 0)); then
    echo 'skipped: netlab needs root'
    exit 77
fi
set_up up --racks-of 5,3,1,2 --link 20mbit --uplink 100mbit
finds 'uneven racks' --order scrambled
kept=$(find "$XDG_CACHE_HOME/libcoll" -name 'topology-*.conf' ! -name 'topology-*-*.conf')
matches 'what is kept says how' '# libcoll, *: 11 hosts; * pairs measured in *' "$(head -n 1 "$kept")"
same 'what is kept is a topology file' "$(places "$work/topology")" "$(places "$kept")"

same 'the second time' "$(places "$work/topology")" "$(places auto)"
same 'the second time is from the cache' "# from $kept" "$(<"$work/origin")"
same 'and without being told' "$(places "$work/topology")" "$(places '')"
same 'that is from the cache, too' "# from $kept" "$(<"$work/origin")"
same 'flat is one rack' 0 "$(places flat | awk '{ n += $2 + $3 } END { print n + 0 }')"
matches 'flat says so' '# one rack: by COLL_TOPOLOGY' "$(<"$work/origin")"
finds 'fewer hosts' -n 9
same 'fewer hosts have their own file' 2 "$(find "$XDG_CACHE_HOME/libcoll" -name 'topology-*.conf' ! -name 'topology-*-*.conf' | wc -l)"

# Without a profile the rates are measured, too: the links have 20 Mbit/s. They are kept for the next job.
# On a busy machine this may take several attempts.
for attempt in {1..6}; do
    rm -f "$XDG_CACHE_HOME"/libcoll/network-*.profile
    COLL_PROFILE='' places "$kept" >"$work/found"
    rate=$(awk '$1 == "level" && $2 == "rack" { printf "%.0f", 8e-6 / $8 }' "$XDG_CACHE_HOME"/libcoll/network-*.profile)
    ((rate < 10 || rate > 40)) || break
    echo "the rate: measurement $attempt was disturbed: $rate Mbit/s"
done
same 'the rate of links is measured' "yes: $rate" "$( ((rate >= 10 && rate <= 40)) && echo yes || echo no): $rate"
cp "$XDG_CACHE_HOME"/libcoll/network-*.profile "$work/network"
COLL_PROFILE='' places "$kept" >"$work/found"
same 'the next job measures nothing' '' "$(diff "$work/network" "$XDG_CACHE_HOME"/libcoll/network-*.profile)"

# Without COLL_TOPOLOGY libcoll measures for a limited time. On a busy machine this may take several
# attempts.
rm "$kept"
for attempt in {1..10}; do
    rm -f "$XDG_CACHE_HOME"/libcoll/topology-*-*.conf
    found=$(places '')
    [[ ! -e $kept ]] || break
    matches 'what is doubtful says so' '# one rack: *; kept in */topology-*-*.conf' "$(<"$work/origin")"
    same 'that is kept for a while' "$found" "$(places '')"
done
same 'without being told' "$(places "$work/topology")" "$found"
echo 'SwitchName=rack0' >"$kept"
rm -f "$XDG_CACHE_HOME"/libcoll/topology-*-*.conf
places '' >"$work/found"
same 'a bad cache is no news for who was told nothing' 0 "$(grep -c '^coll:' "$work/err")"

# A damaged file is reported once, and replaced by a new measurement.
damage() { echo 'SwitchName=rack0' >"$kept"; }
before=damage topology=auto finds 'a bad cache'
matches 'a bad cache is named' "coll: the cached topology is damaged and is measured again: *topology file $kept, line 1: *" \
    "$(grep '^coll: the cached topology' "$work/err")"
same 'a bad cache is replaced' "$(places "$work/topology")" "$(places "$kept")"

# complaint FILE PATTERN: expects that a check of FILE against a measurement prints PATTERN. $checked is the
# topology that is used.
complaint() {
    local attempt
    for attempt in 1 2 3; do
        checked=$(places "check:$1")
        said=$(grep '^coll:' "$work/err")
        # shellcheck disable=SC2053  # a pattern is meant
        [[ $said != $2 ]] || break
        echo "check of $1: measurement $attempt was disturbed"
    done
    matches "check of $1" "$2" "$said"
}
complaint "$work/topology" ''
sed -e 's/n\[0-4\]/n[0-3]/; s/Nodes=n8/Nodes=n[4,8]/' "$work/topology" >"$work/wrong.conf"
complaint "$work/wrong.conf" "coll: topology file $work/wrong.conf disagrees with the measurement: \
hosts n0 and n4 are in different ones there, but measured in one rack (*"
same 'a wrong file counts' "$(places "$work/wrong.conf")" "$checked"
"$netlab" down --name "$lab"

set_up up --racks-of 3,2,1 --link 20mbit --uplink 20mbit
finds 'tight uplinks'
"$netlab" down --name "$lab"

set_up up --racks 1 --hosts 5 --link 20mbit
finds 'one rack'
"$netlab" down --name "$lab"

# Round trips of 0.8 ms hide racks: that is kept, and no job measures it again. On a busy machine this may take
# several attempts.
set_up up --racks 2 --hosts 2 --link 100mbit --uplink 400mbit --delay 200us
for attempt in {1..6}; do
    rm -f "$XDG_CACHE_HOME"/libcoll/*
    places auto >"$work/found"
    [[ $(<"$work/origin") != *'round trips are too long'* ]] || break
    echo "long round trips: measurement $attempt was disturbed: $(<"$work/origin")"
done
matches 'round trips are too long' '# * round trips are too long to tell racks apart; kept in *-slow.conf' "$(<"$work/origin")"
for topology in auto ''; do
    same "long round trips, then '$topology'" "$(<"$work/found")" "$(places "$topology")"
    matches "that is from the cache: '$topology'" '# from *-slow.conf' "$(<"$work/origin")"
done
unset topology
"$netlab" down --name "$lab"

# Where the uplinks are slow, transfers show these racks to a job that measures the network. On a busy machine this may
# take several attempts.
set_up up --racks-of 4,3 --link 20mbit --uplink 15mbit --delay 500us
for attempt in {1..6}; do
    rm -f "$XDG_CACHE_HOME"/libcoll/*
    found=$(COLL_PROFILE='' places '')
    kept=$(find "$XDG_CACHE_HOME/libcoll" -name 'topology-*.conf' ! -name 'topology-*-*.conf')
    [[ -z $kept ]] || break
    echo "racks behind long round trips: measurement $attempt was disturbed"
done
matches 'how they were found' "# transfers to other racks took longer; kept in $kept" "$(<"$work/origin")"
same 'slow uplinks show racks' "$(places "$work/topology")" "$found"
same 'the next job knows these racks' "$found" "$(places '')"
same 'from the cache' "# from $kept" "$(<"$work/origin")"
"$netlab" down --name "$lab"

printf '0 10 40\n10 0 35\n40 35 0\n' >"$work/matrix"
set_up wan --matrix "$work/matrix" --hosts-per-site 2
finds 'sites'

((failures == 0)) || exit 1
echo 'autotopo: all checks passed'
