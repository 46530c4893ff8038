# shellcheck shell=bash
# Completion of rocetrace(1) in bash: its own options, then the command line of the program that it
# runs.
_rocetrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
            -o | --output | --role | --only | --buffer) ((++i)) ;;
            --) ((++i)) && break ;;
            -*) ;;
            *) break ;;
        esac
    done
    if ((i < COMP_CWORD)) || [[ ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        declare -F _command_offset >/dev/null && _command_offset "$i"
        return
    fi
    case $before in
        -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames; return ;;
        --role | --buffer) return ;;
        --only) mapfile -t COMPREPLY < <(compgen -W "$(rocetrace --help 2>/dev/null | sed -n 's/^Categories: \(.*\)\./\1/p')" -- "$cur"); return ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "-- $(rocetrace --help 2>/dev/null | awk '
            match($0, /^ +-/) && RLENGTH < 12 {
                gsub(/,/, " ")
                for (i = 1; i <= NF && $i ~ /^-/; ++i) print $i
            }')" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -X '!*.jsonl' -- "$cur")
    fi
}

complete -F _rocetrace rocetrace
