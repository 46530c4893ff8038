# A run of one lesson on the hosts, from the run directory to the summary.
# shellcheck shell=bash

# run_lesson run|capture LESSON CLIENT-ARGUMENT...
run_lesson() {
    local mode=$1
    find_lesson "$2"
    shift 2
    choose_hosts
    run_programs "$mode" "$@"
}

# run_programs run|capture ARGUMENT...: runs the programs of LESSON on LAB_HOSTS; make_commands builds their commands from the arguments.
run_programs() {
    local mode=$1
    MODE=$mode
    shift
    check_number CAPTURE_SECONDS 0 86400
    check_number CAPTURE_SERVER_WAIT_SECONDS 1 86400
    need_tool jq jq
    [[ $mode != capture ]] || need_wireshark
    backend_require_up
    lock run
    local programs
    mapfile -t programs < <(programs_of_run)
    [[ $mode != capture ]] || programs+=("$LAB_BUILD/rocecap")
    if xray_wanted; then
        for_hosts build "$LAB_BUILD/rocexray"
        programs+=("$LAB_BUILD/rocexray")
    fi
    backend_push lab/host "${programs[@]}"
    push_certificates
    make_run_dir "$mode"
    backend_watch
    trap 'end_run $?' EXIT
    record_hosts
    make_commands "$@"
    record_commands
    stop_if_told
    ! wants_keys || chmod 600 "$RUN_DIR"/*.jsonl
    heading
    follow_run
    [[ $LAB_BACKEND != vm ]] || record_link "$mode"
    if [[ $mode == capture ]]; then
        start_capture
    fi
    ! xray_wanted || start_xray
    if two_sided; then
        run_two_sided
    else
        run_one_sided
    fi
}

# For a lesson that exchanges endpoints over TLS. Each machine gets only its own key.
push_certificates() {
    local host
    needs_certificates || return 0
    "$LAB_ROOT/lab/certs" "$LAB_ROOT/build/certs"
    for host in "${LAB_HOSTS[@]}"; do
        backend_push_to "$host" build/certs/{ca.crt,"${host%%[0-9]*}.crt","${host%%[0-9]*}.key"}
    done
}

make_run_dir() { # MODE
    local host error
    local -a files
    RUN_DIR=$(realpath -m -- "${LAB_RUNS:-$LAB_ROOT/captures/runs}")/$(date -u +%Y%m%dT%H%M%SZ)_$LESSON
    until error=$(mkdir -p "${RUN_DIR%/*}" 2>&1 && mkdir -m 700 "$RUN_DIR" 2>&1); do
        [[ -e $RUN_DIR ]] || die "cannot create $RUN_DIR: ${error##*: }"
        # The lesson was already run within the same second.
        RUN_DIR+=+
    done
    RUN_STARTED=$(now_ms)
    for host in "${LAB_HOSTS[@]}"; do
        files=("$RUN_DIR/$host".{log,jsonl})
        ! xray_wanted || files+=("$RUN_DIR/$host-driver".{log,jsonl})
        error=$(touch "${files[@]}" 2>&1) || give_up_run_dir "cannot write $RUN_DIR: ${error##*: }"
    done
    # Reserve space, so that a run that fills the disk can still record its end.
    error=$({ head -c 32768 /dev/zero >"$RUN_DIR/.reserve"; } 2>&1) || give_up_run_dir "cannot write $RUN_DIR: ${error##*: }"
    record_start "$1" || give_up_run_dir "a run needs more room"
    [[ -z ${LAB_RUN_LIST:-} ]] || printf '%s\n' "$RUN_DIR" >&"$LAB_RUN_LIST" # run_in_turn's
}

give_up_run_dir() { # REASON
    rm -rf "$RUN_DIR"
    die "$1"
}

start_program() { # HOST BOUND COMMAND...
    local role=$1 bound=$2
    shift 2
    start_job "$role" "$role" "$bound" "$RUN_DIR/$role.jsonl" "$RUN_DIR/$role.log" "$@"
}

run_two_sided() {
    local status=0
    # The server and the capture start in parallel: a server sends nothing before its client connects.
    start_program server 0 "${SERVER_COMMAND[@]}"
    [[ -z ${JOB_PID[capture]:-} ]] || await_capture
    await_server || status=$?
    case $status in
        1)
            wait_job server
            say "the server ended before it was ready: $(last_line "$RUN_DIR/server.log")"
            # If it failed, its exit status is that of the run.
            [[ ${JOB_STATUS[server]} == 0 ]] || return 0
            exit 1
            ;;
        2) die "the server was not ready after $CAPTURE_SERVER_WAIT_SECONDS s: $(last_line "$RUN_DIR/server.log")" ;;
    esac
    local client
    for client in "${LAB_HOSTS[@]:1}"; do
        client_command "$client"
        start_program "$client" "$CAPTURE_SECONDS" "${CLIENT_COMMAND[@]}"
    done
    for client in "${LAB_HOSTS[@]:1}"; do
        wait_job "$client"
    done
    after_clients
}

# A server without a signal handler ends by SIGTERM, which is no failure. hello serves one client and ends by itself.
after_clients() {
    is_traced || return 0
    [[ $(program_of server) != */hello ]] || await_server_end
    SERVER_GOES_ON=1
}

# await_server_end: waits until the server has ended, at most 5 s.
await_server_end() {
    local deadline=$(($(now_ms) + 5000))
    while job_running server && (($(now_ms) < deadline)); do
        pause 0.1
    done
}

# await_server: returns the status of await_line. A traced server does not say that it is ready: its call does.
await_server() {
    await_line "$RUN_DIR/server.jsonl" $(($(now_ms) + CAPTURE_SERVER_WAIT_SECONDS * 1000)) "${JOB_PID[server]}" '"event": ?"ready"|"call": ?"rdma_listen"'
}

run_one_sided() {
    [[ -z ${JOB_PID[capture]:-} ]] || await_capture
    start_program client "$CAPTURE_SECONDS" "${CLIENT_COMMAND[@]}"
    wait_job client
}

# heading: prints the lesson's number and title above its logs and packets.
heading() {
    local title bold='' plain=''
    title=$(sed -n '/^# /{s/^# *//; s/^[0-9]* *· *//; p; q}' "$LAB_ROOT/examples/$LESSON/README.md" 2>/dev/null) || true
    if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
        bold=$'\e[1m' plain=$'\e[0m'
    fi
    printf '%slesson %s · %s%s\n' "$bold" "${LESSON%%_*}" "${title:-${LESSON#*_}}" "$plain"
}

# Prints the logs and the packets as one timeline on the terminal during the run. It ends when run.json contains the end of the run.
follow_run() {
    FOLLOW_PID=
    (close_inherited && exec setsid setpriv --pdeathsig TERM "$LAB_ROOT/$LAB_BUILD/rocecap" timeline --follow "$RUN_DIR") </dev/null &
    FOLLOW_PID=$!
}

# end_run STATUS: runs at every exit. Stops the clients, then the server, then the capture, so that the capture contains the end of the
# connections.
end_run() {
    local status=$1 role
    trap '' INT TERM HUP
    trap - EXIT
    set +e
    if find_lost; then
        say "$LOST: stopping the run"
        status=1
        # The connections cannot end in order: stop all programs at the same time. A busy machine ends its own later.
        STOP_MS=2000
        for role in "${LAB_HOSTS[@]:1}" server; do
            let_go "$role"
        done
    elif ((status > 128)); then
        say "interrupted: stopping the run"
    fi
    for role in "${LAB_HOSTS[@]:1}" server; do
        stop_job "$role"
    done
    # The server did not end by itself: the SIGTERM is from stop_job.
    [[ -z ${SERVER_GOES_ON:-} || ${JOB_STATUS[server]:-} != 143 ]] || JOB_STATUS[server]=0
    stop_xray
    # From here on, the summary reports failed writes in one sentence.
    QUIET_WRITES=1
    # stop_capture waits for the packets that these count.
    [[ -z ${HOST_DEVICE[server]:-} ]] || record_counters_after
    stop_capture
    [[ $LAB_BACKEND != vm ]] || stop_link_record
    check_run
    rm -f "$RUN_DIR/.reserve"
    end_asking
    record_end || incomplete run.json "lacks the end of the run"
    end_follow
    keep_keys
    for role in "${LAB_HOSTS[@]:1}" server; do
        ((status != 0)) || status=${JOB_STATUS[$role]:-0}
    done
    if [[ -n $INCOMPLETE ]]; then
        ((status != 0)) || status=1
    fi
    # A capture whose packets find no room ends as after SIGPIPE: that the run is incomplete says more.
    ((status != 0)) || status=${JOB_STATUS[capture]:-0}
    summary "$status"
    exit_as "$status"
}

end_follow() {
    local deadline=$(($(now_ms) + 10000)) tool=$LAB_ROOT/$LAB_BUILD/rocecap
    if [[ -n ${FOLLOW_PID:-} ]]; then
        while kill -0 "$FOLLOW_PID" 2>/dev/null && (($(now_ms) < deadline)); do
            sleep 0.02
        done
        kill "$FOLLOW_PID" 2>/dev/null
        wait "$FOLLOW_PID" || show_logs
        "$tool" timeline --color=never "$RUN_DIR" 2>/dev/null | write_file "$RUN_DIR/timeline.txt" ||
            incomplete timeline.txt "could not be written"
        [[ -z $NO_ROOM ]] || return 0
        [[ ! -s $RUN_DIR/wire.pcapng ]] || "$tool" annotate "$RUN_DIR" 2>/dev/null || :
        "$tool" report "$RUN_DIR" 2>/dev/null || :
    else
        show_logs
    fi
}

show_logs() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        printable <"$RUN_DIR/$host.log"
    done
}

summary() { # STATUS
    local dir=${RUN_DIR#"$LAB_ROOT"/} role sent received counted packets dropped
    say "$LESSON: $(for role in "${LAB_HOSTS[@]:1}"; do printf '%s %s, ' "$role" "$(status_text "$role")"; done)server $(status_text server), $((($(now_ms) - RUN_STARTED) / 1000)) s"
    read -r packets dropped < <(jq -r '.capture | select(.packets) | "\(.packets) \(.dropped)"' "$RUN_DIR/run.json")
    if [[ -n $packets ]]; then
        counted=
        if read -r sent received < <(counted_packets); then
            counted="; the server's ${HOST_DEVICE[server]%/*} counted $((sent + received)) RoCE packets ($sent sent, $received received)"
        fi
        say "$packets packets captured, $dropped dropped$counted"
        [[ -z ${IS_GUESS:-} ]] || ((packets + dropped >= PASSED)) ||
            say "that is $((PASSED - packets - dropped)) less than the device counted: the capture missed them, or they were encrypted"
        [[ ! $dropped =~ ^[1-9] ]] ||
            say "the server was too busy to capture all packets: try CAPTURE_SNAPLEN=384, which captures only the headers"
        if [[ $LAB_BACKEND == local && $packets == 0 ]]; then
            say "traffic from a device to itself stays inside the device: only traffic between two machines can be captured"
        fi
        if [[ $packets == 0 ]]; then
            : # There is nothing to see in Wireshark.
        elif [[ -s $RUN_DIR/annotated.pcapng ]]; then
            say "wireshark $dir/annotated.pcapng"
        else
            say "wireshark $dir/wire.pcapng"
        fi
    fi
    [[ -z $INCOMPLETE ]] || say "$MODE incomplete: $INCOMPLETE"
    [[ ! -s $RUN_DIR/report.html ]] || say "xdg-open $dir/report.html: the run as a page"
    say "everything of this run: $dir"
}

status_text() { # ROLE
    local status=${JOB_STATUS[$1]:-} name
    case $status in
        '') echo "not run" ;;
        0) echo "ok$(logged_errors "$1")" ;;
        *)
            # The program may end with 124 by itself, as timeout(1) does.
            if ((status == 124)) && grep -qxs "stopped: $CAPTURE_SECONDS s have passed" "$RUN_DIR/$1.log"; then
                echo "stopped after $CAPTURE_SECONDS s"
                return
            fi
            name=$(kill -l $((status > 128 ? status - 128 : 0)) 2>/dev/null) || name=
            echo "failed (exit $status$( ((status <= 128)) || [[ -z $name ]] || echo ", as after SIG$name"))"
            ;;
    esac
}

# logged_errors ROLE: prints how many errors the program logged although it ended with 0, and the first one.
logged_errors() {
    local errors
    mapfile -t errors < <(jq -rR 'fromjson? | select(.event == "error") | .text // "" | tostring | gsub("\n"; " ")' "$RUN_DIR/$1.jsonl" | printable)
    case ${#errors[@]} in
        0) ;;
        1) printf ', but it logged 1 error: %s' "${errors[0]}" ;;
        *) printf ', but it logged %s errors, the first: %s' "${#errors[@]}" "${errors[0]}" ;;
    esac
}
