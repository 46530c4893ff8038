# The control channel: one multiplexed ssh connection for each host, so that a command takes a tenth of a second.
# A backend defines ssh_words HOST, which sets SSH (options and destination) and SSH_SOCKET (their ControlPath), and sets ENTER (a shell
# command that changes to the lab's folder on the host).
# shellcheck shell=bash

# ssh_open HOST: starts the master process. It must not inherit our descriptors: otherwise a pipe from the first command would never
# reach end of file.
ssh_open() {
    ssh_words "$1"
    rm -f "$SSH_SOCKET"
    (close_inherited && exec ssh -fMN "${SSH[@]}" </dev/null >/dev/null 2>"$SSH_SOCKET.log") && return
    SSH_FAILURE=$(tail -n 1 "$SSH_SOCKET.log")
    return 1
}

# ssh_ensure HOST: starts a master if none is running.
ssh_ensure() {
    ssh_words "$1"
    if [[ ! -S $SSH_SOCKET ]] || ! ssh -O check "${SSH[@]}" 2>/dev/null; then
        ssh_open "$1"
    fi
}

ssh_close() { # HOST
    ssh_words "$1"
    if [[ -S $SSH_SOCKET ]]; then
        ssh -O exit "${SSH[@]}" 2>/dev/null || true
    fi
    rm -f "$SSH_SOCKET" "$SSH_SOCKET.log"
}

# on_host HOST STRING: the host's shell executes the string in the lab's folder. ON_HOST_AS: a prefix for the local ssh command.
on_host() {
    ssh_words "$1"
    # shellcheck disable=SC2029 # expanded here, on purpose
    "${ON_HOST_AS[@]}" ssh "${SSH[@]}" "$ENTER && $2"
}

backend_exec() { # HOST COMMAND...
    local tty=-T
    ssh_words "$1"
    shift
    # If standard input and output are a terminal, the command gets one too, and with it Ctrl-C. Otherwise the streams stay unchanged.
    [[ -t 0 && -t 1 ]] && tty=-t
    exec ssh "$tty" "${SSH[@]}" "$ENTER && exec $(quote "$@")"
}

backend_shell() { # HOST
    ssh_words "$1"
    exec ssh -t "${SSH[@]}" "$ENTER && exec \"\${SHELL:-/bin/sh}\" -i"
}
