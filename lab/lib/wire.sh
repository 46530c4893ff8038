# `wire`: the link emulator of the vm backend as a program, and the rules for the packets that cross it.
# shellcheck shell=bash

# wire_verb [RULE… | -f FILE | clear | remove N | watch | fields]; nothing: hosts, rules and counters.
wire_verb() {
    [[ $LAB_BACKEND == vm ]] ||
        die "wire is for the vm backend, whose cable is a program: between other machines lab/lab netem is there, or a switch of yours."
    need_rocewire
    if [[ $* == fields ]]; then
        rocewire fields
        return
    fi
    guarded backend_require_up
    is_wired || die "this lab's guests have a direct link: LAB_CABLE=wire lab/lab up starts them again with one that takes rules."
    case ${1:-status} in
        status) rocewire status ;;
        watch) rocewire status --watch ;;
        clear | restart) rocewire "$@" ;;
        remove) rocewire "$@" ;;
        *) rocewire add "$@" ;;
    esac
}
