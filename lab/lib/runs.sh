# `run` and `capture` of one step, or of several steps one after another.
# shellcheck shell=bash

# run_steps run|capture STEP... [-- CLIENT-ARGUMENT...]
run_steps() {
    local mode=$1 step
    local -a steps=() arguments=()
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        steps+=("$1")
        shift
    done
    ((${#steps[@]} > 0)) || usage_error "no step was given: lab/lab $mode STEP [-- client arguments]. Steps: $(list_steps)"
    for step in "${steps[@]}"; do
        find_step "$step"
    done
    if (($# > 0)); then
        ((${#steps[@]} == 1)) || usage_error "arguments for the client need a single step, not ${#steps[@]}."
        arguments=("${@:2}")
    fi
    # Check all steps before the first one runs.
    for step in "${steps[@]}"; do
        find_step "$step"
        need_built_step
    done
    if ((${#steps[@]} == 1)); then
        run_step "$mode" "$step" "${arguments[@]}"
    else
        run_in_turn "$mode" "${steps[@]}"
    fi
}

# Runs each step in a separate lab/lab process, which cleans up even if this script is killed. Stops after the first step that fails.
run_in_turn() { # MODE STEP...
    local mode=$1 step status=0 list
    local -a runs=()
    # A pipe: each run writes its directory into it.
    exec {list}<> <(:)
    TURN_PID=
    trap end_turn EXIT
    for step in "${@:2}"; do
        LAB_RUN_LIST=$list setpriv --pdeathsig TERM "$LAB_ROOT/lab/lab" "$mode" "$step" &
        TURN_PID=$!
        while kill -0 "$TURN_PID" 2>/dev/null; do
            pause 0.05
        done
        wait "$TURN_PID" || status=$?
        TURN_PID=
        ((status == 0)) || exit "$status"
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
