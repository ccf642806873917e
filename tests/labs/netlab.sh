#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests scripts/netlab on small labs. Needs root and features of the kernel; skipped (77) if netlab reports
# that the machine lacks them. No check depends on speed.
set -u
. "$(dirname "$0")/../support/expect.sh"
. "$(dirname "$0")/../support/launcher.sh"
netlab=$(cd "$(dirname "$0")/../.." && pwd)/scripts/netlab
one=test-$$-1
two=test-$$-2
work=$(mktemp -d)
had_labs=$([[ -e /run/netlab ]] && echo yes)
limits() { cat /proc/sys/net/ipv4/neigh/default/gc_thresh[123] | paste -sd ' '; }
limits_before=$(limits)

cleanup() {
    "$netlab" down --name "$one" 2>/dev/null
    "$netlab" down --name "$two" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# refused STATUS PATTERN ARGUMENTS: expects that netlab ends with STATUS, one line on stderr that matches
# PATTERN, and nothing on stdout.
refused() {
    local status=0 expected=$1 pattern=$2 text
    shift 2
    text=$("$netlab" "$@" 2>&1 >"$work/stdout") || status=$?
    same "status of: netlab $*" "$expected" "$status"
    matches "words of: netlab $*" "netlab: $pattern" "$text"
    same "lines of: netlab $*" 1 "$(wc -l <<<"$text")"
    same "output of: netlab $*" '' "$(<"$work/stdout")"
}

# on HOST COMMAND: runs a command of bash on a host of the first lab.
on() {
    "$netlab" exec --name "$one" "$1" bash -c "$2" 2>&1
}

# A port without a server refuses the connection, which shows that packets pass in both directions.
reaches() {
    on "$1" "timeout ${3-10} bash -c 'echo >/dev/tcp/$2/9'" | grep -q 'Connection refused'
}

leftovers() {
    ls -d /run/netns/netlab."$1".* /run/netlab/"$1" /tmp/netlab."$1".* 2>/dev/null
}

# --- without a lab ---

version=$("$netlab" --version)
matches version 'netlab (libcoll) [0-9]*' "$version"
matches help '*netlab up --racks*' "$("$netlab" --help)"
refused 1 "there is no command 'nosuch'*" nosuch

if ((EUID != 0)); then
    refused 3 'status needs root; try: sudo*' status
    ((failures == 0)) || exit 1
    echo 'skipped: netlab needs root'
    exit 77
fi

text=$("$netlab" up --name "$one" --racks-of 3,1 --link 20mbit --uplink 1mbit --buffer 20k 2>&1)
status=$?
if ((status == 3)); then
    echo "skipped: $text"
    exit 77
fi
same 'up' "0 lab '$one' is up: 2 racks, 4 hosts, link 20mbit, uplink 1mbit, buffer 20k, cubic" \
    "$status $text"

# --- bad words ---

refused 1 'up needs --racks and --hosts, or --racks-of*' up --name "$two"
refused 1 'up needs --racks and --hosts*' up --name "$two" --racks 2
refused 1 "--racks must be a number from 1 to 250, not '0'" up --name "$two" --racks 0 --hosts 1
refused 1 "--hosts must be a number *not '1x'" up --name "$two" --racks 1 --hosts 1x
refused 1 '10000 hosts are too many; 1000 is the most' up --name "$two" --racks 100 --hosts 100
refused 1 "--racks-of '3,,1' must be *" up --name "$two" --racks-of 3,,1
refused 1 "a rack of --racks-of must be *not '0'" up --name "$two" --racks-of 3,0
refused 1 'give either --racks-of or *' up --name "$two" --racks-of 3 --racks 1
refused 1 '--racks needs a value*' up --name "$two" --racks
refused 1 "up does not know the option --rack *" up --name "$two" --rack=2
refused 1 "up: what is 'more' for?*" up --name "$two" --racks 1 --hosts 1 more
refused 1 "--name '../x' must be *" up --name ../x --racks 1 --hosts 1
refused 1 "--link 'fast' is not a rate*" up --name "$two" --racks 1 --hosts 1 --link fast
refused 1 "--link '1mbit limit 3' is not a single word" \
    up --name "$two" --racks 1 --hosts 1 --link '1mbit limit 3'
refused 1 "--uplink '8bit' must be from *" up --name "$two" --racks 1 --hosts 1 --uplink 8bit
refused 1 "--buffer '10x' is not a size*" up --name "$two" --racks 1 --hosts 1 --buffer 10x
refused 1 "--buffer '1999' must be from *" up --name "$two" --racks 1 --hosts 1 --buffer 1999
refused 1 "--delay '1' is not a time, such as *" up --name "$two" --racks 1 --hosts 1 --delay 1
refused 1 "--delay '-1ms' is not a time, *" up --name "$two" --racks 1 --hosts 1 --delay -1ms
refused 1 "--delay '1.1s' must be 0, or from 1us to 1s" up --name "$two" --racks 1 --hosts 1 --delay 1.1s
refused 1 "wan does not know the option --delay *" wan --name "$two" --delay 1ms
refused 1 "--congestion 'nosuch' is not one *" \
    up --name "$two" --racks 1 --hosts 1 --congestion nosuch
refused 1 "a lab named '$one' is up (2 racks, *" up --name "$one" --racks 1 --hosts 1
for command in topology drops status down; do
    refused 1 "there is no lab named '$two'*" "$command" --name "$two"
done
refused 1 "run needs '--' before the program*" run --name "$one" hostname
refused 1 "run needs a program after '--'*" run --name "$one" --
refused 1 '-n needs a value*' run --name "$one" -n -- true
refused 1 "there is no program './nosuch'*" run --name "$one" -- ./nosuch
refused 1 "lab '$one' has no host 'n4'; its hosts are n0 to n3" cut --name "$one" n4
refused 1 "lab '$one' has no host 'n01'*" kill --name "$one" n01
refused 1 "'-1' is not a number of seconds*" freeze --name "$one" -- n1 -1
refused 1 'cut needs a host*' cut --name "$one"
refused 1 "lab '$one' has racks, not sites*" wan --name "$one" --update <(echo 0)
refused 1 'wan needs --matrix FILE*' wan --name "$two"
same 'bad words leave nothing' '' "$(leftovers "$two")"

# Tests a missing ip or tc by hiding its file.
for tool in ip tc; do
    path=$(readlink -f "$(PATH=$PATH:/usr/sbin:/sbin type -P $tool)")
    # shellcheck disable=SC2016  # the bash inside expands these
    text=$(unshare --mount bash -c 'mount --bind /dev/null "$1" && "$2" status' - "$path" "$netlab" 2>&1)
    same "without $tool" "3 netlab: $tool not found; install the Debian package iproute2" "$? $text"
done

# Tests a chroot whose root is not a mount point.
# shellcheck disable=SC2016  # the bash inside expands these
text=$(unshare --mount bash -c 'mkdir "$1"
    for entry in /[!.]*; do
        if [[ -L $entry ]]; then
            cp -P "$entry" "$1"
        elif [[ -d $entry ]]; then
            mkdir "$1$entry" && mount --rbind "$entry" "$1$entry"
        fi
    done
    chroot "$1" "$2" up --name "$3" --racks 1 --hosts 1' - "$work/chroot" "$netlab" "$two" 2>&1)
matches 'up in a chroot' '3 netlab: / is no mount point in this chroot, *: mount --bind FOLDER FOLDER' "$? $text"

# --- the network is what was asked for ---

# qdisc NAMESPACE DEVICE: prints the queue of DEVICE.
qdisc() {
    tc -r -n "netlab.$one.$1" qdisc show dev "$2"
}
PATH=$PATH:/usr/sbin:/sbin
matches "a host's card" '*tbf*rate 20Mbit*' "$(qdisc n0 eth0)"
matches "a host's port" '*tbf*rate 20Mbit*limit 20Kb*' "$(qdisc switch n0)"
matches "a rack's uplink" '*tbf*rate 1Mbit*limit 20Kb*' "$(qdisc switch up1)"
matches "the core's port" '*tbf*rate 1Mbit*limit 20Kb*' "$(qdisc switch down1)"
matches 'congestion control' '*congctl cubic*' "$(on n0 'ip route show 10.77.0.0/16')"
same 'host name' n2 "$(on n2 hostname)"
same 'status of exec' 5 "$(on n2 'exit 5' || echo $?)"
reaches n0 n1 || same 'n0 reaches its rack' yes no
reaches n0 n3 || same 'n0 reaches the other rack' yes no

same topology "SwitchName=rack0 Nodes=n[0-2]
SwitchName=rack1 Nodes=n3
SwitchName=core Switches=rack[0-1]" "$("$netlab" topology --name "$one" | grep -v '^#')"

# --- drops ---

# dropped SWITCH PORT: prints the packets that PORT has dropped.
dropped() {
    "$netlab" drops --name "$one" | awk -F '\t' -v at="$1 $2" '$1 " " $2 == at { print $3 }'
}
same 'columns of drops' "switch port dropped packets bytes" \
    "$("$netlab" drops --name "$one" | head -n 1 | tr '\t' ' ')"
same 'ports of drops' "core rack0
core rack1
rack0 core
rack0 n0
rack0 n1
rack0 n2
rack1 core
rack1 n3" "$("$netlab" drops --name "$one" | tail -n +2 | cut -f 1,2 | tr '\t' ' ' | sort)"
"$netlab" drops --name "$one" --reset
same 'no drops yet' 0 "$(dropped rack0 core)"
# Sends 280 KB at 20 Mbit/s to an uplink of 1 Mbit/s with a buffer of 20 KB.
on n0 'exec 3<>/dev/udp/n3/9; for i in {1..200}; do printf %01400d 0 >&3; done' >/dev/null
for ((i = 0; i < 50; i++)); do
    (($(dropped rack0 core) > 0)) && break
    sleep 0.1
done
(($(dropped rack0 core) > 0)) || same 'a full buffer drops' yes no
same 'a port that is not full' 0 "$(dropped rack1 n3)"

# --- faults ---

"$netlab" cut --name "$one" n1
matches 'status of a cut host' '*cut: n1*' "$("$netlab" status --name "$one")"
reaches n0 n1 1 && same 'a cut host is reached' no yes
"$netlab" restore --name "$one" n1
matches 'status of a restored host' '*; 0 processes' "$("$netlab" status --name "$one")"
reaches n0 n1 || reaches n0 n1 || same 'a restored host is reached' yes no
"$netlab" cut --name "$one" n1 0.1
matches 'status after a short cut' '*; 0 processes' "$("$netlab" status --name "$one")"

# state PID: prints the state of a process.
state() {
    sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}
"$netlab" exec --name "$one" n2 sleep 1000 &
sleeper=$!
until grep -qx sleep "/proc/$sleeper/comm" 2>/dev/null; do sleep 0.02; done
"$netlab" freeze --name "$one" n2
same 'a frozen process' T "$(state $sleeper)"
matches 'status of a frozen host' '*; 1 process*frozen: n2*' "$("$netlab" status --name "$one")"
"$netlab" restore --name "$one" n2
same 'a thawed process' S "$(state $sleeper)"
"$netlab" freeze --name "$one" n2 0.1
same 'a process after a short freeze' S "$(state $sleeper)"
"$netlab" kill --name "$one" n2
wait "$sleeper" 2>/dev/null
same 'a killed process' 137 $?

# --- a second lab, and the first is untouched ---

# round_trip HOST: prints the microseconds from n0 of the second lab to HOST and back. Ports answer with a
# refusal, which takes one round trip.
round_trip() {
    # shellcheck disable=SC2016  # the bash inside expands these
    "$netlab" exec --name "$two" n0 bash -c '
        start=${EPOCHREALTIME/./}
        (echo >"/dev/tcp/$1/9") 2>&1 | grep -q "Connection refused" || exit 1
        echo $((${EPOCHREALTIME/./} - start))' - "$1" 2>/dev/null
}

text=$("$netlab" up --name "$two" --racks-of 2,1 --link 20mbit --buffer 20k --delay 30ms 2>&1)
same 'up with a delay' \
    "lab '$two' is up: 2 racks, 3 hosts, link 20mbit, uplink 1gbit, buffer 20k, delay 30ms, cubic" "$text"
matches 'status with a delay' '*buffer 20k, delay 30ms, cubic; 0 processes' "$("$netlab" status --name "$two")"
matches 'a port with a delay' '*tbf*rate 20Mbit*limit 20Kb*' \
    "$(tc -r -n "netlab.$two.switch" qdisc show dev n0)"
for host in n1 n2; do # a connection's first round trip may include the look-up of an address
    time=$(round_trip $host)
    ((${time:-0} >= 115000)) || same "four links of 30 ms to $host and back" '120 ms or more' "$time"
done
matches 'the delay counts frames' '*links?delay?0?[1-9]*' "$("$netlab" drops --name "$two" | tail -n 1)"
"$netlab" exec --name "$two" n0 bash -c \
    'exec 3<>/dev/udp/n1/9; for i in {1..400}; do printf %01400d 0 >&3; done' >/dev/null 2>&1 &
"$netlab" exec --name "$two" n2 bash -c \
    'exec 3<>/dev/udp/n1/9; for i in {1..400}; do printf %01400d 0 >&3; done' >/dev/null 2>&1
wait $!
for ((i = 0; i < 50; i++)); do
    drops=$("$netlab" drops --name "$two" | awk '$1 == "rack0" && $2 == "n1" { print $3 }')
    ((drops > 0)) && break
    sleep 0.1
done
((drops > 0)) || same 'a full buffer drops behind a delay' yes no
"$netlab" down --name "$two" || same 'down with a delay' 0 1
same 'a lab with a delay leaves nothing' '' "$(leftovers "$two")"

printf '# two sites\nams nyc\n0 30 # from ams\n50 0\n' >"$work/matrix"
text=$("$netlab" wan --name "$two" --matrix "$work/matrix" --hosts-per-site 2 2>&1)
same 'wan' "lab '$two' is up: 2 sites, 4 hosts, link 100mbit, uplink 1gbit, buffer 1m, cubic" "$text"
same 'topology of sites' "SwitchName=rack0 Nodes=n[0-1]
SwitchName=rack1 Nodes=n[2-3]
SwitchName=ams Switches=rack0
SwitchName=nyc Switches=rack1" "$("$netlab" topology --name "$two" | grep -v '^#')"

(($(round_trip n2) >= 80000)) || same 'the way of 30 ms and back of 50 ms' '80 ms or more' less
echo '0 150 150 0' | xargs -n 2 >"$work/update"
"$netlab" wan --name "$two" --update "$work/update" || same 'update' 0 1
(($(round_trip n2) >= 300000)) || same 'after the update' '300 ms or more' less
matches 'the delay counts packets' '*wan?delay?0?[1-9]*' "$("$netlab" drops --name "$two" | tail -n 1)"
same 'the first lab after the second' 4 "$(find /run/netns -name "netlab.$one.n*" | wc -l)"
reaches n0 n1 || same 'the first lab beside the second' yes no

# bad_matrix PATTERN TEXT: expects that a matrix file with TEXT is refused with an error that matches
# PATTERN.
bad_matrix() {
    printf '%b' "$2" >"$work/bad"
    refused 1 "$work/bad $1" wan --name "$two" --update "$work/bad"
}
bad_matrix 'line 2: 1 numbers where the first row has 2' '0 1\n1\n'
bad_matrix 'line 1: "-1" is negative*' '0 -1\n1 0\n'
bad_matrix 'line 1: "nan" is not a finite number' '0 nan\n1 0\n'
bad_matrix 'line 2: "inf" is not a finite number' '0 1\ninf 0\n'
bad_matrix 'line 1: "1e99" is more than 60 s' '0 1e99\n1 0\n'
bad_matrix 'line 1: "0x1" is not a finite number' '0 0x1\n1 0\n'
bad_matrix 'line 1: 1 rows for 2 columns; the matrix must be square' '0 1'
bad_matrix 'line 3: more rows than the 2 columns; *' '0 1\n1 0\n1 0\n'
bad_matrix 'line 0: there is no matrix in this file' ''
bad_matrix 'line 1: two sites are named "a"' 'a a\n0 1\n1 0\n'
bad_matrix 'line 2: 3 names for 2 sites' 'a b c\n0 1\n1 0\n'
bad_matrix "has 1 sites, lab '$two' has 2" '0\n'
refused 1 "cannot read the matrix file '$work/nosuch'" wan --name "$two" --update "$work/nosuch"
refused 1 "--unit 'h' must be *" wan --name "$two" --update "$work/update" --unit h
refused 1 '--update changes latencies alone, not --link' \
    wan --name "$two" --update "$work/update" --link 1mbit
(($(round_trip n2) >= 300000)) || same 'after bad updates' '300 ms or more' less

# --- runs ---

if [[ $launcher != other ]]; then
    # where ARGUMENTS: prints "rank host" of each rank, in the order of ranks.
    where() {
        # shellcheck disable=SC2016  # the ranks expand these
        "$netlab" run --name "$one" "$@" -- \
            sh -c 'echo "${OMPI_COMM_WORLD_RANK-$PMI_RANK} $(hostname)"' 2>/dev/null </dev/null |
            sort -n | paste -sd ,
    }
    same 'by rack' '0 n0,1 n1,2 n2,3 n3' "$(where)"
    same 'more ranks than hosts' '0 n0,1 n1,2 n2,3 n3,4 n0,5 n1' "$(where -n 6)"
    same 'scrambled' "$(where --order scrambled --seed 1)" "$(where --order scrambled)"
    same 'scrambled hosts' n0,n1,n2,n3 \
        "$(where --order scrambled | tr , '\n' | cut -d ' ' -f 2 | sort | paste -sd ,)"
    printf '# mine\nn3\n\nn0 # first\nn1\n' >"$work/order"
    same 'from a file' '0 n3,1 n0,2 n1,3 n3' "$(where -n 4 --order "$work/order")"
    echo n9 >"$work/order"
    refused 1 "$work/order line 1: lab '$one' has no host 'n9'" \
        run --name "$one" --order "$work/order" -- true
    refused 1 "--order 'nosuch' is neither *" run --name "$one" --order nosuch -- true
    refused 1 '--seed goes with *' run --name "$one" --seed 3 -- true

    # shellcheck disable=SC2016  # the program expands these
    printf '#!/bin/sh\necho "$PWD $COLL_TEST"\nexit 7\n' >"$work/program"
    chmod +x "$work/program"
    text=$(cd "$work" && COLL_TEST=given "$netlab" run --name "$one" -n 1 -- ./program 2>/dev/null)
    same 'status, directory and settings of a run' "7 $work given" "$? $text"
    # Hydra 4.2 does not pass on the end of the input.
    same 'input of a run' words "$(echo words | "$netlab" run --name "$one" -n 1 -- head -n 1 2>/dev/null)"

    "$netlab" run --name "$one" -- sh -c "echo >>'$work/started'; sleep 1000" >/dev/null 2>&1 &
    running=$!
    until [[ $(wc -l 2>/dev/null <"$work/started") == 4 ]] || ! kill -0 $running; do sleep 0.05; done
    kill -TERM "$running"
    wait "$running"
    same 'a run that was stopped' 143 $?
    matches 'nothing is left of it' '*; 0 processes' "$("$netlab" status --name "$one")"
    same 'no scratch is left of it' '' "$(ls -d /run/netlab/"$one"/run.* 2>/dev/null)"
else
    echo 'not tested: runs (no mpirun of Open MPI or MPICH)'
fi

# --- down ---

delay=$(ip netns pids "netlab.$two.wan")
matches 'there is a delay program' '[1-9]*' "$delay"
rm "/run/netlab/$two/ready"
ip netns del "netlab.$two.n1"
refused 1 "a lab named '$two' is being built, or was left half built; *" \
    up --name "$two" --racks 1 --hosts 1
refused 1 "lab '$two' is half built; *" topology --name "$two"
matches 'status of half a lab' "$two: half built*" "$("$netlab" status --name "$two")"
"$netlab" down --name "$two" || same 'down of half a lab' 0 1
same 'half a lab leaves nothing' '' "$(leftovers "$two")"
for ((i = 0; i < 100; i++)); do
    [[ -e /proc/$delay ]] || break
    sleep 0.05
done
same 'the delay program is gone' '' "$(ls -d "/proc/$delay" 2>/dev/null)"

"$netlab" up --name "$two" --racks 5 --hosts 10 >/dev/null 2>&1 &
until [[ -e /run/netlab/$two ]]; do sleep 0.01; done
kill -KILL $!
wait $! 2>/dev/null
"$netlab" down --name "$two" || same 'down after a crash' 0 1
same 'a crash leaves nothing' '' "$(leftovers "$two")"

"$netlab" down --name "$one" || same 'down' 0 1
same 'down leaves nothing' '' "$(leftovers "$one")"
refused 1 "there is no lab named '$one'" down --name "$one"
if [[ -z $had_labs && ! -e /run/netlab ]]; then
    same 'the limits of the neighbour table' "$limits_before" "$(limits)"
fi

((failures == 0)) || exit 1
echo 'netlab: all checks passed'
