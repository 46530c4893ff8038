# `lab/lab exercise`: asks the questions in a lesson's file `exercises`, and judges the answers from the learner's own capture.
# shellcheck shell=bash
#
# The file has one instruction a line; a line that begins with spaces continues the one before it:
#   run VERB ARGUMENT...     lab/lab VERB ARGUMENT..., for example `run capture 01 -- --length 1`; a capture is what the next questions
#                            are about. The words are separated as in a shell.
#   ask TEXT                 the question. {FIELD where FILTER} in it is a value of the capture.
#   count FILTER             the answer: how many packets match (rocecap's display filters)
#   field FIELD where FILTER the answer: this field of the first packet that matches
#   why TEXT                 printed after the answer, right or wrong
#   predict                  `rocecap predict` on the capture: what comes next?

exercise() { # LESSON
    (($# == 1)) || usage_error "exercise takes one lesson: lab/lab exercise 01. Lessons with questions: $(lessons_with_questions)"
    find_lesson "$1"
    local file=$LAB_ROOT/examples/$LESSON/exercises line
    [[ -r $file ]] || usage_error "lesson $LESSON has no questions that check themselves. Lessons with questions: $(lessons_with_questions)"
    local -a instructions=()
    while IFS= read -r line; do
        case $line in
            '' | '#'*) ;;
            ' '*) instructions[-1]+=" ${line#"${line%%[! ]*}"}" ;;
            *) instructions+=("$line") ;;
        esac
    done <"$file"
    RUN='' ASKED=0 RIGHT=0 QUESTIONS=$(grep -c '^ask ' "$file")
    say_wrapped "$(head -n 1 "${file%/*}/README.md" | sed 's/^# *//'): $QUESTIONS questions. Guess first; an empty line shows the answer, q ends."
    for line in "${instructions[@]}"; do
        "exercise_${line%% *}" "${line#* }" || break
    done
    printf '\n%d of %d right.\n' "$RIGHT" "$ASKED"
}

lessons_with_questions() {
    local file
    for file in "$LAB_ROOT"/examples/*/exercises; do
        file=${file%/*} file=${file##*/}
        printf '%s ' "${file%%_*}"
    done
}

say_wrapped() { printf '%s\n' "$1" | fold -s -w 96; }

exercise_run() { # VERB ARGUMENT...
    local -a words=()
    # The words of a file of this repository.
    eval "words=($1)"
    printf '\n(lab/lab %s)\n' "$1"
    local output status=0
    output=$("$LAB_ROOT/lab/lab" "${words[@]}" </dev/null 2>&1) || status=$?
    if [[ ${words[0]} == capture ]]; then
        RUN=$(sed -n 's/^lab: everything of this run: //p' <<<"$output" | tail -n 1)
        # A run may fail on purpose.
        [[ -n $RUN ]] || die "lab/lab $1 failed: ${output##*$'\n'}"
    elif ((status != 0)); then
        die "lab/lab $1 failed: ${output##*$'\n'}"
    fi
}

# Prints this field of the first packet that matches. PSNs and keys are hexadecimal, as in a listing.
value_of() { # FIELD where FILTER
    local field=${1%% where *} value
    value=$("$LAB_ROOT/$LAB_BUILD/rocecap" decode "$RUN" --fields "$field" --where "${1#* where }" --count 1) || return
    if [[ $field =~ (psn|qp|qpn|key|va)$ && $value =~ ^[0-9]+$ ]]; then
        printf '0x%06x\n' "$value"
    else
        printf '%s\n' "$value"
    fi
}

exercise_ask() { # TEXT
    local text=$1 value
    while [[ $text =~ ^(.*)\{([^}]*)\}(.*)$ ]]; do
        value=$(value_of "${BASH_REMATCH[2]}") || die "the capture in $RUN cannot be read."
        text=${BASH_REMATCH[1]}$value${BASH_REMATCH[3]}
    done
    ANSWER='' ASKED=$((ASKED + 1))
    echo
    say_wrapped "$ASKED. $text"
    printf '> '
    IFS= read -r ANSWER || ANSWER=q
    [[ -t 0 ]] || echo "$ANSWER"
    if [[ $ANSWER == q ]]; then
        ASKED=$((ASKED - 1))
        return 1
    fi
}

exercise_count() { # FILTER
    judge "$("$LAB_ROOT/$LAB_BUILD/rocecap" decode "$RUN" --fields frame --where "$1" | wc -l)"
}

exercise_field() { # FIELD where FILTER
    judge "$(value_of "$1")"
}

# Numbers are compared as numbers, 0x10 equals 16. A text is right if it is the end of the right one: "only" for "RC RDMA WRITE Only".
judge() { # RIGHT
    local right=${1,,} given=${ANSWER,,}
    given=$(xargs <<<"${given//[\'\"]/}")
    if [[ $given =~ ^(0x[0-9a-f]+|[0-9]+)$ && $right =~ ^(0x[0-9a-f]+|[0-9]+)$ ]]; then
        [[ $given == 0x* ]] || given=$((10#$given))
        ((given == right)) && given=$right
    fi
    if [[ -n $given && ($given == "$right" || $right == *" $given") ]]; then
        RIGHT=$((RIGHT + 1))
        echo "Right: $1."
    elif [[ -z $given ]]; then
        echo "It is $1."
    else
        echo "No: it is $1."
    fi
}

exercise_why() { say_wrapped "$1"; }

exercise_predict() {
    printf '\nWhat comes next? (rocecap predict; q ends)\n'
    "$LAB_ROOT/$LAB_BUILD/rocecap" predict "$RUN" || true
}
