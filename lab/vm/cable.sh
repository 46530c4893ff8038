# The link emulator (LAB_CABLE=wire): rocewire connects to the sockets that the guests' QEMUs listen on.
# shellcheck shell=bash

cable_pidfile() { printf '%s' "$LAB_STATE/cable.process"; }
cable_log() { printf '%s' "$LAB_STATE/cable.log"; }
cable_control() { printf '%s' "$LAB_RUN/cable.control"; }

# is_wired: whether the running guests have the link emulator or, if none run, whether the next ones will.
is_wired() {
    local cable=$LAB_CABLE
    [[ ! -r $LAB_STATE/vm.state ]] || cable=$(state_value CABLE)
    [[ $cable == wire ]]
}

# cable_pid: prints the pid of this lab's rocewire, if it runs.
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

# start_link: returns when rocewire listens for rules; the guests may start later. Returns 1 with the reason in FAILURE.
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
    # Wait until the process is rocewire: before that, stop_link does not recognize it.
    until cable_pid >/dev/null || ! kill -0 "$!" 2>/dev/null; do
        sleep 0.01
    done
    await_line "$log" $(($(now_ms) + 10000)) "$!" '^rocewire: ready' || status=$?
    if ((status != 0)); then
        FAILURE="the link emulator's program did not start: $(tail -n 1 "$log") ($log)"
        return 1
    fi
}

# stop_link: returns when rocewire has ended and its recording is complete.
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

# keep_link: starts the link emulator if it is not running, and restarts it if it was rebuilt. The guests listen all the time.
keep_link() {
    local pid why="had ended"
    is_wired || return 0
    if pid=$(cable_pid); then
        [[ $(readlink "/proc/$pid/exe") == *' (deleted)' ]] || return 0
        why="was rebuilt"
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

# record_cable: records the frames on the link in the run's directory, until stop_cable_record. The rules' counters restart in each run.
record_cable() { # run|capture
    local rules count
    is_wired || return 0
    rules=$(rocewire status --json | jq -c '[.rules[].text]')
    count=$(jq length <<<"$rules")
    ((count == 0)) || say "the link emulator has $count rule$( ((count == 1)) || printf s): lab/lab wire"
    record '.cable = {rules: $rules}' --argjson rules "$rules"
    if [[ $1 == capture ]]; then
        rocewire record "$RUN_DIR/cable.pcapng" --log "$RUN_DIR/cable.jsonl" >/dev/null || die "the link emulator did not start to record (see above)."
        CABLE_RECORDS=1
    else
        rocewire restart >/dev/null || die "the link emulator did not restart its counters (see above)."
    fi
}

stop_cable_record() {
    [[ -z ${CABLE_RECORDS:-} ]] || ! cable_pid >/dev/null || rocewire stop >/dev/null
    CABLE_RECORDS=
}

# cable_rules: prints the number of the link emulator's rules.
cable_rules() { rocewire status --json | jq '.rules | length'; }
