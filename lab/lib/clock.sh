# Measures and records the clock offset of each host to this host, so that the logs and packets of all hosts can be put on one
# timeline.
# shellcheck shell=bash

CLOCK_SAMPLES=20

# sample_clock TO FROM: sets CLOCK_OFFSET_US (the host's clock minus ours) and CLOCK_UNCERTAINTY_US, or returns 1. TO and FROM are
# descriptors of a channel to the host, which replies to each line with its time.
#
# The sample with the shortest round trip is the best: the host reads its clock during the round trip, so half of it bounds the error.
sample_clock() {
    local before after theirs rtt best=0 sample
    for ((sample = 0; sample < CLOCK_SAMPLES; ++sample)); do
        before=${EPOCHREALTIME/[^0-9]/}
        echo >&"$1" || break
        read_line "$2" 10 || break
        after=${EPOCHREALTIME/[^0-9]/}
        theirs=${LINE/[^0-9]/}
        [[ $theirs =~ ^[0-9]{16}$ ]] || break
        rtt=$((after - before))
        if ((best == 0 || rtt < best)); then
            best=$rtt
            CLOCK_OFFSET_US=$((theirs - (before + after) / 2))
            CLOCK_UNCERTAINTY_US=$((rtt / 2 + 1))
        fi
    done
    ((best > 0))
}

# measure_clock HOST: the same over a new connection.
measure_clock() {
    local fd_in fd_out pid status=0
    coproc CLOCK { on_host "$1" "exec bash -c 'while read -r; do echo \$EPOCHREALTIME; done'" 2>/dev/null; }
    pid=$CLOCK_PID fd_in=${CLOCK[0]} fd_out=${CLOCK[1]}
    sample_clock "$fd_out" "$fd_in" || status=1
    exec {fd_out}>&-
    wait "$pid" || true
    return "$status"
}

# clock_of HOST: prints {"HOST":{"offset_s":…,"uncertainty_s":…}} from the last sample.
clock_of() {
    printf '{"%s":{"offset_s":%s,"uncertainty_s":%s}}\n' "$1" "$(seconds "$CLOCK_OFFSET_US")" "$(seconds "$CLOCK_UNCERTAINTY_US")"
}

# seconds MICROSECONDS: prints seconds with six decimals.
seconds() { printf '%s%d.%06d' "$( (($1 >= 0)) || printf -)" $((${1#-} / 1000000)) $((${1#-} % 1000000)); }

# clock_json: prints {"server":{"offset_s":…,"uncertainty_s":…},"client":…}; null for a host that does not reply.
clock_json() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        if measure_clock "$host"; then
            clock_of "$host"
        else
            printf '{"%s":null}\n' "$host"
        fi
    done | jq -s add
}

# set_clock HOST: sets a guest's clock to this host's time, to within about 50 ms (the duration of `date`).
set_clock() {
    measure_clock "$1" || return 0
    on_host "$1" "exec bash -c 'now=\$((\${EPOCHREALTIME/[^0-9]/} - ($CLOCK_OFFSET_US)))
        exec date -s @\${now%??????}.\${now: -6}'" >/dev/null
}
