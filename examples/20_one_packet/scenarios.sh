# shellcheck shell=bash
# Functions for the scripts of this folder: reading its scenarios, and running one in the lab. The current directory must be the
# repository's root.

here=examples/20_one_packet

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

trim() {
    local text=$1
    text=${text#"${text%%[! ]*}"}
    printf '%s' "${text%"${text##*[! ]}"}"
}

scenarios() { grep -vE '^(#|$)' "$here/scenarios"; }

# set_rules RULES: replaces the link emulator's rules by these, which are separated by ';'.
set_rules() {
    local rule list
    lab/lab wire clear >/dev/null
    IFS=';' read -r -a list <<<"$1"
    for rule in "${list[@]}"; do
        rule=$(trim "$rule")
        [[ -z $rule ]] || lab/lab wire "$rule" >/dev/null
    done
}

# play ARGUMENTS RULES: runs the lesson, and sets RUN to the run's directory.
play() {
    local arguments log
    read -r -a arguments <<<"$1"
    set_rules "$2"
    log=$(lab/lab capture 20 -- "${arguments[@]}" 2>&1 >/dev/null </dev/null) || true
    RUN=$(sed -n 's/^lab: everything of this run: //p' <<<"$log" | tail -n 1)
    [[ -n $RUN && -s $RUN/link.pcapng ]] || die "the run left no capture: $(tail -n 1 <<<"$log")"
}
