# `netem`: impairs packets that leave the machines' RoCE interfaces, with tc-netem(8).
# shellcheck shell=bash

# netem_verb [HOST|both] [clear | [loss SHARE] [delay TIME] [reorder SHARE]]; without values, prints the current settings.
netem_verb() {
    local hosts=("${LAB_HOSTS[@]}")
    if [[ -n ${1:-} && " ${LAB_HOSTS[*]} " == *" $1 "* ]]; then
        hosts=("$1")
        shift
    elif [[ ${1:-} == both ]]; then
        shift
    fi
    if (($# == 0)); then
        netem_on_hosts show "${hosts[@]}"
    elif [[ $* == clear ]]; then
        netem_on_hosts clear "${hosts[@]}"
    else
        read_netem_values "$@"
        netem_on_hosts set "${hosts[@]}"
    fi
}

# Sets NETEM_WORDS to the arguments for tc.
read_netem_values() {
    local LOSS='' DELAY='' REORDER=''
    while (($# > 0)); do
        case $1 in
            loss) LOSS=${2:-} && check_share "$1" "$LOSS" ;;
            delay) DELAY=${2:-} && check_delay "$DELAY" ;;
            reorder) REORDER=${2:-} && check_share "$1" "$REORDER" ;;
            *) usage_error "netem takes loss, delay and reorder, or clear, not '$1': lab/lab netem [HOST] loss 1% delay 2ms reorder 25%" ;;
        esac
        shift 2
    done
    if [[ -n $REORDER ]]; then
        [[ $DELAY =~ [1-9] ]] ||
            usage_error "reorder needs a delay, because the reordered packets are sent without it: lab/lab netem delay 2ms reorder $REORDER"
    fi
    # tc's default limit of 1000 queued packets would drop further packets if the delay is long or the sender fast.
    NETEM_WORDS=(limit 100000 ${DELAY:+delay "$DELAY"} ${REORDER:+reorder "${REORDER%\%}%"} ${LOSS:+loss "${LOSS%\%}%"})
    if [[ $LAB_BACKEND == ssh && $LOSS =~ ^0*(5[1-9]|[6-9][0-9]|100) ]]; then
        usage_error "netem loss $LOSS could break the ssh connection that is needed to clear it: use at most 50% on your own machines."
    fi
}

check_share() { # NAME VALUE
    [[ $2 =~ ^0*([0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?)%?$ ]] ||
        usage_error "netem $1 is a share from 0% to 100%, not '$2'."
}

check_delay() {
    local number
    [[ $1 =~ ^([0-9]{1,7})(us|ms|s)$ ]] || usage_error "netem delay is a time like 500us, 2ms or 1s, not '$1'."
    number=$((10#${BASH_REMATCH[1]}))
    case ${BASH_REMATCH[2]} in
        ms) number=$((number * 1000)) ;;
        s) number=$((number * 1000000)) ;;
    esac
    ((number <= 10000000)) || usage_error "netem delay is at most 10s, not '$1'."
}

# netem_on_hosts show|set|clear HOST...: on all hosts in parallel, because each takes a second under emulation.
netem_on_hosts() {
    local what=$1 host status=0
    local -A fd=()
    shift
    [[ $LAB_BACKEND != local ]] ||
        die "netem needs the vm or the ssh backend: with the local backend, traffic from a device to itself passes no network interface."
    guarded backend_require_up
    backend_push lab/host
    for host in "$@"; do
        # shellcheck disable=SC1083,SC2086,SC2093 # bash opens a descriptor of its choice
        exec {fd[$host]}< <(netem_on_host "$host" "$what")
    done
    for host in "$@"; do
        # netem_on_host printed the reason if it failed, and nothing to this pipe.
        grep . <&"${fd[$host]}" || status=1
    done
    return "$status"
}

netem_on_host() { # HOST show|set|clear
    local prefix=() said status=0
    [[ $2 == show ]] || read -r -a prefix <<<"$(backend_privilege "$1")"
    said=$(on_host "$1" "exec $(quote "${prefix[@]}" bash lab/host/netem "$2" "$(backend_address "$1")" "$LAB_FAMILY" "${NETEM_WORDS[@]}")" \
        </dev/null 2>&1) || status=$?
    if ((status == 0)); then
        printf '%s: %s\n' "$1" "$said"
    else
        say "netem on the $1: ${said##*$'\n'}"
    fi
    return "$status"
}
