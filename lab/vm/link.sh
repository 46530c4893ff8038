# The link emulator (LAB_LINK=wire): rocewire connects to the sockets that the guests' QEMUs listen on.
# shellcheck shell=bash

link_pidfile() { printf '%s' "$LAB_STATE/link.process"; }
link_log() { printf '%s' "$LAB_STATE/link.log"; }
link_control() { printf '%s' "$LAB_RUN/link.control"; }

# is_wired: whether the running guests have the link emulator or, if none run, whether the next ones will.
is_wired() {
    local link=$LAB_LINK
    [[ ! -r $LAB_STATE/vm.state ]] || link=$(state_value LINK)
    [[ $link == wire ]]
}

# link_pid: prints the pid of this lab's rocewire, if it runs.
link_pid() {
    local pid
    { read -r pid <"$(link_pidfile)"; } 2>/dev/null && [[ -n $pid ]] || return 1
    grep -qzxF -- "$(link_control)" "/proc/$pid/cmdline" 2>/dev/null || return 1
    printf '%s' "$pid"
}

rocewire() { "$LAB_ROOT/$LAB_BUILD/rocewire" --control "$(link_control)" "$@"; }

# start_link: returns when rocewire listens for rules; the guests may start later. Returns 1 with the reason in FAILURE.
start_link() {
    local host ports=() log status=0
    log=$(link_log)
    for host in "${LAB_HOSTS[@]}"; do
        ports+=(--port "$host=$(link_address "$host")")
    done
    : >"$log"
    (close_inherited && exec setsid "$LAB_ROOT/$LAB_BUILD/rocewire" --control "$(link_control)" run "${ports[@]}") \
        </dev/null >>"$log" 2>&1 &
    printf '%s\n' "$!" | write_file "$(link_pidfile)"
    # Wait until the process is rocewire: before that, stop_link does not recognize it.
    until link_pid >/dev/null || ! kill -0 "$!" 2>/dev/null; do
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
    pid=$(link_pid) || pid=
    if [[ -n $pid ]]; then
        kill "$pid" 2>/dev/null || true
        while link_pid >/dev/null; do
            ((++tries != 100)) || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.05
        done
    fi
    rm -f "$(link_pidfile)"
}

# keep_link: starts the link emulator if it is not running, and restarts it if it was rebuilt. The guests listen all the time.
keep_link() {
    local pid why="had ended"
    is_wired || return 0
    if pid=$(link_pid); then
        [[ $(readlink "/proc/$pid/exe") == *' (deleted)' ]] || return 0
        why="was rebuilt"
        stop_link
    fi
    load await build
    build "$LAB_BUILD/rocewire"
    if [[ -e $(link_log) ]]; then
        say "the link emulator $why: starting it again, without rules"
        start_link || die "$FAILURE."
    else
        start_link || die "$FAILURE."
        check_link
    fi
}

# record_link: records the frames on the link in the run's directory, until stop_link_record. The rules' counters restart in each run.
record_link() { # run|capture
    local rules count
    is_wired || return 0
    rules=$(rocewire status --json | jq -c '[.rules[].text]')
    count=$(jq length <<<"$rules")
    ((count == 0)) || say "the link emulator has $count rule$( ((count == 1)) || printf s): lab/lab wire"
    record '.link = {rules: $rules}' --argjson rules "$rules"
    if [[ $1 == capture ]]; then
        rocewire record "$RUN_DIR/link.pcapng" --log "$RUN_DIR/link.jsonl" >/dev/null || die "the link emulator did not start to record (see above)."
        LINK_RECORDS=1
    else
        rocewire restart >/dev/null || die "the link emulator did not restart its counters (see above)."
    fi
}

stop_link_record() {
    [[ -z ${LINK_RECORDS:-} ]] || ! link_pid >/dev/null || rocewire stop >/dev/null
    LINK_RECORDS=
}

# link_rules: prints the number of the link emulator's rules.
link_rules() { rocewire status --json | jq '.rules | length'; }
