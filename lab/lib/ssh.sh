# The control channel: one multiplexed ssh connection for each host, so that a command costs a tenth of a second.
# A backend defines ssh_words HOST, which sets SSH (options and destination) and SSH_SOCKET (the ControlPath in
# them), and sets ENTER (shell text that goes to the lab's folder there).
# shellcheck shell=bash

# ssh_open HOST: the master process. It keeps none of our descriptors: a pipe that reads a first
# command's output would otherwise never see its end.
ssh_open() {
    ssh_words "$1"
    rm -f "$SSH_SOCKET"
    (close_inherited && exec ssh -fMN "${SSH[@]}" </dev/null >/dev/null 2>"$SSH_SOCKET.log") && return
    SSH_FAILURE=$(tail -n 1 "$SSH_SOCKET.log")
    return 1
}

# ssh_ensure HOST: a living master, a new one if need be.
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

# on_host HOST STRING: run by the shell there, in the lab's folder. ON_HOST_AS: what stands before the command here.
on_host() {
    ssh_words "$1"
    # shellcheck disable=SC2029 # expanded here, on purpose
    "${ON_HOST_AS[@]}" ssh "${SSH[@]}" "$ENTER && $2"
}

backend_exec() { # HOST COMMAND...
    local tty=-T
    ssh_words "$1"
    shift
    # With a terminal at both ends the command gets one too, and so Ctrl-C. Else the streams are left as they are.
    [[ -t 0 && -t 1 ]] && tty=-t
    exec ssh "$tty" "${SSH[@]}" "$ENTER && exec $(quote "$@")"
}

backend_shell() { # HOST
    ssh_words "$1"
    exec ssh -t "${SSH[@]}" "$ENTER && exec \"\${SHELL:-/bin/sh}\" -i"
}
