# The link emulator as a program (LAB_CABLE=wire): rocewire connects to the sockets that the guests' QEMUs listen on.
# shellcheck shell=bash

cable_pidfile() { printf '%s' "$LAB_STATE/cable.process"; }
cable_log() { printf '%s' "$LAB_STATE/cable.log"; }
cable_control() { printf '%s' "$LAB_RUN/cable.control"; }

# The link emulator of the running guests, or of those that are to come.
is_wired() {
    local cable=$LAB_CABLE
    [[ ! -r $LAB_STATE/vm.state ]] || cable=$(state_value CABLE)
    [[ $cable == wire ]]
}

# cable_pid: of a rocewire that runs and is this lab's.
cable_pid() {
    local pid
    { read -r pid <"$(cable_pidfile)"; } 2>/dev/null && [[ -n $pid ]] || return 1
    grep -qzxF -- "$(cable_control)" "/proc/$pid/cmdline" 2>/dev/null || return 1
    printf '%s' "$pid"
}

rocewire() { "$LAB_ROOT/$LAB_BUILD/rocewire" --control "$(cable_control)" "$@"; }

need_rocewire() {
    [[ -x $LAB_ROOT/$LAB_BUILD/rocewire ]] || die "rocewire, the lab's link, is not built: run make build."
}

# start_link: returns when it listens for rules; the guests may come later. 1: FAILURE says why.
start_link() {
    local host ports=() log status=0
    log=$(cable_log)
    for host in "${LAB_HOSTS[@]}"; do
        ports+=(--port "$host=$(link_address "$host")")
    done
    : >"$log"
    (close_inherited && exec setsid "$LAB_ROOT/$LAB_BUILD/rocewire" --control "$(cable_control)" run "${ports[@]}") \
        </dev/null >>"$log" 2>&1 &
    printf '%s\n' "$!" | write_file "$(cable_pidfile)"
    # Until it is rocewire, stop_link does not take it for one.
    until cable_pid >/dev/null || ! kill -0 "$!" 2>/dev/null; do
        sleep 0.01
    done
    await_line "$log" $(($(now_ms) + 10000)) "$!" '^rocewire: ready' || status=$?
    if ((status != 0)); then
        FAILURE="the link emulator's program did not start: $(tail -n 1 "$log") ($log)"
        return 1
    fi
}

# stop_link: it is gone when this returns, and what it was recording is in its file.
stop_link() {
    local pid tries=0
    pid=$(cable_pid) || pid=
    if [[ -n $pid ]]; then
        kill "$pid" 2>/dev/null || true
        while cable_pid >/dev/null; do
            ((++tries != 100)) || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.05
        done
    fi
    rm -f "$(cable_pidfile)"
}

# keep_link: start the link emulator if it is not running, or replace it if it was built anew. The guests listen all the time.
keep_link() {
    local pid why="had ended"
    is_wired || return 0
    if pid=$(cable_pid); then
        [[ $(readlink "/proc/$pid/exe") == *' (deleted)' ]] || return 0
        why="was built anew"
        stop_link
    fi
    need_rocewire
    load await
    if [[ -e $(cable_log) ]]; then
        say "the link emulator $why: starting it again, without rules"
        start_link || die "$FAILURE."
    else
        start_link || die "$FAILURE."
        check_link
    fi
}

# record_cable: what crosses it goes to the run's directory, until it is stopped. In any run the rules count from 1.
record_cable() { # run|capture
    local rules count
    is_wired || return 0
    rules=$(rocewire status --json | jq -c '[.rules[].text]')
    count=$(jq length <<<"$rules")
    ((count == 0)) || say "the link emulator has $count rule$( ((count == 1)) || printf s): lab/lab wire"
    record '.cable = {rules: $rules}' --argjson rules "$rules"
    if [[ $1 == capture ]]; then
        rocewire record "$RUN_DIR/cable.pcapng" --log "$RUN_DIR/cable.jsonl" >/dev/null || die "the link emulator does not record."
        CABLE_RECORDS=1
    else
        rocewire restart >/dev/null || die "the link emulator does not answer."
    fi
}

stop_cable_record() {
    [[ -z ${CABLE_RECORDS:-} ]] || ! cable_pid >/dev/null || rocewire stop >/dev/null
    CABLE_RECORDS=
}

# cable_rules: how many the link emulator has.
cable_rules() { rocewire status --json | jq '.rules | length'; }
