# `lab/lab help`: prints the commands, and the settings with their explanations from lab/config.
# shellcheck shell=bash

show_help() {
    cat <<'EOT'
lab/lab starts two or more machines with RDMA between them and runs the lessons on them.

  lab/lab up                        start the lab; do nothing if it runs
  lab/lab boot                      start the machines without the link between them; the next
                                    command starts the link. For use while programs compile
  lab/lab down                      stop the lab
  lab/lab status                    print which machines run and how to reach them
  lab/lab shell HOST                open a shell in this repository on server or client
                                    (client2, client3, …)
  lab/lab exec HOST -- COMMAND [ARG…]
                                    run a command on HOST, with its standard streams and exit status
  lab/lab run LESSON [-- ARG…]      run a lesson: its server, then its client with the arguments
  lab/lab capture LESSON [-- ARG…]  the same, and capture the packets into captures/runs/
  lab/lab run|capture LESSON…       run several lessons until one fails; capture also prints the
                                    table of their PSNs
  lab/lab run|capture|trace --xray …
                                    log the steps of the Soft-RoCE drivers, too (rocexray)
  lab/lab exercise LESSON           ask the lesson's questions, and judge your answers by a capture of
                                    your own
  lab/lab trace [--after SECONDS] [--only CATEGORIES] -- SERVER COMMAND… :: CLIENT COMMAND…
                                    run any two programs, capture their packets and log their verbs
                                    calls; {server} stands for the server's address
  lab/lab ci [--limit SECONDS] [--artifacts FOLDER] [trace's options] -- SERVER COMMAND… :: CLIENT COMMAND…
                                    for continuous integration: start the lab, trace the programs of the
                                    current folder, explain a failure, keep the run in FOLDER
                                    (lab-artifacts), stop the lab; 124 if the client exceeds the limit
  lab/lab netem [HOST] [loss 1%] [delay 2ms] [reorder 25%]
                                    drop, delay or reorder packets that leave the RoCE interfaces;
                                    without values: print the settings
  lab/lab netem [HOST] clear        remove these settings
  lab/lab wire                      print the link emulator's hosts, rules and counters
  lab/lab wire watch                the same, every second
  lab/lab wire 'RULE'…              add rules: 'drop the 3rd packet from client where reth'
  lab/lab wire -f FILE              add the rules in FILE, one per line
  lab/lab wire remove N             remove one rule
  lab/lab wire clear                remove all rules
  lab/lab wire fields               list the fields that `set` may write
  lab/lab help                      print this text

LESSON is 01 or 01_cm_write_read. Settings are environment variables (NAME=value lab/lab …). Their
explanations and defaults:
EOT
    awk '
        function wrap(text,   word, words, line, i) {
            words = split(text, word, " "); line = " "
            for (i = 1; i <= words; i++) {
                if (length(line) + length(word[i]) >= 96) { print line; line = " " }
                line = line " " word[i]
            }
            print line
        }
        /^# shellcheck/ || /^# The lab.s settings/ || /^# `lab/ { next }
        /^#/ { comment = comment (comment == "" ? "" : " ") substr($0, 3); next }
        /^: / {
            match($0, /[A-Z_]+:=/); name = substr($0, RSTART, RLENGTH - 2)
            value = substr($0, RSTART + RLENGTH); sub(/}"$/, "", value)
            if (comment != "") { print ""; wrap(comment) }
            comment = ""
            printf "    %s=%s\n", name, value
        }' "$LAB_ROOT/lab/config"
}
