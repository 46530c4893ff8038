# Background commands on the hosts: started, awaited and stopped here, supervised by host/supervise on the host.
# shellcheck shell=bash

declare -gA JOB_PID=() JOB_LEASH=() JOB_STATUS=()

# start_job NAME HOST SECONDS STDOUT STDERR COMMAND...: starts a command in the lab's folder on the host; SECONDS 0: no time limit.
start_job() {
    local name=$1 host=$2 bound=$3 out=$4 err=$5 fd stdin
    shift 5
    # The leash: a pipe that reaches end of file when this process, its last writer, ends.
    exec {fd}<> <(:)
    exec {stdin}<"/dev/fd/$fd"
    # setsid: Ctrl-C must reach only the lab's script, which ends its jobs in order. (ssh handles SIGINT even if it was started with
    # SIGINT ignored.)
    (exec <&"$stdin" && close_inherited && ON_HOST_AS=(exec setsid) &&
        on_host "$host" "exec $(quote "${JOB_PREFIX[@]}" bash lab/host/supervise "$bound" "$@")") >"$out" 2>"$err" &
    JOB_PID[$name]=$! JOB_LEASH[$name]=$fd
    exec {stdin}<&-
}

# job_running NAME: a zombie has ended, too. (Bash 5.2 was seen with SIGCHLD blocked, which then does not collect the status of those that
# have ended: `kill -0` succeeds for ever.)
job_running() {
    local stat
    [[ -n ${JOB_PID[$1]:-} ]] && { IFS= read -r stat <"/proc/${JOB_PID[$1]}/stat"; } 2>/dev/null && [[ ${stat##*) } != Z* ]]
}

# wait_job NAME: waits for the end of the job, and sets JOB_STATUS to its exit status.
wait_job() {
    local fd=${JOB_LEASH[$1]:-} status=0
    [[ -n ${JOB_PID[$1]:-} ]] || return 0
    while job_running "$1"; do
        pause 0.05
    done
    wait "${JOB_PID[$1]}" || status=$?
    JOB_STATUS[$1]=$status JOB_PID[$1]='' JOB_LEASH[$1]=''
    exec {fd}>&-
}

let_go() { # NAME
    local fd=${JOB_LEASH[$1]:-}
    [[ -n $fd ]] || return 0
    exec {fd}>&-
    JOB_LEASH[$1]=''
}

# stop_job NAME: closes the leash and waits. supervise needs at most 5 s; after 10 s, or STOP_MS milliseconds, the connection is
# considered hung and closed.
stop_job() {
    local deadline
    [[ -n ${JOB_PID[$1]:-} ]] || return 0
    let_go "$1"
    deadline=$(($(now_ms) + ${STOP_MS:-10000}))
    while job_running "$1"; do
        if (($(now_ms) > deadline)); then
            say "the $1 does not end: closing its connection"
            kill "${JOB_PID[$1]}" 2>/dev/null || true
            break
        fi
        sleep 0.02
    done
    local status=0
    wait "${JOB_PID[$1]}" || status=$?
    JOB_STATUS[$1]=$status JOB_PID[$1]=''
}
