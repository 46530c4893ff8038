# Lessons: finds a lesson, and builds the command lines of its programs.
# shellcheck shell=bash

list_lessons() { find "$LAB_ROOT/examples" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*_*' -printf '%f\n' | sort | tr '\n' ' '; }

# find_lesson NAME: 01 or 01_cm_write_read. Sets LESSON (the folder's name) and LESSON_DIR (below the repository).
find_lesson() {
    local found=() moved=()
    [[ $1 != 00_devices ]] || usage_error "lesson $1 is now 00_hello."
    if [[ $1 =~ ^[0-9]{2}$ ]]; then
        found=("$LAB_ROOT/examples/$1"_*/)
    elif [[ $1 =~ ^[0-9]{2}_[a-z0-9_]+$ ]]; then
        found=("$LAB_ROOT/examples/$1/")
    fi
    if [[ ${#found[@]} != 1 || ! -d ${found[0]} ]]; then
        moved=("$LAB_ROOT/examples/"[0-9][0-9]_"${1#[0-9][0-9]_}"/)
        [[ ! -d ${moved[0]} ]] || usage_error "lesson $1 is now $(basename "${moved[0]}")."
        usage_error "there is no lesson '$1'. Lessons: $(list_lessons)"
    fi
    LESSON=$(basename "${found[0]}")
    LESSON_DIR=$LAB_BUILD/examples/$LESSON
}

# program_of ROLE: prints the program of the lesson for the server or the client: the one with that name, or a program for both sides,
# which is the client if it gets an address; or the only program, main.
program_of() {
    local name
    for name in "$1" hello main; do
        [[ ! -x $LAB_ROOT/$(host_file "$LESSON_DIR")/$name ]] || break
    done
    printf '%s' "$LESSON_DIR/$name"
}

# A lesson whose programs log nothing has a file `traced`: rocetrace logs their calls, and what they print.
is_traced() { [[ -e $LAB_ROOT/examples/$LESSON/traced ]]; }

# Files of the repository that a host needs for the run.
programs_of_run() {
    printf '%s\n' "$LESSON_DIR"
    ! is_traced || printf '%s\n' "$LAB_BUILD"/{rocetrace,librocetrace.so,librocetrace-audit.so}
}

# on_this_machine PROGRAM ARG...: runs a program of the hosts here, in their root.
on_this_machine() {
    if [[ -n ${SYSROOT:-} ]]; then
        (in_sysroot "$@")
    else
        "$LAB_ROOT/$1" "${@:2}"
    fi
}

# A lesson whose programs have the option --certs.
needs_certificates() { ! is_traced && [[ $(on_this_machine "$LESSON_DIR/client" --help 2>/dev/null) == *--certs* ]]; }

# A lesson with one program, main, runs on the client.
two_sided() { [[ $(program_of server) != */main ]]; }

# A lesson for all client machines has a file `clients` in its folder; other lessons use only the first client.
choose_hosts() {
    [[ -e $LAB_ROOT/examples/$LESSON/clients ]] || LAB_HOSTS=(server client)
}

# choice SETTING VALUE AUTO: prints the address that VALUE (off, auto or an address) stands for; nothing for off.
choice() {
    case $2 in
        off) ;;
        auto) printf '%s' "$3" ;;
        *[.:]*) printf '%s' "$2" ;;
        *) usage_error "$1 is off, auto or an address, not '$2'." ;;
    esac
}

# lesson_file NAME: prints the first line of a settings file in the lesson's folder; nothing if it does not exist.
lesson_file() {
    local line=''
    [[ ! -r $LAB_ROOT/examples/$LESSON/$1 ]] || read -r line <"$LAB_ROOT/examples/$LESSON/$1" || true
    printf '%s' "$line"
}

# Sets SERVER_COMMAND and CLIENT_COMMAND, with the addresses in HOST_ADDRESS. The function's arguments are appended to those of the
# lesson's lab.arguments, for each client: the last value of an option counts. The server also gets those that lab.both lists.
make_commands() {
    local bind word
    local -a server_args more
    read -r -a server_args <<<"$LAB_SERVER_ARGS"
    read -r -a more <<<"$(lesson_file lab.arguments)"
    set -- "${more[@]}" "$@"
    bind=$(choice CAPTURE_BIND_IP "$CAPTURE_BIND_IP" "${HOST_ADDRESS[server]}")
    CLIENT_ARGUMENTS=("$@")
    for word in "$@"; do
        [[ " $(lesson_file lab.both) " != *" $word "* ]] || server_args+=("$word")
    done
    if is_traced; then
        traced_command server "${server_args[@]}"
        SERVER_COMMAND=("${TRACED_COMMAND[@]}")
    elif two_sided; then
        SERVER_COMMAND=("$LESSON_DIR/server" --run-log - ${bind:+--bind "$bind"} "${server_args[@]}")
    else
        SERVER_COMMAND=("$LESSON_DIR/main" --run-log - "$@")
    fi
    client_command client
}

# client_command HOST: sets CLIENT_COMMAND. If there are several clients, it includes their number.
client_command() {
    local source clients=$((${#LAB_HOSTS[@]} - 1))
    if is_traced; then
        traced_command "$1" "${HOST_ADDRESS[server]}" "${CLIENT_ARGUMENTS[@]}"
        CLIENT_COMMAND=("${TRACED_COMMAND[@]}")
        return
    elif ! two_sided; then
        CLIENT_COMMAND=("${SERVER_COMMAND[@]}")
        return
    fi
    source=$(choice CAPTURE_CLIENT_SRC_IP "$CAPTURE_CLIENT_SRC_IP" "${HOST_ADDRESS[$1]}")
    CLIENT_COMMAND=("$LESSON_DIR/client" "${HOST_ADDRESS[server]}" --run-log - ${source:+--source "$source"})
    ((clients == 1)) || CLIENT_COMMAND+=(--clients "$clients")
    CLIENT_COMMAND+=("${CLIENT_ARGUMENTS[@]}")
}

# traced_command HOST ARGUMENT...: sets TRACED_COMMAND. These programs have neither --run-log nor --bind nor --source.
traced_command() {
    local role=$1
    shift
    TRACED_COMMAND=("$LAB_BUILD/rocetrace" --text -o - --role "$role" -- "$(program_of "${role%%[0-9]*}")" "$@")
}
