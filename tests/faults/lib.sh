# Functions for run and score: the paths of cases and runs, and reading a case file.
# shellcheck shell=bash

faults=tests/faults
runs=${FAULTS_RUNS:-build/faults} # HALF/CASE: the run directory of a case

complain() { printf 'tests/faults/%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
    complain "$@"
    exit 2
}

# cases_of [FOLDER|CASE]...: prints the case files, one per line; without arguments, all.
cases_of() {
    local given
    (($# > 0)) || set -- "$faults"/open "$faults"/kept "$faults"/later
    for given; do
        if [[ -d $given ]]; then
            find "$given" -name '*.case' | sort
        elif [[ -f $given && $given == *.case ]]; then
            echo "$given"
        else
            die "'$given' is neither a folder nor a case: give $faults/open, for example, or a file NAME.case."
        fi
    done
}

# run_of CASE: prints the run directory of a case.
run_of() {
    local half=${1%/*} name=${1##*/}
    echo "$runs/${half##*/}/${name%.case}"
}

# values KEY FILE: prints the values of all lines "KEY: VALUE", one per line.
values() { sed -n "s/^$1:[[:space:]]*//p" "$2"; }
# value KEY FILE: prints the value of the first such line.
value() { values "$1" "$2" | head -n 1; }
