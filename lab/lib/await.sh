# Waiting for a line that somebody writes into a file, without polling and with a deadline.
# shellcheck shell=bash

# await_line FILE DEADLINE_MS PID REGEX: the first line of the file, there already or yet to come, that matches;
# it is left in LINE, and BASH_REMATCH is set. Returns 1 when the process PID ended without it, 2 at the deadline.
await_line() {
    local file=$1 deadline=$2 left fd tail_pid status=2
    # tail ends when the process does, after it has read all that was written.
    exec {fd}< <(close_inherited && exec tail -n +1 -f -s 0.1 --pid="$3" "$file" 2>/dev/null)
    tail_pid=$!
    while left=$((deadline - $(now_ms))) && ((left > 0)); do
        if IFS= read -r -t "$((left / 1000)).$(printf '%03d' $((left % 1000)))" LINE <&"$fd"; then
            LINE=${LINE%$'\r'}
            if [[ $LINE =~ $4 ]]; then
                status=0
                break
            fi
        elif (($(now_ms) < deadline)); then
            status=1
            break
        fi
    done
    kill "$tail_pid" 2>/dev/null || true
    exec {fd}<&-
    return "$status"
}
