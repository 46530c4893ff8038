# The capture of a lesson: taken on the server's host, and streamed to wire.pcapng on this host.
# shellcheck shell=bash

# The folder of a lesson that uses other protocols than RoCE has a file capture.filter. The folder of a lesson that transfers more bytes
# than a capture can keep up with has a file capture.snaplen.
start_capture() {
    local filter=${CAPTURE_FILTER:-$(lesson_file capture.filter)} snaplen=${CAPTURE_SNAPLEN:-$(lesson_file capture.snaplen)} command
    [[ $snaplen != all ]] || snaplen=
    command=("$LAB_BUILD/rocecap" live -i "${HOST_INTERFACE[server]}" ${filter:+-f "$filter"} ${snaplen:+-s "$snaplen"} -w -)
    record '.capture.command = $ARGS.positional' --args -- "${command[@]}"
    : >"$RUN_DIR/capture.log"
    read -r -a JOB_PREFIX <<<"$(backend_privilege server)"
    CAPTURE_HINT=''
    if ((${#JOB_PREFIX[@]} > 0)); then
        CAPTURE_HINT=" (Capturing requires root there, which the lab gets by LAB_SUDO='${JOB_PREFIX[*]}'.)"
    fi
    start_job capture server 0 "$RUN_DIR/wire.pcapng" "$RUN_DIR/capture.log" "${command[@]}"
    JOB_PREFIX=()
}

# await_capture: waits until the capture records all packets.
await_capture() {
    await_line "$RUN_DIR/capture.log" $(($(now_ms) + 30000)) "${JOB_PID[capture]}" '^rocecap: ready' ||
        die "the capture on the server did not start: $(last_line "$RUN_DIR/capture.log")$CAPTURE_HINT"
    [[ $CAPTURE_WIRESHARK != 1 ]] || start_wireshark
}

# Wireshark reads the growing file through a separate tail: a slow or closed Wireshark affects neither the capture nor its file. It stays
# open after the run.
start_wireshark() {
    (
        close_inherited
        trap '' INT
        # shellcheck disable=SC2094 # tail reads, rocecap writes
        tail -c +1 -f -s 0.2 --pid="${JOB_PID[capture]}" "$RUN_DIR/wire.pcapng" | setsid wireshark -k -i -
    ) </dev/null >/dev/null 2>&1 &
}

need_wireshark() {
    [[ $CAPTURE_WIRESHARK != 1 ]] || command -v wireshark >/dev/null ||
        die "CAPTURE_WIRESHARK=1, but wireshark is not installed here: install it (apt-get install wireshark), or open the run's wire.pcapng elsewhere."
}

# capture_tail: waits until the file contains all packets of the run, at most 15 s. Both programs have ended; the last packets reach the
# file after the link, the ring's read timeout (rocecap: 20 ms), a write, and the transfer to this host. If it is known how many packets
# these are, a file with fewer that does not grow for 3 s lacks some. Otherwise wait until the file has not grown for 250 ms.
capture_tail() {
    local size=-1 last quiet_since quiet=250 deadline
    deadline=$(($(now_ms) + 15000))
    count_packets
    [[ -z $PASSED ]] || quiet=3000
    while job_running capture && (($(now_ms) < deadline)); do
        last=$size
        size=$(stat -c %s "$RUN_DIR/wire.pcapng")
        if ((size != last)); then
            quiet_since=$(now_ms)
            [[ -z $PASSED ]] || (($(packets_in wire.pcapng) < PASSED)) || return 0
        elif (($(now_ms) - quiet_since >= quiet)); then
            return
        fi
        sleep 0.05
    done
}

# count_packets: sets PASSED, the packets that a complete capture has. They are known from the link emulator, if it records, or else, and
# then IS_GUESS is 1, from the server's device: what it sends encrypted (lesson 18) is not captured. PASSED is empty if neither knows them,
# or if the capture has a filter of its own.
count_packets() {
    local sent received
    PASSED='' IS_GUESS=''
    [[ -z ${CAPTURE_FILTER:-$(lesson_file capture.filter)} ]] || return 0
    if [[ -n ${LINK_RECORDS:-} ]]; then
        PASSED=$(rocewire status --json 2>/dev/null | jq '.hosts[] | select(.name == "server").recorded_packets')
    # A packet that netem drops was counted by the device, and not captured; so was one of a device to itself.
    elif [[ $LAB_BACKEND != local ]] && read -r sent received < <(counted_packets unless-netem); then
        PASSED=$((sent + received)) IS_GUESS=1
    fi
}

# packets_in FILE: prints the number of whole packets in this file of the run.
packets_in() {
    local found
    found=$("$LAB_ROOT/$LAB_BUILD/rocecap" verify --json "$RUN_DIR/$1" 2>/dev/null | sed -n 's/^{"packets":\([0-9]*\),.*/\1/p')
    printf '%s' "${found:-0}"
}

# stop_capture: stops the capture, and reads its packet counts, which rocecap prints at its end.
stop_capture() {
    local counts='([0-9]+) packets captured, ([0-9]+) dropped by the kernel'
    [[ -n ${JOB_PID[capture]:-} ]] || return 0
    capture_tail
    job_running capture || CAPTURE_ENDED_EARLY=1
    stop_job capture
    if [[ $(grep -E "$counts" "$RUN_DIR/capture.log") =~ $counts ]]; then
        CAPTURED=${BASH_REMATCH[1]} DROPPED=${BASH_REMATCH[2]}
    fi
}

last_line() { tail -n 1 "$1" 2>/dev/null | tr -d '\r' | printable; }
