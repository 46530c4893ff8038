# `lab/lab trace`: runs any two programs on the hosts like a lesson, with a capture and with run logs of rocetrace.
# shellcheck shell=bash

trace_usage='lab/lab trace [--xray] [--after SECONDS] [--only CATEGORIES] -- [NAME=VALUE…] SERVER COMMAND… :: [NAME=VALUE…] CLIENT COMMAND…'

# trace [--after SECONDS] [--only CATEGORIES] -- SERVER-WORD... :: CLIENT-WORD...
trace() {
    read_trace "$@"
    backend_require_up
    build_for_run
    PROGRAMS=()
    # Paths below build are those of the project.
    [[ -n $TRACE_FOLDER ]] || for_hosts build_words "${SERVER_WORDS[@]}" "${CLIENT_WORDS[@]}"
    LAB_HOSTS=(server client)
    run_programs capture
}

# read_trace ARGUMENT...: sets what the arguments ask for, and TRACE_FOLDER, the folder in which the programs run, if it is not the checkout.
read_trace() {
    local word
    AFTER='' TRACE_OPTIONS=() SERVER_WORDS=() CLIENT_WORDS=()
    while (($# > 0)) && [[ $1 != -- ]]; do
        case $1 in
            --xray)
                LAB_XRAY=1
                shift
                continue
                ;;
            --after)
                [[ ${2:-} =~ ^[0-9]+$ ]] || usage_error "--after takes whole seconds, not '${2:-}'."
                AFTER=$2
                ;;
            --only)
                [[ -n ${2:-} ]] || usage_error "--only takes categories of calls: rocetrace --help lists them."
                TRACE_OPTIONS+=(--only "$2")
                ;;
            *) usage_error "there is no option '$1': $trace_usage" ;;
        esac
        shift 2
    done
    [[ ${1:-} == -- ]] || usage_error "the commands come after --: $trace_usage"
    shift
    while (($# > 0)) && [[ $1 != :: ]]; do
        SERVER_WORDS+=("$1")
        shift
    done
    [[ ${1:-} == :: && ${#SERVER_WORDS[@]} -gt 0 && $# -ge 2 ]] ||
        usage_error "two commands are needed, with :: between them: $trace_usage"
    CLIENT_WORDS=("${@:2}")
    # Skip variables of the program's environment.
    for word in "${SERVER_WORDS[@]}"; do
        [[ $word =~ ^[a-zA-Z_][a-zA-Z0-9_]*= ]] || break
    done
    word=${word##*/}
    LESSON=trace_${word//[^a-zA-Z0-9_-]/_} LESSON_DIR=
    TRACE_FOLDER=${LAB_PROJECT:+$(realpath -m -- "$LAB_PROJECT")}
    [[ -z $TRACE_FOLDER || $(pwd -P)/ != "$TRACE_FOLDER"/* ]] || TRACE_FOLDER=$(pwd -P)
    [[ $TRACE_FOLDER != "$LAB_ROOT" ]] || TRACE_FOLDER=
}

# The functions below replace those in lesson.sh and run.sh.

programs_of_run() { printf '%s\n' "$LAB_BUILD"/{rocetrace,librocetrace.so,librocetrace-audit.so} "${PROGRAMS[@]}" | sort -u; }

# The text of these programs may end in the middle of a line.
whole_files() { printf '%s\n' "$RUN_DIR"/*.jsonl; }

# The lab provides no certificates for these programs.
needs_certificates() { false; }

two_sided() { :; }

heading() { :; }

make_commands() {
    traced_command server "${SERVER_WORDS[@]}"
    SERVER_COMMAND=("${TRACED_COMMAND[@]}")
    client_command client
}

client_command() { # HOST
    traced_command "$1" "${CLIENT_WORDS[@]}"
    CLIENT_COMMAND=("${TRACED_COMMAND[@]}")
}

# traced_command HOST WORD...: sets TRACED_COMMAND.
traced_command() {
    local host=$1 root='' enter=()
    shift
    if [[ -n $TRACE_FOLDER ]]; then
        root=$LAB_ROOT/ enter=(env -C "$TRACE_FOLDER")
    fi
    TRACED_COMMAND=("${enter[@]}" bash "${root}lab/host/traced" "$host" "$root$LAB_BUILD/rocetrace" "${TRACE_OPTIONS[@]}" -- "${@//\{server\}/${HOST_ADDRESS[server]}}")
}

# Not every server reports that it is ready. Wait until it listens, on a TCP port or with rdma_listen. The line may follow text of the
# server that does not end with a newline.
await_server() {
    local status=0
    if [[ -n $AFTER ]]; then
        ((10#$AFTER == 0)) || pause "$AFTER"
        job_running server || return 1
        return
    fi
    await_line "$RUN_DIR/server.log" $(($(now_ms) + CAPTURE_SERVER_WAIT_SECONDS * 1000)) "${JOB_PID[server]}" 'lab: the server listens$' || status=$?
    ((status != 2)) ||
        die "after $CAPTURE_SERVER_WAIT_SECONDS s, the server listens neither on a new TCP port nor with rdma_listen: --after SECONDS starts the client without this check."
    return "$status"
}

# Most servers end with their client.
after_clients() {
    await_server_end
    if job_running server; then
        SERVER_GOES_ON=1
    else
        wait_job server
    fi
}
