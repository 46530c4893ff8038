# The X-ray of a run (LAB_XRAY=1, --xray): rocexray logs the steps of each host's driver to HOST-driver.jsonl.
# shellcheck shell=bash

xray_wanted() { [[ $LAB_XRAY == 1 ]]; }

# start_xray: starts rocexray on all hosts of the run, and waits until it traces.
start_xray() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        read -r -a JOB_PREFIX <<<"$(backend_privilege "$host")"
        start_job "driver of $host" "$host" 0 "$RUN_DIR/$host-driver.jsonl" "$RUN_DIR/$host-driver.log" "$LAB_BUILD/rocexray" --role "$host"
        JOB_PREFIX=()
    done
    for host in "${LAB_HOSTS[@]}"; do
        await_line "$RUN_DIR/$host-driver.log" $(($(now_ms) + 30000)) "${JOB_PID["driver of $host"]}" '^rocexray: ready' ||
            die "$host: the driver's steps cannot be traced: $(last_line "$RUN_DIR/$host-driver.log")"
    done
}

# stop_xray: ends it after the programs, and says what it found.
stop_xray() {
    local host counts=
    for host in "${LAB_HOSTS[@]}"; do
        [[ -n ${JOB_PID["driver of $host"]:-} ]] || continue
        stop_job "driver of $host"
        counts+="${counts:+, }$host $(sed -n 's/^rocexray: \([0-9].*\)/\1/p' "$RUN_DIR/$host-driver.log")"
    done
    [[ -z $counts ]] || say "the drivers: $counts"
}
