# What every part of the lab uses: where things are, how a person is told something, quoting, locks.
# shellcheck shell=bash

LAB_ROOT=$(cd -P -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
LAB_STATE=$(realpath -m -- "${LAB_STATE:-$LAB_ROOT/build/lab}")
LAB_HOSTS=(server client)
ON_HOST_AS=()

say() { printf 'lab: %s\n' "$*" >&2; }

# die MESSAGE: the lab could not do what was asked.
die() {
    say "$*"
    exit 1
}

# usage_error MESSAGE: what was asked makes no sense.
usage_error() {
    say "$*"
    exit 2
}

# check_number SETTING LOWEST HIGHEST: the setting is a whole number of that range. (At most 9 digits: bash counts
# no further than 2^63.)
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

# quote ARG...: the arguments as one string that any POSIX shell splits back into the same arguments.
# Not printf %q: its \$'...' form is bash's own, and the shell at the other end may be another.
quote() {
    local arg out=
    for arg in "$@"; do
        out+="'${arg//\'/\'\\\'\'}' "
    done
    printf '%s' "${out% }"
}

# set_clients COUNT: LAB_HOSTS of a lab with so many clients.
set_clients() {
    local number
    LAB_HOSTS=(server client)
    for ((number = 2; number <= $1; ++number)); do
        LAB_HOSTS+=("client$number")
    done
}

# host_number HOST: 1 is the server, 2 the first client: the last part of the vm backend's addresses.
host_number() {
    case $1 in
        server) printf 1 ;;
        client) printf 2 ;;
        *) printf '%s' $((${1#client} + 1)) ;;
    esac
}

# random_hex: 16 hexadecimal digits.
random_hex() { od -An -N8 -tx8 /dev/urandom | tr -d ' '; }

# printable: standard input with '?' for what drives a terminal or reorders its text: a remote host wrote it.
printable() {
    LC_ALL=C sed -E 's/[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf/?/g'
}

# close_inherited: close every descriptor but 0, 1 and 2. A long-lived child that kept make's job
# server, the lab's lock or a pipe of the caller open would make somebody wait for ever.
close_inherited() {
    local fd
    for fd in "/proc/$BASHPID/fd"/*; do
        fd=${fd##*/}
        if ((fd > 2)); then
            eval "exec $fd>&-"
        fi
    done
}

# prepare_state: the folder of everything the lab keeps; one for each clone of the repository.
prepare_state() {
    mkdir -p "$LAB_STATE" 2>/dev/null || true
    [[ -w $LAB_STATE ]] ||
        die "cannot write $LAB_STATE (owner: $(stat -c %U "$LAB_STATE" 2>/dev/null || echo nobody)): use the lab as the user who owns the checkout."
}

# lock NAME: one process at a time past this point; kept until the process ends.
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

# now_ms: milliseconds since the epoch, without a process.
now_ms() {
    local now=${EPOCHREALTIME/[^0-9]/}
    printf '%s' "${now%???}"
}

# write_file PATH: stdin becomes PATH in one step, so that no reader sees half of it, and a write that fails leaves the file as it
# was. One writer at a time. Returns 1, and says why, where it fails.
write_file() {
    local error
    if ! error=$({ cat >"$1.new"; } 2>&1 && mv -f "$1.new" "$1" 2>&1); then
        rm -f "$1.new"
        [[ -n ${QUIET_WRITES:-} ]] || say "cannot write $1: ${error##*: }"
        return 1
    fi
}

# no_room FOLDER: why nothing more can be written there, as the system says it; nothing where something can.
no_room() {
    local error
    error=$({ head -c 16384 /dev/zero >"$1/.room"; } 2>&1) || printf '%s' "${error##*: }"
    rm -f "$1/.room"
}
