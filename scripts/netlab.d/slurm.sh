#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by netlab: runs Slurm on the hosts of a lab.
#
# The front end, n0, runs the controller, and every host runs a slurmd. All daemons share a munged. They run
# in one PID namespace, whose first process is the lab's only process in the network namespace of the switches.
# When it ends, the kernel ends the daemons and all jobs. Their files are in a scratch directory of
# the lab, run.slurm. The machine's own Slurm, munge and /etc are neither read nor changed.

# shellcheck disable=SC2034,SC2154  # netlab's own

# Not empty while Slurm starts, so that clean_up ends it.
slurm_starting=''

need_slurm() {
    need munged munge
    need slurmctld slurmctld
    need slurmd slurmd
    need srun slurm-client
}

# slurm_settings DIRECTORY: prints the lab's slurm.conf.
slurm_settings() {
    local front_end
    front_end=$(awk '{ print $1 "(" $3 ")"; exit }' "$state/hostlist")
    cat <<END_OF_SETTINGS
ClusterName=netlab
SlurmctldHost=$front_end
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
StateSaveLocation=$1/state
SlurmctldPidFile=$1/slurmctld.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdSpoolDir=$1/%n
SlurmdPidFile=$1/%n/slurmd.pid
SlurmdLogFile=$1/%n.log
# All hosts share one /tmp, and PMIx makes a directory of the same name on each.
TmpFS=$1/%n
# A host in a network namespace sees no cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=pmix
TopologyPlugin=topology/tree
# Hosts have one processor each, whatever the machine has, so that a job of -n N gets N whole hosts.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
ReturnToService=2
# All hosts share the machine's processors, and answer late.
MessageTimeout=60
BatchStartTimeout=60
END_OF_SETTINGS
    awk '{ print "NodeName=" $1 " NodeAddr=" $3 " CPUs=1" }' "$state/hostlist"
    echo "PartitionName=lab Nodes=ALL Default=YES"
}

write_slurm_files() {
    chmod 755 "$slurm" # munged requires that all users can reach its socket
    mkdir "$slurm/state" "${hosts[@]/#/$slurm/}"
    (umask 077 && head -c 1024 /dev/urandom >"$slurm/munge.key")
    slurm_settings "$slurm" >"$slurm/slurm.conf"
    # Without this Slurm looks for the machine's cgroups, even if nothing uses them.
    echo 'CgroupPlugin=cgroup/v1' >"$slurm/cgroup.conf"
    # Ranks of Open MPI 5 crash if messages arrive before they know that all ranks exist. With rings they all know
    # at about the same time; with trees, or with Slurm's default, a mixture, they do not.
    echo 'PMIxCollFence=ring' >"$slurm/mpi.conf"
    print_topology >"$slurm/topology.conf"
}

# on_front_end COMMAND...: runs COMMAND as a user of the cluster would.
on_front_end() {
    SLURM_CONF=$slurm/slurm.conf "$state/enter" n0 "$@"
}

slurm_is_ready() {
    local idle
    idle=$(on_front_end sinfo --noheader --states=idle --format=%D 2>/dev/null) && ((idle == ${#hosts[@]}))
}

# Prints the last error message of the daemons.
slurm_complaint() {
    local line
    line=$(cat "$slurm"/*.log 2>/dev/null | grep -E 'error: |fatal: |Error: ' | tail -n 1)
    echo "${line:-no daemon says why}"
}

slurm_up() {
    operands 0 0 'no operand'
    need_slurm
    locked claim_slurm
    slurm_starting=yes
    slurm=$(readlink "$state/run.slurm")
    write_slurm_files
    setsid ip netns exec "$prefix.switch" \
        unshare --pid --fork --kill-child --mount-proc "$state/slurm-daemons" "$slurm" "${hosts[@]}" \
        </dev/null >/dev/null 2>&1 &
    local first=$! start=$SECONDS
    disown # prints nothing when it is killed
    until slurm_is_ready; do
        [[ ! -e $slurm/ended ]] || die "$(head -n 1 "$slurm/ended") ended at once: $(slurm_complaint)"
        kill -0 "$first" 2>/dev/null || die "munged did not start: $(slurm_complaint)"
        ((SECONDS - start < 60)) ||
            die "Slurm is not ready on lab '$name' after a minute: $(slurm_complaint)"
        sleep 0.1
    done
    slurm_starting=''
    echo "Slurm is up on lab '$name': $(count ${#hosts[@]} host)"
}

# Reserves Slurm on the lab, which can run only once.
claim_slurm() {
    [[ ! -L $state/run.slurm ]] ||
        die "Slurm is up on lab '$name', or was left half started; end it with" \
            "'netlab slurm down --name $name'"
    ln -s "$(mktemp -d)" "$state/run.slurm"
}

# Prints the IDs of Slurm's processes in the network namespace of the switches. The lab's delay program may also
# run there; its ID is left out.
slurm_processes() {
    processes_in "$prefix.switch" | grep -v -x -F -e "$(cat "$state/delay.pid" 2>/dev/null)" || true
}

# Ends all daemons and jobs, including those of a failed start.
stop_slurm() {
    local found pid
    [[ -L $state/run.slurm ]] || return 0
    found=$(slurm_processes)
    until_none KILL slurm_processes
    for pid in $found; do
        # Waits until the process is gone, or dead and not reaped: then no other process of its PID namespace runs.
        while [[ $(cat "/proc/$pid/stat" 2>/dev/null) =~ \)\ [^ZX] ]]; do sleep 0.02; done
    done
    rm -rf "$(readlink "$state/run.slurm")"
    rm -f "$state/run.slurm"
}

load_slurm() {
    [[ -L $state/run.slurm ]] ||
        die "there is no Slurm on lab '$name'; start it with 'netlab slurm up --name $name'"
    slurm=$(readlink "$state/run.slurm")
}

slurm_down() {
    operands 0 0 'no operand'
    load_slurm
    stop_slurm
}

slurm_exec() {
    operands 1 100000 'a command, such as srun'
    load_slurm
    type -P -- "${operand[0]}" >/dev/null || die "there is no program '${operand[0]}' here or in PATH"
    network_settings
    export OMPI_MCA_orte_tmpdir_base=$slurm SLURM_CONF=$slurm/slurm.conf
    exec "$state/enter" n0 "${operand[@]}"
}

command_slurm() {
    local verb=${1-}
    case $verb in
    up | down) shift && parse '' "$@" ;;
    exec) shift && parse + "$@" ;;
    *) die "slurm needs up, down or exec, not '$verb' (see netlab --help)" ;;
    esac
    load_lab
    "slurm_$verb"
}
