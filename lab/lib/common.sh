# Functions for all parts of the lab: paths, messages, quoting, locks.
# shellcheck shell=bash

LAB_ROOT=$(cd -P -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
LAB_STATE=$(realpath -m -- "${LAB_STATE:-$LAB_ROOT/build/lab}")
LAB_HOSTS=(server client)
ON_HOST_AS=()

say() { printf 'lab: %s\n' "$*" >&2; }

# die MESSAGE: exits with status 1: the lab could not execute the command.
die() {
    say "$*"
    exit 1
}

# usage_error MESSAGE: exits with status 2: the command or a setting is not valid.
usage_error() {
    say "$*"
    exit 2
}

# check_number SETTING LOWEST HIGHEST: exits unless the setting is a whole number of that range. (At most 9 digits: bash integers have
# 64 bits.)
check_number() {
    local value=${!1}
    if ! [[ $value =~ ^[0-9]{1,9}$ ]] || ((10#$value < $2 || 10#$value > $3)); then
        usage_error "$1 is a number from $2 to $3, not '$value'."
    fi
}

need_tool() { # TOOL PACKAGE
    command -v "$1" >/dev/null ||
        die "$1 is missing (package $2): run lab/install-packages lab, or install it yourself."
}

# quote ARG...: prints the arguments as one string that any POSIX shell splits into the same arguments. printf %q is unsuitable: the
# remote shell may not know its form \$'...', which only bash has.
quote() {
    local arg out=
    for arg in "$@"; do
        out+="'${arg//\'/\'\\\'\'}' "
    done
    printf '%s' "${out% }"
}

# set_clients COUNT: sets LAB_HOSTS for a lab with this number of clients.
set_clients() {
    local number
    LAB_HOSTS=(server client)
    for ((number = 2; number <= $1; ++number)); do
        LAB_HOSTS+=("client$number")
    done
}

# host_number HOST: prints 1 for the server, 2 for the first client: the last part of the vm backend's addresses.
host_number() {
    case $1 in
        server) printf 1 ;;
        client) printf 2 ;;
        *) printf '%s' $((${1#client} + 1)) ;;
    esac
}

# random_hex: prints 16 random hexadecimal digits.
random_hex() { od -An -N8 -tx8 /dev/urandom | tr -d ' '; }

# printable: copies standard input, with '?' for characters that control a terminal or reorder its text. For text from a remote host.
printable() {
    LC_ALL=C sed -E 's/[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf/?/g'
}

# close_inherited: closes all descriptors except 0, 1 and 2. If a long-lived child kept make's job server, the lab's lock or a pipe of
# the caller open, another process would wait forever.
close_inherited() {
    local fd
    for fd in "/proc/$BASHPID/fd"/*; do
        fd=${fd##*/}
        if ((fd > 2)); then
            eval "exec $fd>&-"
        fi
    done
}

# prepare_state: creates the folder for the lab's state; each clone of the repository has its own.
prepare_state() {
    mkdir -p "$LAB_STATE" 2>/dev/null || true
    [[ -w $LAB_STATE ]] ||
        die "cannot write $LAB_STATE (owner: $(stat -c %U "$LAB_STATE" 2>/dev/null || echo nobody)): use the lab as the user who owns the checkout."
}

# lock NAME: takes a lock that the process holds until it ends.
lock() {
    local fd
    prepare_state
    exec {fd}>>"$LAB_STATE/$1.lock" || die "cannot open $LAB_STATE/$1.lock."
    if ! flock -n "$fd"; then
        say "waiting for another lab command of this checkout to finish"
        until flock -n "$fd"; do
            pause 0.2
        done
    fi
}

# now_ms: prints milliseconds since the epoch. It starts no process.
now_ms() {
    local now=${EPOCHREALTIME/[^0-9]/}
    printf '%s' "${now%???}"
}

# write_file PATH: replaces PATH by standard input atomically: no reader sees an incomplete file, and a failed write leaves the file
# unchanged. Only one writer at a time. If it fails, prints the reason and returns 1.
write_file() {
    local error
    if ! error=$({ cat >"$1.new"; } 2>&1 && mv -f "$1.new" "$1" 2>&1); then
        rm -f "$1.new"
        [[ -n ${QUIET_WRITES:-} ]] || say "cannot write $1: ${error##*: }"
        return 1
    fi
}

# no_room FOLDER: prints the system's error message if no file can be written there; otherwise nothing.
no_room() {
    local error
    error=$({ head -c 16384 /dev/zero >"$1/.room"; } 2>&1) || printf '%s' "${error##*: }"
    rm -f "$1/.room"
}
