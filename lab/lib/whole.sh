# Checks that the files of a run are complete. On a full disk a write can fail without an error: ssh closes a stream that it cannot
# write, and the sending program takes this for a reader that has finished.
# shellcheck shell=bash

# incomplete FILE WHAT: stores the first reason why the run is incomplete.
incomplete() {
    [[ -n $INCOMPLETE ]] || INCOMPLETE="$1 $2${NO_ROOM:+: $NO_ROOM}"
}

# check_run: sets INCOMPLETE, and NO_ROOM, the reason why no file can be written.
check_run() {
    local file
    INCOMPLETE=
    NO_ROOM=$(no_room "$RUN_DIR")
    check_capture
    while IFS= read -r file; do
        # If the last line has no end, the end of the file is missing.
        [[ ! -s $file || -z $(tail -c 1 "$file") ]] || incomplete "${file##*/}" "ends in the middle of a line"
    done < <(whole_files)
}

# whole_files: prints the files to which programs write whole lines.
whole_files() { printf '%s\n' "$RUN_DIR"/*.{log,jsonl}; }

check_capture() {
    [[ -n ${JOB_STATUS[capture]:-} && -s $RUN_DIR/capture.log ]] || return 0
    grep -q '^rocecap: ready' "$RUN_DIR/capture.log" || return 0
    check_packets wire.pcapng "${CAPTURED:-}"
    # A busy kernel may drop packets, which the summary reports.
    if [[ -z ${IS_GUESS:-} && -n ${PASSED:-} && -n ${CAPTURED:-} ]] && ((CAPTURED + DROPPED < PASSED)); then
        incomplete wire.pcapng "has $CAPTURED of the $PASSED packets that the link emulator carried from and to the server"
    fi
    [[ -n ${CAPTURED:-} ]] || incomplete wire.pcapng "has no count of its packets: the capture on the server ended without one"
    [[ -z ${CAPTURE_ENDED_EARLY:-} ]] || incomplete wire.pcapng "ends before the run does"
    [[ ! -e $RUN_DIR/link.pcapng ]] || check_packets link.pcapng ''
}

# check_packets FILE COUNT: the file must consist of whole blocks, and contain COUNT packets if COUNT is not empty.
check_packets() {
    local found packets status=0
    found=$("$LAB_ROOT/$LAB_BUILD/rocecap" verify --json "$RUN_DIR/$1" 2>&1) || status=$?
    packets=$(sed -n 's/^{"packets":\([0-9]*\),.*/\1/p' <<<"$found")
    packets=${packets:-0}
    if [[ -n $2 ]] && ((packets < $2)); then
        incomplete "$1" "has $packets of the $2 packets that were captured"
    elif ((status == 2)); then
        incomplete "$1" "is cut after $packets packets"
    fi
}
