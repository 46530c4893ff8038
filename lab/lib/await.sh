# Waiting for a line that somebody writes into a file, with a deadline, and only as long as somebody writes.
# shellcheck shell=bash

# await_line FILE DEADLINE_MS PID REGEX: the first line of the file, there already or yet to come, that matches;
# it is left in LINE, and BASH_REMATCH is set. Returns 1 when the process PID ended without it, 2 at the deadline.
await_line() {
    local file=$1 deadline=$2 left fd tail_pid part pending='' got status=2
    # tail ends when the process does, after it has read all that was written.
    exec {fd}< <(close_inherited && exec tail -n +1 -f -s 0.1 --pid="$3" "$file" 2>/dev/null)
    tail_pid=$!
    while left=$((deadline - $(now_ms))) && ((left > 0)); do
        got=0
        # In turns: only between two commands does bash bury a child, and until then tail takes it for alive.
        IFS= read -r -t "0.$((left < 200 ? left + 100 : 300))" part <&"$fd" || got=$?
        LINE=$pending$part
        if ((got > 128)); then
            pending=$LINE
        elif ((got > 0)); then
            status=1
            break
        else
            pending=
            LINE=${LINE%$'\r'}
            if [[ $LINE =~ $4 ]]; then
                status=0
                break
            fi
        fi
    done
    kill "$tail_pid" 2>/dev/null || true
    exec {fd}<&-
    return "$status"
}
