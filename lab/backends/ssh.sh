# Backend ssh: two or more of the user's own machines, reached with the user's ssh configuration and host keys. The machines need
# bash 5, iproute2, tar and the libraries that the programs are linked with.
# shellcheck shell=bash

backend_init() {
    local host
    local -a addresses targets ports
    declare -gA SSH_ADDRESS=([server]=$CAPTURE_SERVER_IP)
    declare -gA SSH_TARGET=([server]=${LAB_SERVER:-$CAPTURE_SERVER_IP})
    declare -gA SSH_PORT=([server]=$LAB_SERVER_PORT)
    read -r -a addresses <<<"$CAPTURE_CLIENT_IP"
    read -r -a targets <<<"${LAB_CLIENT:-$CAPTURE_CLIENT_IP}"
    read -r -a ports <<<"$LAB_CLIENT_PORT"
    ((${#addresses[@]} == 0 || ${#addresses[@]} == ${#targets[@]})) ||
        usage_error "CAPTURE_CLIENT_IP names ${#addresses[@]} clients and LAB_CLIENT ${#targets[@]}: give both the same number, in the same order."
    ((${#ports[@]} <= 1 || ${#ports[@]} == ${#targets[@]})) ||
        usage_error "LAB_CLIENT_PORT names ${#ports[@]} ports for ${#targets[@]} clients: give one for all, or one each."
    set_clients "${#targets[@]}"
    for host in "${LAB_HOSTS[@]:1}"; do
        SSH_TARGET[$host]=${targets[0]:-} SSH_ADDRESS[$host]=${addresses[0]:-} SSH_PORT[$host]=${ports[0]:-}
        targets=("${targets[@]:1}") addresses=("${addresses[@]:1}")
        ((${#ports[@]} <= 1)) || ports=("${ports[@]:1}")
    done
    for host in "${LAB_HOSTS[@]}"; do
        [[ -n ${SSH_TARGET[$host]} ]] ||
            usage_error "the ssh backend needs the $host: set CAPTURE_${host^^}_IP (its RDMA address) or LAB_${host^^} (user@host)."
    done
    [[ -z $LAB_SSH_KEY || -r $LAB_SSH_KEY ]] || usage_error "LAB_SSH_KEY=$LAB_SSH_KEY cannot be read."
    SSH_DIR=$(short_dir_now ssh)
    ENTER="mkdir -p $(quote "$LAB_REMOTE_DIR") && cd $(quote "$LAB_REMOTE_DIR")"
}

# BatchMode: ssh must not ask for a password. The user's ssh configuration decides everything else, including host keys.
ssh_words() { # HOST
    local target=${SSH_TARGET[$1]} more=()
    # backend_require_up creates the folder, possibly in another process (guarded).
    [[ -n $SSH_DIR ]] || SSH_DIR=$(short_dir_now ssh)
    read -r -a more <<<"$LAB_SSH_OPTIONS"
    [[ -z ${SSH_PORT[$1]} ]] || more+=(-p "${SSH_PORT[$1]}")
    [[ -z $LAB_SSH_KEY ]] || more+=(-i "$LAB_SSH_KEY" -o IdentitiesOnly=yes)
    [[ -z $CAPTURE_SSH_USER || $target == *@* ]] || target=$CAPTURE_SSH_USER@$target
    # The socket's name depends on the destination and the options: a different destination gets its own connection.
    SSH_SOCKET=$SSH_DIR/$1-$(printf '%s ' "$target" "${more[@]}" | cksum | cut -d ' ' -f 1)
    SSH=(-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ClearAllForwardings=yes
        -o ControlMaster=no -o ControlPersist=1h -o "ControlPath=$SSH_SOCKET" "${more[@]}" "$target")
}

backend_address() { # HOST
    printf '%s' "${SSH_ADDRESS[$1]}"
}

backend_require_up() {
    local host
    if [[ -z $SSH_DIR || ! -d $SSH_DIR ]]; then
        prepare_state
        SSH_DIR=$(short_dir ssh)
    fi
    for host in "${LAB_HOSTS[@]}"; do
        ssh_ensure "$host" || die "no connection to the $host: ssh ${SSH_TARGET[$host]}${SSH_PORT[$host]:+, port ${SSH_PORT[$host]},} failed: ${SSH_FAILURE:-it printed no message}"
    done
}

# This backend starts no process that could end during a run.
backend_watch() { :; }

backend_up() {
    lock ssh
    backend_require_up
    backend_push lab/host
    clock_json | write_file "$LAB_STATE/clock-$LAB_BACKEND.json"
    say "connected: $(list_targets)"
}

backend_boot() { backend_up; }

list_targets() {
    local host separator=
    for host in "${LAB_HOSTS[@]}"; do
        printf '%s%s %s' "$separator" "$host" "${SSH_TARGET[$host]}"
        separator=', '
    done
}

backend_down() {
    local socket
    lock ssh
    if [[ -z $SSH_DIR ]]; then
        say "nothing is connected"
        return
    fi
    # Also close connections to machines that the settings no longer name.
    for socket in "$SSH_DIR"/*; do
        [[ ! -S $socket ]] || ssh -o ControlPath="$socket" -O exit any 2>/dev/null || true
    done
    remove_short_dir ssh
    rm -f "$LAB_STATE/clock-$LAB_BACKEND.json"
    say "connections closed"
}

backend_status() {
    local host
    backend_require_up
    backend_push lab/host
    show_hosts
}

describe_host() { printf '%s, ssh %s, programs in %s' "${1:-}" "${SSH_TARGET[$1]}" "$LAB_REMOTE_DIR"; }

# backend_privilege HOST: prints the prefix for a command that captures.
backend_privilege() {
    [[ $LAB_SUDO == none || $(on_host "$1" 'id -u' </dev/null) == 0 ]] || printf '%s' "$LAB_SUDO"
}

# backend_push PATH...: copies these folders and files of the repository to all machines that do not have this version of them.
backend_push() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        backend_push_to "$host" "$@"
    done
}

backend_push_to() { # HOST PATH...
    local host=$1 key name there machine
    shift
    name=.pushed-$(printf '%s ' "$@" | cksum | cut -d ' ' -f 1)
    key=$(cd "$LAB_ROOT" && find "$@" -type f -printf '%p %s %T@\n' | sort | sha256sum | cut -c 1-16)
    there=$(on_host "$host" "uname -m && { cat $name 2>/dev/null || true; }" </dev/null) ||
        die "cannot use $LAB_REMOTE_DIR on the $host (see above): LAB_REMOTE_DIR names another folder."
    machine=${there%%$'\n'*}
    [[ $machine == "$(uname -m)" ]] ||
        die "the $host has another architecture ($machine) than this machine ($(uname -m)), for which the programs are built."
    [[ ${there##*$'\n'} != "$key" ]] || return 0
    tar -C "$LAB_ROOT" -czf - "$@" | on_host "$host" 'tar --no-same-owner -xzf -' ||
        die "cannot copy the programs to $LAB_REMOTE_DIR on the $host (see above)."
    check_programs "$host" "$@"
    on_host "$host" "echo $key >$name" </dev/null
}

check_programs() { # HOST ITEM...
    local host=$1 missing
    shift
    on_host "$host" "exec bash -c '((BASH_VERSINFO[0] >= 5))'" </dev/null || die "the $host needs bash 5 or later."
    missing=$(on_host "$host" "find $(quote "$@") -type f -perm -100 -exec ldd {} + 2>/dev/null | grep -E 'not found' | sort -u" </dev/null || true)
    [[ -z $missing ]] || die "the programs do not run on the $host, as libraries are missing or too old there:
$missing
Install the packages that hold them (on Debian: libibverbs1 librdmacm1 libpcap0.8 libssl3 libfmt9 libdeflate0 zlib1g libzstd1 liblz4-1)."
}
