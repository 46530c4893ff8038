# run.json: what a run was, on what, and how it ended. Complete in itself after every change.
# shellcheck shell=bash

declare -gA HOST_ADDRESS=() HOST_INTERFACE=() HOST_DEVICE=()

# record FILTER [JQ-ARGUMENTS]: change run.json by a jq filter.
record() {
    local filter=$1 json
    shift
    json=$(jq "$filter" "$RUN_DIR/run.json" "$@")
    write_file "$RUN_DIR/run.json" <<<"$json"
}

# json_array WORD...: also words like --bind, which are no options of jq.
json_array() { jq -nc '$ARGS.positional' --args -- "$@"; }

utc_now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

record_start() { # MODE
    jq -n --arg step "$STEP" --arg backend "$LAB_BACKEND" --arg mode "$1" --arg started "$(utc_now)" \
        '{step: $step, mode: $mode, backend: $backend, started: $started, hosts: ($ARGS.positional | map({(.): {}}) | add)}' \
        --args -- "${LAB_HOSTS[@]}" |
        write_file "$RUN_DIR/run.json"
}

# Facts and counters of all hosts, side by side: each costs its host a second under emulation.
record_hosts() {
    local host pid pids=()
    for host in "${LAB_HOSTS[@]}"; do
        read_facts "$host" >"$JOB_DIR/$host.json" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || die "cannot ask the hosts what they are (see above)."
    done
    for host in "${LAB_HOSTS[@]}"; do
        record '.hosts[$host] = $facts[0]' --arg host "$host" --slurpfile facts "$JOB_DIR/$host.json"
        HOST_ADDRESS[$host]=$(jq -r '.address // empty' "$JOB_DIR/$host.json")
        HOST_INTERFACE[$host]=$(jq -r '.interface // empty' "$JOB_DIR/$host.json")
        HOST_DEVICE[$host]=$(jq -r '.device // empty | . + "/"' "$JOB_DIR/$host.json")$(jq -r '.port // empty' "$JOB_DIR/$host.json")
        check_facts "$host" "$(backend_address "$host")"
    done
}

read_facts() { # HOST
    on_host "$1" "exec bash lab/host/facts $(quote "$(backend_address "$1")" "$LAB_FAMILY")" |
        jq -Rn '[inputs | split("\t") | {(.[0]): .[1]}] | add
            | with_entries(if .key | IN("mtu", "path_mtu", "port") then .value |= tonumber else . end)'
}

check_facts() { # HOST GIVEN-ADDRESS
    local where="the $1"
    [[ -n ${HOST_ADDRESS[$1]} ]] || die "$where has no active RDMA port with an $LAB_FAMILY address: see lab/README.md, Troubleshooting."
    [[ -n ${HOST_INTERFACE[$1]} ]] || die "no network interface of $where has the address $2."
    [[ -n ${HOST_DEVICE[$1]} ]] || die "no RDMA device of $where belongs to ${HOST_INTERFACE[$1]} (rdma link add rxe0 type rxe netdev ${HOST_INTERFACE[$1]} makes a software one)."
}

record_counters() { # before|after
    local host pids=()
    for host in "${LAB_HOSTS[@]}"; do
        on_host "$host" 'exec bash lab/host/counters' </dev/null >"$JOB_DIR/$host.counters" 2>/dev/null &
        pids+=($!)
    done
    # A host that does not answer any more leaves its counters out. Not all children: one shows the run.
    wait "${pids[@]}" || true
    for host in "${LAB_HOSTS[@]}"; do
        record '.hosts[$host].counters[$when] = ($text | split("\n") | map(select(. != "") | split("\t"))
            | reduce .[] as [$port, $name, $value] ({}; .[$port][$name] = ($value | tonumber)))' \
            --arg host "$host" --arg when "$1" --rawfile text "$JOB_DIR/$host.counters"
    done
}

# record_commands: what was started, word by word.
record_commands() {
    if two_sided || [[ $(main_hosts) == *server* ]]; then
        record '.hosts.server.command = $command' --argjson command "$(json_array "${SERVER_COMMAND[@]}")"
    fi
    local client
    for client in "${LAB_HOSTS[@]:1}"; do
        client_command "$client"
        record '.hosts[$host].command = $command' --arg host "$client" --argjson command "$(json_array "${CLIENT_COMMAND[@]}")"
    done
}

# counted_packets: what the server's device sent and received during the run; nothing where it does not count.
counted_packets() {
    jq -r --arg port "${HOST_DEVICE[server]:-}" '.hosts.server.counters as $c
        | ($c.after[$port] // {}) as $a | ($c.before[$port] // {}) as $b
        | if $a.sent_pkts and $b.sent_pkts
          then "\($a.sent_pkts - $b.sent_pkts) \($a.rcvd_pkts - $b.rcvd_pkts)" else empty end' "$RUN_DIR/run.json"
}
