# `lab help`: the verbs, and the settings as lab/config has them.
# shellcheck shell=bash

show_help() {
    cat <<'EOT'
lab/lab: two machines, or more, with RDMA between them, for the steps to run on.

  lab/lab up                           bring them up (nothing to do if they are)
  lab/lab boot                         the same without the link between them, which the next command starts: while programs compile
  lab/lab down                         bring them down
  lab/lab status                       what runs, where, and how to reach it
  lab/lab shell HOST                   a shell in this repository, on server or client (client2, client3, …)
  lab/lab exec HOST -- COMMAND [ARG…]  run one command there: its exit status, input and output are the command's
  lab/lab run STEP [-- ARG…]           run a step: its server, then its client with these arguments
  lab/lab capture STEP [-- ARG…]       the same with every packet captured; all of it in captures/runs/
  lab/lab run|capture STEP STEP…       several steps in turn, until one fails; of captures, then the table of their PSNs
  lab/lab trace [--after SECONDS] [--only CATEGORIES] -- SERVER COMMAND… :: CLIENT COMMAND…
                                       any two programs, captured, with their verbs calls logged; {server}: its address
  lab/lab netem [HOST] [loss 1%] [delay 2ms] [reorder 25%]
                                       what leaves the RoCE interfaces is lost, late, out of order; without values: what is set
  lab/lab netem [HOST] clear           passes as it is again
  lab/lab wire                         the link emulator's hosts, rules and counters (wire watch: each second)
  lab/lab wire 'RULE'…                 rules for chosen packets: lab/lab wire 'drop the 3rd packet from client where reth'
  lab/lab wire -f FILE                 the same, one a line
  lab/lab wire clear                   no rules; wire remove N: one less; wire fields: what `set` may write
  lab/lab help                         this

STEP is 01 or 01_cm_write_read. Settings, from the environment (NAME=value lab/lab …), with their defaults:
EOT
    awk '
        /^# shellcheck/ || /^# The lab.s settings/ || /^# `lab/ { next }
        /^#/ { comment = comment (comment == "" ? "" : " ") substr($0, 3); next }
        /^: / {
            match($0, /[A-Z_]+:=/); name = substr($0, RSTART, RLENGTH - 2)
            value = substr($0, RSTART + RLENGTH); sub(/}"$/, "", value)
            if (comment != "") printf "\n  %s\n", comment
            comment = ""
            printf "    %s=%s\n", name, value
        }' "$LAB_ROOT/lab/config"
}
