# `lab/lab ci`: one command for continuous integration. It starts the lab, traces two programs of the project in the current folder,
# explains a failure, and stops the lab unless it was up before. lab/lab trace and the others run as processes of their own.
# shellcheck shell=bash

ci_usage='lab/lab ci [--limit SECONDS] [--artifacts FOLDER] [--after SECONDS] [--only CATEGORIES] [--xray] -- [NAME=VALUE…] SERVER COMMAND… :: [NAME=VALUE…] CLIENT COMMAND…'

# ci OPTION... -- SERVER-WORD... :: CLIENT-WORD...
ci() {
    local limit=$CAPTURE_SECONDS status=0
    local -a options=()
    trace_usage=$ci_usage
    : "${LAB_RUNS:=lab-artifacts}"
    while (($# > 0)) && [[ $1 != -- ]]; do
        case $1 in
            --limit)
                limit=${2:-}
                [[ $limit =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--limit takes whole seconds, from 1 to 9999, not '$limit'."
                shift
                ;;
            --artifacts)
                [[ -n ${2:-} ]] || usage_error "--artifacts takes a folder."
                LAB_RUNS=$2
                shift
                ;;
            *) options+=("$1") ;;
        esac
        shift
    done
    CI_BEGAN=$(now_ms) WAS_UP='' GROUP='' LIST='' RUN_DIR='' CAPTURE_SECONDS=$limit LAB_PROJECT=${LAB_PROJECT:-$PWD} LAB_RUNS=$(realpath -m -- "$LAB_RUNS")
    export CAPTURE_SECONDS LAB_PROJECT LAB_RUNS
    read_trace "${options[@]}" "$@"
    [[ $LAB_BACKEND == vm ]] || usage_error "ci is for the backend vm, and the backend is $LAB_BACKEND: use lab/lab trace."
    find_project
    mkdir -p "$LAB_RUNS" || die "cannot create the folder $LAB_RUNS: --artifacts names another one."
    # The log of a job is one stream.
    [[ -z ${GITHUB_ACTIONS:-} ]] || exec 2>&1
    trap 'end_ci $?' EXIT
    ! vm_running || WAS_UP=1
    group "the lab"
    lab up || exit
    end_group
    group "the programs: ${SERVER_WORDS[*]} :: ${CLIENT_WORDS[*]}"
    # A pipe: the run writes its folder into it. Its timeline can have many thousand lines: it is in timeline.txt.
    exec {LIST}<> <(:)
    LAB_RUN_LIST=$LIST lab trace "${options[@]}" "$@" >/dev/null || status=$?
    exit "$status"
}

# lab WORD...: runs a command of the lab. A signal ends it as if it had received the signal itself.
lab() { interruptible setpriv --pdeathsig TERM "$LAB_ROOT/lab/lab" "$@"; }

# end_ci STATUS: runs at every exit.
end_ci() {
    local status=$1 verdict
    trap '' INT TERM HUP
    trap - EXIT
    set +e
    [[ -z ${INTERRUPTIBLE:-} ]] || wait "$INTERRUPTIBLE"
    end_group
    [[ -z $LIST ]] || ! read -r -t 0 -u "$LIST" || IFS= read -r RUN_DIR <&"$LIST"
    verdict=$(verdict "$status")
    ((status == 0)) || keep_logs
    [[ -n $WAS_UP ]] || "$LAB_ROOT/lab/lab" down
    [[ -z $RUN_DIR ]] || show_output
    if ((status != 0)); then
        explain_run
        annotate "$verdict"
    fi
    summarize "$verdict"
    say "ci: $verdict. Artifacts: ${RUN_DIR:-$LAB_RUNS}"
    exit_as "$status"
}

# verdict STATUS: prints the result as a sentence.
verdict() {
    local server='' client='' first took=$((($(now_ms) - CI_BEGAN) / 1000))
    [[ -z $RUN_DIR ]] || IFS=, read -r server client < <(jq -r '[.hosts.server.exit_code, .hosts.client.exit_code] | join(",")' "$RUN_DIR/run.json")
    if (($1 == 0)); then
        printf 'passed in %s s' "$took"
        # The time of the frames on the link is this machine's.
        read -r first < <("$LAB_ROOT/$LAB_BUILD/rocecap" decode "$RUN_DIR/link.pcapng" --fields time 2>/dev/null) &&
            printf ', the first packet after %s s' $((${first%.*} - CI_BEGAN / 1000))
    elif [[ -n ${STOP_STATUS:-} ]]; then
        printf 'interrupted after %s s (exit status %s)' "$took" "$1"
    elif [[ $client == 124 ]] && grep -qxs "stopped: $CAPTURE_SECONDS s have passed" "$RUN_DIR/client.log"; then
        printf 'the client did not end within %s s, and was stopped (exit status 124): --limit SECONDS sets this limit' "$CAPTURE_SECONDS"
    elif [[ $client == "$1" ]]; then
        printf 'the client failed with exit status %s' "$1"
    elif [[ $server == "$1" ]]; then
        printf 'the server failed with exit status %s' "$1"
    else
        printf 'the lab failed with exit status %s: its message is above' "$1"
    fi
}

# keep_logs: copies the guests' consoles, and the messages of QEMU and of the link emulator.
keep_logs() {
    mkdir -p "$LAB_RUNS/lab" && cp -- "$LAB_STATE"/{console,qemu}-*.log "$LAB_STATE"/link.log "$LAB_RUNS/lab/" 2>/dev/null
}

# show_output: prints the last lines of what the programs have printed.
show_output() {
    local host
    for host in server client; do
        group "the $host's output ($host.log)"
        tail -n 100 "$RUN_DIR/$host.log" | printable
        end_group
    done
}

# explain_run: prints the causes of the failure.
explain_run() {
    [[ -s $RUN_DIR/wire.pcapng ]] || return 0
    "$LAB_ROOT/$LAB_BUILD/rocecap" explain "$RUN_DIR" 2>&1 | printable >"$RUN_DIR/explain.txt"
    printf '\n'
    cat "$RUN_DIR/explain.txt"
    printf '\n'
}

# GitHub Actions: workflow commands fold the log and mark an error; other systems get a heading.
group() {
    GROUP=1
    if [[ -n ${GITHUB_ACTIONS:-} ]]; then printf '::group::%s\n' "$1"; else printf '== %s\n' "$1"; fi
}

end_group() {
    [[ -z ${GITHUB_ACTIONS:-} || -z $GROUP ]] || echo '::endgroup::'
    GROUP=
}

# annotate SENTENCE: marks the error, with the first causes.
annotate() {
    local text
    [[ -n ${GITHUB_ACTIONS:-} ]] || return 0
    text=$1.$'\n'$(head -n 30 "$RUN_DIR/explain.txt" 2>/dev/null)
    text=${text//%/%25}
    text=${text//$'\r'/%0D}
    printf '::error title=RDMA Wire Lab::%s\n' "${text//$'\n'/%0A}"
}

# summarize SENTENCE: writes the result to the page of a GitHub job.
summarize() {
    [[ -n ${GITHUB_STEP_SUMMARY:-} ]] || return 0
    {
        printf '### RDMA Wire Lab\n\n`%s`: %s.\n\n' "${SERVER_WORDS[*]} :: ${CLIENT_WORDS[*]}" "$1"
        [[ ! -s $RUN_DIR/explain.txt ]] || printf '````\n%s\n````\n\n' "$(<"$RUN_DIR/explain.txt")"
    } >>"$GITHUB_STEP_SUMMARY"
}
