# shellcheck shell=bash
# Completion of rocewire(1) in bash. The program lists its commands and options itself.
_rocewire() {
    local cur=${COMP_WORDS[COMP_CWORD]} command='' word
    case ${COMP_WORDS[COMP_CWORD - 1]} in
        -c | --control | -f | --file | -w | --write | --log) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames; return ;;
        -p | --port) return ;;
    esac
    local commands
    commands=$(rocewire --help 2>/dev/null | awk '/^[A-Za-z]/ { listed = toupper($0) ~ /^SUBCOMMANDS/ } listed && /^  [a-z]/ { print $1 }')
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $'\n'$commands$'\n' != *$'\n'"$word"$'\n'* ]] || command=$word
    done
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(rocewire ${command:+"$command"} --help 2>/dev/null | awk '
            match($0, /^ +-/) && RLENGTH < 12 {
                gsub(/,/, " ")
                for (i = 1; i <= NF && $i ~ /^-/; ++i) print $i
            }')" -- "$cur")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
    elif [[ $command == record ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames
    fi
}

complete -F _rocewire rocewire
