# Waits for a line in a file until a deadline, or until the process that writes the file ends.
# shellcheck shell=bash

# await_line FILE DEADLINE_MS PID REGEX: waits for the first line of the file that matches. Sets LINE to it, and BASH_REMATCH.
# Returns 1 if the process PID ended without such a line, 2 at the deadline.
await_line() {
    local file=$1 deadline=$2 fd part pending='' ended='' status=''
    exec {fd}<"$file"
    while [[ -z $status ]]; do
        # Check the process before reading the file, so that its last lines are not missed.
        kill -0 "$3" 2>/dev/null || ended=1
        # At the end of the file, `read` fails and sets `part` to the incomplete line.
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
