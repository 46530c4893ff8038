# The TLS secrets that a program logs with --keylog -, in the format that Wireshark reads.
# shellcheck shell=bash

# wants_keys: whether a program of this run logs TLS secrets. Only the user may then read its log.
wants_keys() { [[ " ${SERVER_COMMAND[*]-} ${CLIENT_COMMAND[*]-} " == *' --keylog'* ]]; }

# keep_keys: writes the lines of all logs' tls_secret events, each once, to tls-keys.log (NSS key log format). Writes no file if there
# are no such events.
keep_keys() {
    local file=$RUN_DIR/tls-keys.log logs=("${LAB_HOSTS[@]/#/$RUN_DIR/}")
    (
        umask 077
        jq -Rr 'fromjson? | objects | select(.event == "tls_secret") | .line | strings' \
            "${logs[@]/%/.jsonl}" | sort -u | write_file "$file"
    )
    [[ -s $file ]] || rm -f "$file"
}
