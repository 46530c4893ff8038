# Waits for the guests: each prints on its console that it is ready, or why it failed.
# shellcheck shell=bash

# await_guest HOST DEADLINE_MS SECONDS: returns 0 after the guest's ready line; otherwise 1, with the reason in FAILURE.
# SECONDS is the time limit for the message.
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

# CPU seconds that a guest with KVM may use before its first program runs. Software emulation uses two to three: a KVM that needs as
# much is useless. (The time with a working KVM was not measured.)
KVM_BOOT_CPU_SECONDS=3

# kernel_boots HOST DEADLINE_MS: returns 0 if the guest's kernel has started its first program; otherwise 1, with the reason in FAILURE.
# A kernel that hangs in nested virtualization uses all CPU time that it gets: this limit is independent of the load on the host.
kernel_boots() {
    local host=$1 deadline=$2 pid
    FAILED_HOST=$host
    if pid=$(guest_pid "$host"); then
        until grep -q '^lab: ' "$(guest_console "$host")"; do
            # await_guest reports these.
            if ! kill -0 "$pid" 2>/dev/null || (($(now_ms) >= deadline)); then
                return 0
            fi
            if (($(cpu_seconds "$pid") >= KVM_BOOT_CPU_SECONDS)); then
                FAILURE="the kernel of the $host guest did not start within $KVM_BOOT_CPU_SECONDS s of CPU time"
                return 1
            fi
            pause 0.1
        done
    fi
}

# cpu_seconds PID: prints the whole seconds of CPU time that the process has used; 0 if it has ended.
cpu_seconds() {
    local stat fields
    { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || stat=
    # The name, in parentheses, may contain spaces. After it, utime and stime are the 12th and 13th fields.
    read -ra fields <<<"${stat##*) }"
    printf '%d' $(((${fields[11]:-0} + ${fields[12]:-0}) / $(getconf CLK_TCK)))
}

# Prints the last lines of a console that are not empty.
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
