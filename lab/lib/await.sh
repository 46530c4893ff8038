# Waiting for a line that somebody writes into a file, with a deadline, and only as long as somebody writes.
# shellcheck shell=bash

# await_line FILE DEADLINE_MS PID REGEX: the first line of the file, there already or yet to come, that matches;
# it is left in LINE, and BASH_REMATCH is set. Returns 1 when the process PID ended without it, 2 at the deadline.
await_line() {
    local file=$1 deadline=$2 fd part pending='' ended='' status=''
    exec {fd}<"$file"
    while [[ -z $status ]]; do
        # Asked before the file is read: what the process wrote last is not missed.
        kill -0 "$3" 2>/dev/null || ended=1
        # At the end of a file `read` fails, and leaves what there is of a line.
        while part='' && IFS= read -r part <&"$fd"; do
            LINE=$pending${part%$'\r'}
            pending=
            if [[ $LINE =~ $4 ]]; then
                status=0
                break 2
            fi
        done
        pending+=$part
        if [[ -n $ended ]]; then
            status=1
        elif (($(now_ms) >= deadline)); then
            status=2
        else
            pause 0.05
        fi
    done
    exec {fd}<&-
    return "$status"
}
