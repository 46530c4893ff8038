# The output of `status` about the hosts, for all backends.
# shellcheck shell=bash

show_hosts() {
    local host answers
    local -A from=()
    # Ask all hosts before reading the first reply: under emulation each takes a second.
    for host in "${LAB_HOSTS[@]}"; do
        exec {answers}< <(on_host "$host" "exec bash lab/host/facts $(quote "$(backend_address "$host")" "$LAB_FAMILY")" \
            </dev/null 2>/dev/null)
        from[$host]=$answers
    done
    for host in "${LAB_HOSTS[@]}"; do
        describe_host "$host"
        echo
        show_facts "$host" <&"${from[$host]}"
    done
}

show_facts() { # HOST
    local key value clock=$LAB_STATE/clock-$LAB_BACKEND.json
    local -A fact=()
    while IFS=$'\t' read -r key value; do
        fact[$key]=$value
    done < <(printable)
    if [[ -z ${fact[kernel]:-} ]]; then
        echo "    does not respond"
        return
    fi
    printf '    %s, kernel %s, rdma-core %s\n' "${fact[os]:-unknown system}" "${fact[kernel]}" "${fact[rdma_core]:-?}"
    printf '    %s on %s (%s), MTU %s, RoCE path MTU %s\n' "${fact[device]:-no RDMA device}${fact[state]:+ ${fact[state]}}" \
        "${fact[interface]:-no interface}" "${fact[address]:-no address}" "${fact[mtu]:-?}" "${fact[path_mtu]:-?}"
    [[ -z ${fact[netem]:-} ]] || printf '    netem on %s: %s\n' "${fact[interface]}" "${fact[netem]}"
    if [[ -r $clock ]]; then
        jq -r --arg host "$1" '.[$host] | select(.) | "    clock: this machine'\''s \(if .offset_s < 0 then "-" else "+" end) "
            + "\(.offset_s | fabs) s, known to \(.uncertainty_s) s"' "$clock"
    fi
}
