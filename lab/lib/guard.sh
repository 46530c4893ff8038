# Signals. In bash 5.2 a trap is safe only while the shell waits: a trap that exits inside `read -t` makes a later `read` abort the
# shell, and a trap that runs while "$(...)" is expanded is reported as a syntax error. So the process that receives the
# signals only waits. Another process, the worker, does the work in a process group of its own. It looks for a signal at points
# where it is safe to stop: pause and stop_if_told.
# shellcheck shell=bash

# guarded COMMAND...: runs the command in the worker, and returns its exit status. On SIGHUP, SIGINT or SIGTERM the worker exits with
# 129, 130 or 143 at its next safe point. It reads this status from a pipe; the end of the pipe means that this process was killed.
guarded() {
    local status result line own=
    exec {TELL}<> <(:) {result}<> <(:)
    CAUGHT=
    trap 'tell 129' HUP
    trap 'tell 130' INT
    trap 'tell 143' TERM
    # Job control gives the worker its own process group: Ctrl-C in a terminal does not end the programs that it has started.
    set -m
    work_and_report "$result" "$@" </dev/null &
    WORKER=$!
    set +m
    # A trapped signal ends `wait` early.
    until
        wait "$WORKER" 2>/dev/null || true
        ! kill -0 "$WORKER" 2>/dev/null
    do :; done
    status=0
    wait "$WORKER" || status=$?
    # bash 5.2 loses the status of a process that ends just when a trapped signal ends `wait`.
    while read -r -t 0 -u "$result"; do
        read -r line <&"$result"
        [[ $line == own ]] && own=1 || status=$line
    done
    trap - HUP INT TERM
    exec {TELL}>&- {result}>&-
    # Statuses above this range are not signals.
    if ((status > 128 && status < 193)) && [[ -z $CAUGHT && -z $own ]]; then
        say "the lab's process was killed by signal $((status - 128)): run the command again"
        status=1
    fi
    return "$status"
}

tell() { # STATUS
    if [[ -z $CAUGHT ]]; then
        CAUGHT=$1
        echo "$1" >&"$TELL"
    fi
}

# exit_as STATUS: ends the worker with the exit status of another program. Above 128 it does not mean that the worker was killed.
exit_as() {
    [[ -z ${RESULT:-} ]] || echo own >&"$RESULT"
    exit "$1"
}

# work_and_report DESCRIPTOR COMMAND...: runs the command, and writes the worker's exit status to the descriptor.
work_and_report() {
    local status messages result=$1
    exec {TOLD}<"/dev/fd/$TELL"
    exec {TELL}>&-
    # bash's own report of a worker that was killed is not for the user: guarded prints one.
    exec {messages}>&2 2>/dev/null
    set +e
    (
        set -e
        exec 2>&"$messages" {messages}>&-
        RESULT=$result
        work "${@:2}"
    )
    status=$?
    echo "$status" >&"$result"
    exit "$status"
}

work() {
    # Without this, a terminal set to `stty tostop` stops a background process group that writes to it.
    trap '' TTOU
    WORKER=$BASHPID STOP_STATUS=
    "$@"
}

# is_worker: whether this process is the worker. A subshell of the worker is not: its exit would not end the worker.
is_worker() { [[ -n ${TOLD:-} && $BASHPID == "$WORKER" ]]; }

# stop_if_told: exits if a signal has been received.
stop_if_told() {
    if is_worker && read -r -t 0 -u "$TOLD"; then
        pause 1
    fi
}

# pause SECONDS: sleeps; a signal during the sleep ends the script.
pause() {
    local part='' status=0
    if ! is_worker; then
        sleep "$1"
        return
    fi
    IFS= read -r -t "$1" -u "$TOLD" part || status=$?
    # The timeout can occur in the middle of a line.
    STOP_STATUS+=$part
    if ((status > 128)); then
        check_watched
        return
    fi
    [[ -z ${INTERRUPTIBLE:-} ]] || kill "$INTERRUPTIBLE" 2>/dev/null || true
    [[ -n $STOP_STATUS ]] || say "the lab's script was killed: stopping what it has started"
    exit "${STOP_STATUS:-1}"
}

# Processes that a run cannot continue without: WATCHED[PID]=MESSAGE. Every wait checks them.
declare -gA WATCHED=()

check_watched() { ! find_lost || exit 1; }

# find_lost: returns 0 if a watched process has ended, with its message in LOST.
find_lost() {
    local pid
    for pid in "${!WATCHED[@]}"; do
        # A process that ends loses its command line before its sockets are closed, and long before its pid is free.
        if ! { IFS= read -r -d '' -n 1 _ <"/proc/$pid/cmdline"; } 2>/dev/null; then
            LOST=${WATCHED[$pid]}
            return 0
        fi
    done
    return 1
}

# interruptible PROGRAM ARG...: runs a program that may take long. A signal ends it.
interruptible() {
    local status=0
    "$@" &
    INTERRUPTIBLE=$!
    while kill -0 "$INTERRUPTIBLE" 2>/dev/null; do
        pause 0.1
    done
    wait "$INTERRUPTIBLE" || status=$?
    INTERRUPTIBLE=
    return "$status"
}

# read_line DESCRIPTOR SECONDS: reads the next line of a pipe into LINE. Returns 1 at the end of the pipe or at the time limit.
read_line() {
    local part status deadline=$((SECONDS + $2))
    LINE=
    while :; do
        status=0
        IFS= read -r -t 0.2 -u "$1" part || status=$?
        LINE+=$part
        ((status > 128)) || return "$status"
        stop_if_told
        check_watched
        ((SECONDS <= deadline)) || return 1
    done
}
