# shellcheck shell=bash
# Completion of rocecap(1) in bash. Commands, options and fields are asked of the program, so that they are never others.

_rocecap_lines() { # what stands first in each line of a part of the help text
    rocecap "${@:2}" --help 2>/dev/null | awk -v part="$1:" '
        $0 == part { inside = 1; next }
        /^[^ ]/ || /^$/ { inside = 0 }
        inside && /^  [^ ]/ { print $1 }'
}

_rocecap_fields() { # completes the last of a list that is separated by $1
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
    case $before in
        --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
        -i | --interface) mapfile -t COMPREPLY < <(compgen -W "any $(ls /sys/class/net)" -- "$cur"); return ;;
        --fields) _rocecap_fields ,; return ;;
        --where) _rocecap_fields ' '; return ;;
        -w | --write | --run-log) compopt -o default; return ;;
    esac
    if [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rocecap_lines Subcommands) $(_rocecap_lines Options | tr , '\n')" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rocecap_lines Options "$command" | tr , '\n') --color" -- "$cur")
    elif [[ $command == timeline || $command == predict || $command == psns || $command == annotate || $command == report ]]; then
        compopt -o dirnames
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '!*.pcap' -- "$cur"; compgen -f -X '!*.pcapng' -- "$cur"; compgen -d -- "$cur")
    fi
}

complete -F _rocecap rocecap
