# run.json: the commands, the hosts and the result of a run. It is valid JSON after every change.
# shellcheck shell=bash

declare -gA HOST_ADDRESS=() HOST_INTERFACE=() HOST_DEVICE=()

# record FILTER [JQ-ARGUMENTS]: changes run.json with a jq filter.
record() {
    local filter=$1 json
    shift
    json=$(jq "$filter" "$RUN_DIR/run.json" "$@") || return
    write_file "$RUN_DIR/run.json" <<<"$json"
}

utc_now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

record_start() { # MODE
    jq -n --arg step "$LESSON" --arg backend "$LAB_BACKEND" --arg mode "$1" --arg started "$(utc_now)" \
        '{step: $step, mode: $mode, backend: $backend, started: $started, hosts: ($ARGS.positional | map({(.): {}}) | add)}' \
        --args -- "${LAB_HOSTS[@]}" |
        write_file "$RUN_DIR/run.json"
}

# For each host, the connection to its lab/host/begin: the descriptors, open from record_hosts to end_asking, and the process.
declare -gA ASK=() ANSWERS=() ASK_PID=()

# Records facts, counters and clock offsets of the hosts before the run. Uses one connection for each host, all hosts in parallel: under
# emulation a command takes a tenth of a second or more.
record_hosts() {
    local host asked answers clocks='' lines=''
    for host in "${LAB_HOSTS[@]}"; do
        exec {asked}<> <(:)
        exec {answers}< <(exec <"/dev/fd/$asked" && close_inherited && ON_HOST_AS=(exec) &&
            on_host "$host" "exec bash lab/host/begin $(quote "$(backend_address "$host")" "$LAB_FAMILY")")
        ASK[$host]=$asked ANSWERS[$host]=$answers ASK_PID[$host]=$!
    done
    for host in "${LAB_HOSTS[@]}"; do
        { read_part "$host" fact && read_part "$host" counter; } <&"${ANSWERS[$host]}" ||
            die "cannot read the facts of the $host (see above)."
    done
    for host in "${LAB_HOSTS[@]}"; do
        if sample_clock "${ASK[$host]}" "${ANSWERS[$host]}"; then
            clocks+=$(clock_of "$host")
        else
            clocks+="{\"$host\":null}"
        fi
    done
    record '.clock = ($clocks | add) | reduce ($lines | split("\n")[] | select(. != "") | split("\t")) as [$host, $kind, $a, $b, $c] (.;
            if $kind == "counter" then .hosts[$host].counters.before[$a][$b] = ($c | tonumber)
            else .hosts[$host][$a] = if $a | IN("mtu", "path_mtu", "port") then ($b | tonumber) else $b end end)' \
        --slurpfile clocks <(echo "$clocks") --rawfile lines <(printf '%s' "$lines")
    for host in "${LAB_HOSTS[@]}"; do
        check_facts "$host" "$(backend_address "$host")"
    done
}

# read_part HOST KIND: appends the lines up to the next `end` to `lines`, each after HOST and KIND. Also stores facts in HOST_….
read_part() {
    # An emulated host on a busy machine needs seconds to reply.
    while read_line 0 60; do
        [[ $LINE != end ]] || return 0
        lines+=$1$'\t'$2$'\t'$LINE$'\n'
        case $LINE in
            address$'\t'*) HOST_ADDRESS[$1]=${LINE#*$'\t'} ;;
            interface$'\t'*) HOST_INTERFACE[$1]=${LINE#*$'\t'} ;;
            device$'\t'*) HOST_DEVICE[$1]=${LINE#*$'\t'} ;;
            port$'\t'*) HOST_DEVICE[$1]+=/${LINE#*$'\t'} ;;
        esac
    done
    return 1
}

check_facts() { # HOST GIVEN-ADDRESS
    local where="the $1"
    [[ -n ${HOST_ADDRESS[$1]:-} ]] || die "$where has no active RDMA port with an $LAB_FAMILY address: see docs/troubleshooting.md."
    [[ -n ${HOST_INTERFACE[$1]:-} ]] || die "no network interface of $where has the address $2."
    [[ -n ${HOST_DEVICE[$1]:-} ]] || die "no RDMA device of $where belongs to ${HOST_INTERFACE[$1]} (rdma link add rxe0 type rxe netdev ${HOST_INTERFACE[$1]} creates a software device)."
}

# record_counters_after: records the counters of all hosts after the run, except of hosts that no longer reply.
record_counters_after() {
    local host counter answer lines='' answers
    for host in "${!ASK[@]}"; do
        echo counters >&"${ASK[$host]}"
    done
    for host in "${!ASK[@]}"; do
        answers=${ANSWERS[$host]} answer=
        while IFS= read -r -t "$((${STOP_MS:-10000} / 1000))" -u "$answers" counter; do
            if [[ $counter == end ]]; then
                lines+=$answer
                break
            fi
            answer+=$host$'\t'$counter$'\n'
        done
    done
    record 'reduce ($lines | split("\n")[] | select(. != "") | split("\t")) as [$host, $port, $name, $value] (.;
            .hosts[$host].counters.after[$port][$name] = ($value | tonumber))' --rawfile lines <(printf '%s' "$lines")
}

# end_asking: ends all connections of record_hosts. Each process ends when its connection is closed, but may take long if a host was
# asked just before the run was interrupted.
end_asking() {
    local host fd deadline=$(($(now_ms) + 1000))
    for fd in "${ASK[@]}" "${ANSWERS[@]}"; do
        exec {fd}>&-
    done
    for host in "${!ASK_PID[@]}"; do
        while kill -0 "${ASK_PID[$host]}" 2>/dev/null; do
            (($(now_ms) < deadline)) || kill "${ASK_PID[$host]}" 2>/dev/null || true
            sleep 0.02
        done
    done
    ASK=() ANSWERS=() ASK_PID=()
}

# record_commands: records the commands of the run, word by word.
record_commands() {
    local client words=()
    if two_sided; then
        words+=(server "${#SERVER_COMMAND[@]}" "${SERVER_COMMAND[@]}")
    fi
    for client in "${LAB_HOSTS[@]:1}"; do
        client_command "$client"
        words+=("$client" "${#CLIENT_COMMAND[@]}" "${CLIENT_COMMAND[@]}")
    done
    record 'def each_host: if . != [] then (.[1] | tonumber + 2) as $to | {host: .[0], command: .[2:$to]}, (.[$to:] | each_host) else empty end;
            reduce ($ARGS.positional | each_host) as $one (.; .hosts[$one.host].command = $one.command)' --args -- "${words[@]}"
}

# record_end: records the results of the run and its end, for which those wait who follow it.
record_end() {
    local role codes=() capture=${JOB_STATUS[capture]:-}
    for role in "${LAB_HOSTS[@]}"; do
        [[ -z ${JOB_STATUS[$role]:-} ]] || codes+=("$role" "${JOB_STATUS[$role]}")
    done
    record 'def number: if . == "" then empty else tonumber end;
            reduce range(0; $ARGS.positional | length; 2) as $i (.; .hosts[$ARGS.positional[$i]].exit_code = ($ARGS.positional[$i + 1] | number))
            | reduce ($capture | number) as $code (.; .capture.exit_code = $code)
            | reduce ($packets | number) as $packets (.; .capture += {packets: $packets, dropped: ($dropped | number)})
            | if $why != "" then .incomplete = $why else . end | .ended = $ended' \
        --arg capture "$capture" --arg packets "${capture:+${CAPTURED:-}}" --arg dropped "${DROPPED:-}" --arg why "$INCOMPLETE" \
        --arg ended "$(utc_now)" --args -- "${codes[@]}"
}

# counted_packets [unless-netem]: prints the packets that the server's device sent and received during the run; nothing if it has no
# counters, or if they were reset.
counted_packets() {
    jq -r --arg port "${HOST_DEVICE[server]:-}" --arg unless "${1:-}" '.hosts.server | select($unless == "" or .netem == null) | .counters as $c
        | ($c.after[$port] // {}) as $a | ($c.before[$port] // {}) as $b
        | if $a.sent_pkts and $b.sent_pkts and $a.sent_pkts >= $b.sent_pkts and $a.rcvd_pkts >= $b.rcvd_pkts
          then "\($a.sent_pkts - $b.sent_pkts) \($a.rcvd_pkts - $b.rcvd_pkts)" else empty end' "$RUN_DIR/run.json"
}
