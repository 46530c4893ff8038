# `lab/lab exercise`: asks the questions of a lesson's file `exercises`, and judges the answers by the learner's own capture.
# shellcheck shell=bash
#
# The file has one instruction a line. A line that begins with spaces continues the one before it, and # begins a comment.
#   run COMMAND...            lab/lab COMMAND..., quoted as in a shell, with NAME=value before it where needed. `run capture 01` makes
#                             the capture that the next questions are about. What `run wire` and `run netem` set is cleared at the end
#   try COMMAND...            the same for a lesson whose program is to fail
#   ask TEXT                  the question. The next instruction is its answer:
#   count FILTER              how many packets of the capture match this filter of rocecap
#   first FIELD where FILTER  the field of the first packet that matches and has it
#   last FIELD where FILTER   the same of the last packet
#   why TEXT                  printed after the answer, right or wrong
#   predict [OPTION...]       `rocecap predict` on the capture
# In texts and filters, {count FILTER}, {first FIELD where FILTER} and {last FIELD where FILTER} stand for these values.

exercise() { # LESSON
    local line
    (($# == 1)) || usage_error "exercise takes one lesson: lab/lab exercise 01. Lessons with questions: $(lessons_with_questions)"
    find_lesson "$1"
    cd "$LAB_ROOT" || exit
    EXERCISES=examples/$LESSON/exercises ROCECAP=$LAB_BUILD/rocecap
    [[ -r $EXERCISES ]] || usage_error "lesson $LESSON has no questions. Lessons with questions: $(lessons_with_questions)"
    [[ -x $ROCECAP ]] || die "rocecap is not built: run make build."
    # Some filters name IPv4 fields.
    export LAB_FAMILY=ipv4
    # Prints the reason if the lab is down.
    lab/lab exec server -- true </dev/null || exit
    read_exercises "$EXERCISES"
    prepare_state
    RUN='' RUNS='' ASKED=0 RIGHT=0 IS_OVER='' CHILD='' LOG=$(mktemp "$LAB_STATE/exercise.XXXXXX")
    declare -gA CHANGED=()
    trap end_exercise EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    say_wrapped "$(sed -n '1s/^# *//p' "${EXERCISES%/*}/README.md"): $(grep -c '^ask ' "$EXERCISES") questions. Guess first; an empty line shows the answer, q ends."
    for line in "${INSTRUCTIONS[@]}"; do
        "exercise_${line%% *}" "${line#* }"
        [[ -z $IS_OVER ]] || break
    done
    printf '\n%d of %d right.\n' "$RIGHT" "$ASKED"
    [[ -z $RUNS ]] || printf 'Your captures:\n%s' "$RUNS"
}

lessons_with_questions() {
    local file
    for file in "$LAB_ROOT"/examples/*/exercises; do
        file=${file%/*} file=${file##*/}
        printf '%s ' "${file%%_*}"
    done
}

# read_exercises FILE: sets INSTRUCTIONS, one a line.
read_exercises() {
    local line
    INSTRUCTIONS=()
    while IFS= read -r line || [[ -n $line ]]; do
        case $line in
            '' | '#'*) ;;
            ' '*)
                ((${#INSTRUCTIONS[@]} > 0)) || die "$1 begins with a line that continues nothing."
                INSTRUCTIONS[-1]+=" ${line#"${line%%[! ]*}"}"
                ;;
            *)
                [[ ${line%% *} =~ ^(run|try|ask|count|first|last|why|predict)$ ]] || die "$1: '${line%% *}' is not an instruction."
                INSTRUCTIONS+=("$line")
                ;;
        esac
    done <"$1"
}

say_wrapped() { fold -s -w 96 <<<"$1" | sed 's/ $//'; }

# Runs at every exit: leaves no run, no rule and no file.
end_exercise() {
    local verb
    trap '' HUP INT TERM
    if [[ -n $CHILD ]]; then
        say "stopping the run"
        kill "$CHILD" 2>/dev/null || true
        wait "$CHILD" || true
    fi
    for verb in "${!CHANGED[@]}"; do
        lab/lab "$verb" clear </dev/null >/dev/null || true
    done
    rm -f "$LOG"
}

# run_lab COMMAND...: runs it with its output in LOG, and sets STATUS. Sets RUN if it left a run's directory.
run_lab() {
    local environment='' command=$1 directory
    local -a words assignments=()
    while [[ $command =~ ^([A-Z_]+=(\'[^\']*\'|[^ ]*)\ )(.*)$ ]]; do
        environment+=${BASH_REMATCH[1]} command=${BASH_REMATCH[3]}
    done
    mapfile -t words < <(xargs printf '%s\n' <<<"$command")
    [[ -z $environment ]] || mapfile -t assignments < <(xargs printf '%s\n' <<<"$environment")
    printf '\n(%slab/lab %s)\n' "$environment" "$command"
    case $command in
        'wire clear' | 'netem clear') unset "CHANGED[${words[0]}]" ;;
        'wire '*)
            [[ -n ${CHANGED[wire]:-} || $(lab/lab wire </dev/null 2>/dev/null) != *'rule  '* ]] ||
                die "the link emulator has rules already: lab/lab wire clear removes them."
            CHANGED[wire]=yes
            ;;
        'netem '*) CHANGED[netem]=yes ;;
    esac
    # bash runs a trap while it waits for a child in the background, and not before one in the foreground has ended.
    setpriv --pdeathsig TERM env "${assignments[@]}" lab/lab "${words[@]}" </dev/null >"$LOG" 2>&1 &
    CHILD=$! STATUS=0
    wait "$CHILD" || STATUS=$?
    CHILD=''
    directory=$(sed -n 's/^lab: everything of this run: //p' "$LOG" | tail -n 1)
    if [[ -n $directory ]]; then
        RUN=$directory
        RUNS+="  $RUN  ($environment$command)"$'\n'
    fi
    [[ ${words[0]} != capture || -s $directory/wire.pcapng ]] || STATUS=failed
}

exercise_run() { # COMMAND...
    run_lab "$1"
    [[ $STATUS == 0 ]] || die "lab/lab $1 failed: $(sed 's/^lab: //' "$LOG" | tail -n 1)"
}

exercise_try() { # COMMAND...
    run_lab "$1"
    [[ $STATUS != failed ]] || die "lab/lab $1 left no capture: $(sed 's/^lab: //' "$LOG" | tail -n 1)"
}

# value_of count FILTER | first FIELD where FILTER | last FIELD where FILTER: prints the value. PSNs, keys and the like are hexadecimal,
# as in a listing.
value_of() {
    local field=frame filter=${1#* } values value
    if [[ $1 != 'count '* ]]; then
        field=${filter%% where *} filter=${filter#* where }
    fi
    values=$("$ROCECAP" decode "$RUN" --fields "$field" --where "$filter" 2>"$LOG" | sed '/^$/d') ||
        die "$EXERCISES, '$1': $(sed 's/^rocecap: //' "$LOG")"
    case $1 in
        'count '*) value=$(grep -c . <<<"$values" || true) ;;
        'first '*) value=${values%%$'\n'*} ;;
        'last '*) value=${values##*$'\n'} ;;
    esac
    [[ -n $value ]] || die "$EXERCISES, '$1': there is no such packet in $RUN."
    if [[ $field =~ (psn|qp|qpn|key|va|syndrome)$ && $value =~ ^[0-9]+$ ]]; then
        printf '0x%x\n' "$value"
    else
        printf '%s\n' "$value"
    fi
}

# fill TEXT: sets FILLED to the text with values for what is in braces, the inner ones first.
fill() {
    local value
    FILLED=$1
    while [[ $FILLED =~ ^(.*)\{((count|first|last)\ [^{}]*)\}(.*)$ ]]; do
        value=$(value_of "${BASH_REMATCH[2]}")
        FILLED=${BASH_REMATCH[1]}$value${BASH_REMATCH[4]}
    done
}

exercise_ask() { # TEXT
    fill "$((ASKED + 1)). $1"
    echo
    say_wrapped "$FILLED"
    printf '> '
    IFS= read -r ANSWER || [[ -n $ANSWER ]] || ANSWER=q
    [[ -t 0 ]] || printf '%s\n' "$ANSWER"
    if [[ ${ANSWER,,} =~ ^\ *q(uit)?\ *$ ]]; then
        IS_OVER=yes
    else
        ASKED=$((ASKED + 1))
    fi
}

exercise_count() { answer_is "count $1"; }
exercise_first() { answer_is "first $1"; }
exercise_last() { answer_is "last $1"; }
answer_is() {
    local value
    fill "$1"
    value=$(value_of "$FILLED")
    judge "$value"
}

# judge VALUE: compares ANSWER with the right value, and counts it if it is right.
judge() {
    if is_right "$1" "$ANSWER"; then
        RIGHT=$((RIGHT + 1))
        echo "Right: $1."
    elif [[ $ANSWER == *[!\ ]* ]]; then
        echo "No: it is $1."
    else
        echo "It is $1."
    fi
}

# is_right VALUE ANSWER: numbers are compared as numbers, in hexadecimal or decimal, and a unit after them does not matter. A text is
# right if it ends the right one: "only" for "RC RDMA WRITE Only".
is_right() {
    local right=${1,,} given number='^(0x[0-9a-f]{1,16}|[0-9]{1,19})$'
    local -a words
    read -r -a words <<<"${2,,}"
    given=${words[*]} given=${given//[\'\"]/} given=${given%.}
    [[ -n $given ]] || return
    if [[ $right =~ ^[0-9] ]]; then
        given=${given%% *} given=${given/#none/zero}
        words=(zero one two three four five six seven eight nine ten)
        [[ ! $right =~ ^[0-9]$|^10$ || $given != "${words[right]}" ]] || return 0
        # A PSN without its 0x.
        [[ $right != 0x* || ! $given =~ ^[0-9a-f]{1,16}$ || $((16#$given)) != $((right)) ]] || return 0
    fi
    if [[ $right =~ $number && $given =~ $number ]]; then
        [[ $right == 0x* ]] || right=$((10#$right))
        [[ $given == 0x* ]] || given=$((10#$given))
        ((right == given))
    else
        [[ $right == "$given" || $right == *" $given" ]]
    fi
}

exercise_why() { # TEXT
    fill "$1"
    say_wrapped "$FILLED"
}

exercise_predict() { # [OPTION...]
    local -a options=()
    [[ $1 == predict ]] || read -r -a options <<<"$1"
    printf '\nWhat comes next? (rocecap predict)\n'
    "$ROCECAP" predict "$RUN" "${options[@]}"
}
