# Waiting for the guests: each says on its console that it is ready, or why it never will be.
# shellcheck shell=bash

# await_guest HOST DEADLINE_MS SECONDS: 0 when the guest's ready line has come; else 1 with the reason in FAILURE.
# SECONDS is what the deadline was made of, for the message.
await_guest() {
    local host=$1 pid status=1
    if pid=$(guest_pid "$host"); then
        status=0
        await_line "$(guest_console "$host")" "$2" "$pid" 'lab: ready|lab: FAILED: (.*)|Kernel panic - (.*)' || status=$?
    fi
    case $status in
        0)
            [[ $LINE != *'lab: ready'* ]] || return 0
            FAILURE="the $host guest failed: ${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
            ;;
        1)
            FAILURE="the $host guest ended while it was starting"
            [[ ! -s $LAB_STATE/qemu-$host.log ]] || FAILURE+=": $(qemu_error "$host")"
            ;;
        2) FAILURE="the $host guest was not ready within $3 s" ;;
    esac
    return 1
}

# The last lines of a console that say something, for a person who has to find out why.
show_console() { # HOST
    local log
    log=$(guest_console "$1")
    if [[ ! -s $log ]]; then
        say "its console ($log) is empty"
        return
    fi
    say "the last lines of its console ($log):"
    sed -e 's/\r//g' -e 's/\x1b\[[0-9;?]*[A-Za-z]//g' "$log" | grep -v '^[[:space:]]*$' | tail -n 8 |
        sed 's/^/    /' >&2
}
