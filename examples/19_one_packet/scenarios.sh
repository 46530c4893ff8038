# shellcheck shell=bash
# What the scripts of this folder share: its scenarios, and one of them as a run in the lab. The current directory is the
# repository's root.

here=examples/19_one_packet

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

# set_rules RULES: with ';' between them, and no others.
set_rules() {
    local rule list
    lab/lab wire clear >/dev/null
    IFS=';' read -r -a list <<<"$1"
    for rule in "${list[@]}"; do
        rule=$(trim "$rule")
        [[ -z $rule ]] || lab/lab wire "$rule" >/dev/null
    done
}

# play ARGUMENTS RULES: RUN is its directory.
play() {
    local arguments log
    read -r -a arguments <<<"$1"
    set_rules "$2"
    log=$(lab/lab capture 19 -- "${arguments[@]}" 2>&1 >/dev/null </dev/null) || true
    RUN=$(sed -n 's/^lab: everything of this run: //p' <<<"$log" | tail -n 1)
    [[ -n $RUN && -s $RUN/cable.pcapng ]] || die "the run left no capture: $(tail -n 1 <<<"$log")"
}
