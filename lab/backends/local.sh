# Backend local: server and client both run on this host, with its own RDMA devices.
# shellcheck shell=bash

backend_init() {
    ENTER="cd $(quote "$LAB_ROOT")"
}

# If no address is set, host/facts takes the first address of LAB_FAMILY on the first active port.
backend_address() { # HOST
    if [[ $1 == server ]]; then printf '%s' "$CAPTURE_SERVER_IP"; else printf '%s' "$CAPTURE_CLIENT_IP"; fi
}

backend_require_up() {
    compgen -G '/sys/class/infiniband/*' >/dev/null ||
        die "this host has no RDMA device (/sys/class/infiniband is empty). As root, 'modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0' creates a software device if the kernel has rdma_rxe; the vm backend (unset LAB_BACKEND) needs no RDMA device."
}

# This backend starts no process that could end during a run.
backend_watch() { :; }

backend_up() {
    backend_require_up
    say "nothing to start: this host's own RDMA devices are used ($(cd /sys/class/infiniband && echo *))"
}

backend_boot() { backend_up; }

backend_down() { say "nothing to stop: the local backend starts nothing"; }

backend_status() {
    backend_require_up
    show_hosts
}

describe_host() { printf '%s, this host' "$1"; }

backend_privilege() { [[ $LAB_SUDO == none ]] || ((EUID == 0)) || printf '%s' "$LAB_SUDO"; }

backend_push() { :; }
backend_push_to() { :; }

on_host() { "${ON_HOST_AS[@]}" bash -c "$ENTER && $2"; }

backend_exec() { # HOST COMMAND...
    shift
    cd "$LAB_ROOT" && exec "$@"
}

backend_shell() {
    cd "$LAB_ROOT" && exec "${SHELL:-/bin/bash}" -i
}
