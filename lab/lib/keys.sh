# The secrets of TLS that a program was asked to log (--keylog -), as Wireshark reads them.
# shellcheck shell=bash

# wants_keys: whether a program of this run will log them. Its log is then for nobody else's eyes.
wants_keys() { [[ " ${SERVER_COMMAND[*]-} ${CLIENT_COMMAND[*]-} " == *' --keylog'* ]]; }

# keep_keys: the lines of all logs' tls_secret events, each once, in tls-keys.log (NSS key log format). Where there
# is none, no file.
keep_keys() {
    local file=$RUN_DIR/tls-keys.log logs=("${LAB_HOSTS[@]/#/$RUN_DIR/}")
    (
        umask 077
        jq -Rr 'fromjson? | objects | select(.event == "tls_secret") | .line | strings' \
            "${logs[@]/%/.jsonl}" | sort -u | write_file "$file"
    )
    [[ -s $file ]] || rm -f "$file"
}
