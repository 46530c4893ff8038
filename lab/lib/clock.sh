# How far each host's clock is from this one's, measured and recorded, so that logs and packets of both hosts can
# be put on one time line.
# shellcheck shell=bash

CLOCK_SAMPLES=40

# measure_clock HOST: sets CLOCK_OFFSET_US (the host's clock minus ours) and CLOCK_UNCERTAINTY_US, or returns 1.
#
# The host answers each line with its time. All samples go over one channel; the one with the shortest round trip
# is the best: the host's reading lies somewhere within it, so half of it bounds the error.
measure_clock() {
    local before after theirs rtt best=0 sample fd_in fd_out pid
    coproc CLOCK { on_host "$1" "exec bash -c 'while read -r; do echo \$EPOCHREALTIME; done'" 2>/dev/null; }
    pid=$CLOCK_PID fd_in=${CLOCK[0]} fd_out=${CLOCK[1]}
    for ((sample = 0; sample < CLOCK_SAMPLES; ++sample)); do
        before=${EPOCHREALTIME/[^0-9]/}
        echo >&"$fd_out" || break
        read -r -t 10 theirs <&"$fd_in" || break
        after=${EPOCHREALTIME/[^0-9]/}
        theirs=${theirs/[^0-9]/}
        [[ $theirs =~ ^[0-9]{16}$ ]] || break
        rtt=$((after - before))
        if ((best == 0 || rtt < best)); then
            best=$rtt
            CLOCK_OFFSET_US=$((theirs - (before + after) / 2))
            CLOCK_UNCERTAINTY_US=$((rtt / 2 + 1))
        fi
    done
    exec {fd_out}>&-
    wait "$pid" || true
    ((best > 0))
}

# clock_json: {"server":{"offset_s":…,"uncertainty_s":…},"client":…}; null for a host that gave no answer.
clock_json() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        if measure_clock "$host"; then
            jq -n --arg host "$host" --argjson offset "$CLOCK_OFFSET_US" --argjson uncertainty "$CLOCK_UNCERTAINTY_US" \
                '{($host): {offset_s: ($offset / 1e6), uncertainty_s: ($uncertainty / 1e6)}}'
        else
            jq -n --arg host "$host" '{($host): null}'
        fi
    done | jq -s add
}

# set_clock HOST: bring a host that is ours to this one's time, to within some 50 ms (what `date` takes).
set_clock() {
    measure_clock "$1" || return 0
    on_host "$1" "exec bash -c 'now=\$((\${EPOCHREALTIME/[^0-9]/} - ($CLOCK_OFFSET_US)))
        exec date -s @\${now%??????}.\${now: -6}'" >/dev/null
}
