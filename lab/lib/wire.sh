# `wire`: controls the link emulator of the vm backend, and its rules for packets.
# shellcheck shell=bash

# wire_verb [RULE… | -f FILE | clear | remove N | watch | fields]; without arguments, prints hosts, rules and counters.
wire_verb() {
    [[ $LAB_BACKEND == vm ]] ||
        die "wire needs the vm backend, whose link is the link emulator. On other machines use lab/lab netem, or a switch."
    build tools
    if [[ $* == fields ]]; then
        rocewire fields
        return
    fi
    guarded backend_require_up
    is_wired || die "the guests have a direct link, which has no rules: LAB_LINK=wire lab/lab up restarts them with the link emulator."
    case ${1:-status} in
        status) rocewire status ;;
        watch) rocewire status --watch ;;
        clear | restart) rocewire "$@" ;;
        remove) rocewire "$@" ;;
        *) rocewire add "$@" ;;
    esac
}
