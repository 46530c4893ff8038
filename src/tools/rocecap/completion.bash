# shellcheck shell=bash
# Completion of rocecap(1) in bash. The commands, options and fields come from the program itself,
# so that they are always current.

# The layout of help texts depends on the version of CLI11: "Options:" or "OPTIONS:",
# "-i,--interface" or "-i,     --interface". Text that begins after column 12 is a description.
_rocecap_commands() {
    rocecap --help 2>/dev/null | awk '
        tolower($0) == "subcommands:" { inside = 1; next }
        /^[^ ]/ { inside = 0 }
        inside && /^  [a-z]/ { print $1 }'
}

_rocecap_options() { # [COMMAND]
    rocecap "$@" --help 2>/dev/null | awk '
        match($0, /^ +-/) && RLENGTH < 12 {
            gsub(/,/, " ")
            for (i = 1; i <= NF && $i ~ /^-/; ++i) print $i
        }'
}

_rocecap_fields() { # completes the last field of a list with the separator $1
    local done=
    [[ $cur != *"$1"* ]] || done=${cur%"$1"*}$1
    mapfile -t COMPREPLY < <(compgen -P "$done" -W "$(rocecap fields | awk '{ print $1 }')" -- "${cur##*"$1"}")
    compopt -o nospace
}

_rocecap() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' word
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            -* | auto | always | never) ;;
            *) command=$word; break ;;
        esac
    done
    [[ $before != --interface || $command != live ]] || before=-i
    case $before in
        --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
        -i) mapfile -t COMPREPLY < <(compgen -W "any $(ls /sys/class/net)" -- "$cur"); return ;;
        --fields) _rocecap_fields ,; return ;;
        --where) _rocecap_fields ' '; return ;;
        -w | --write | -o | --output | --run-log | --log) compopt -o default; return ;;
    esac
    if [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rocecap_commands) $(_rocecap_options)" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rocecap_options "$command") --color" -- "$cur")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '!*.pcap*' -- "$cur"; compgen -d -- "$cur")
    fi
}

complete -F _rocecap rocecap
