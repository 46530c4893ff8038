# `run` and `capture` of one lesson, or of several lessons one after another.
# shellcheck shell=bash

# run_lessons run|capture LESSON... [-- CLIENT-ARGUMENT...]
run_lessons() {
    local mode=$1 lesson
    local -a lessons=() arguments=()
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        case $1 in
            --xray) export LAB_XRAY=1 ;;
            -*) usage_error "there is no option '$1': lab/lab $mode [--xray] LESSON… [-- client arguments]" ;;
            *) lessons+=("$1") ;;
        esac
        shift
    done
    ((${#lessons[@]} > 0)) || usage_error "no lesson was given: lab/lab $mode LESSON [-- client arguments]. Lessons: $(list_lessons)"
    for lesson in "${lessons[@]}"; do
        find_lesson "$lesson"
    done
    if (($# > 0)); then
        ((${#lessons[@]} == 1)) || usage_error "arguments for the client need a single lesson, not ${#lessons[@]}."
        arguments=("${@:2}")
    fi
    build_lessons "${lessons[@]}"
    if ((${#lessons[@]} == 1)); then
        run_lesson "$mode" "$lesson" "${arguments[@]}"
    else
        run_in_turn "$mode" "${lessons[@]}"
    fi
}

# build_lessons LESSON...: builds what all of them need before the first one runs.
build_lessons() {
    local lesson folders=()
    backend_require_up
    for lesson in "$@"; do
        find_lesson "$lesson"
        folders+=("$LESSON")
    done
    build_for_run "${folders[@]}"
}

# Runs each lesson in a separate lab/lab process, which cleans up even if this script is killed. Stops after the first lesson that fails.
run_in_turn() { # MODE LESSON...
    local mode=$1 lesson status=0 list
    local -a runs=()
    # A pipe: each run writes its directory into it.
    exec {list}<> <(:)
    TURN_PID=
    trap end_turn EXIT
    for lesson in "${@:2}"; do
        [[ $lesson == "$2" ]] || echo
        LAB_RUN_LIST=$list setpriv --pdeathsig TERM "$LAB_ROOT/lab/lab" "$mode" "$lesson" &
        TURN_PID=$!
        while kill -0 "$TURN_PID" 2>/dev/null; do
            pause 0.05
        done
        wait "$TURN_PID" || status=$?
        TURN_PID=
        ((status == 0)) || exit_as "$status"
    done
    [[ $mode == capture ]] || return 0
    while ((${#runs[@]} < $# - 1)) && read_line "$list" 1; do
        runs+=("$LINE")
    done
    echo
    "$LAB_ROOT/$LAB_BUILD/rocecap" psns "${runs[@]}"
}

end_turn() {
    trap '' INT TERM HUP
    if [[ -n $TURN_PID ]]; then
        kill "$TURN_PID" 2>/dev/null || true
        wait "$TURN_PID" || true
    fi
}
