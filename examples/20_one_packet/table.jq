# The table of docs/on-rxe-behaviour.md, from the lines of build/matrix/KERNEL.jsonl, all lines of a kernel together.
def cell: gsub("\\|"; "\\|");
# Two digits are enough: in another run, the times differ by more.
def ms: if . == null then "" else . / 1e6 | if . >= 10 then " \(round) ms" else " \(. * 10 | round / 10) ms" end end;
def row: "| " + join(" | ") + " |";
def kind: [.event, .predicted, .seen, .verdict];
# Packets of one scenario with the same fault and recovery, one after the other, are one.
def grouped: reduce .[] as $one ([]; if length > 0 and (.[-1][0] | kind) == ($one | kind) then .[-1] += [$one] else . + [[$one]] end);
def fault: "\(.[0].event): " + (if length > 2 then "\(length) packets" else map("\(.opcode_name | ltrimstr("RC ")) +\(.offset)") | join(", ") end);
def recovery: .[0] | (if .seen == .predicted then .seen else "\(.predicted) → \(.seen)" end) + (.detection_ns | ms)
    + (if .verdict == "as specified" then "" else " (\(.verdict))" end);
# Adds the PSN as the distance from the connection's first PSN.
def with_offsets($connections):
    . as $one | ($connections[.connection - 1] | if $one.direction == "forward" then .forward else .backward end | .first_psn) as $first |
    . + {offset: (if $first == null then .psn else (.psn - $first + 16777216) % 16777216 end)};
def groups: (.check.connections // []) as $connections | [(.check.recoveries // [])[] | with_offsets($connections)] | grouped;
def faults: groups | map(fault) | join("; ");
def deviations: [.check.deviations[]?.code] | unique | map(" **\(.)**") | join("");
# What happened, without times, which differ in each run.
def kinds: [(groups | map(map(kind) | unique)), deviations];
def how: ((groups | map(recovery) | join("; ")) | if . == "" then "–" else . end) + deviations;
def series: capture("^(?<version>[0-9]+\\.[0-9]+)").version;
def number: split("[.+-]"; "") | map(tonumber? // 0);

group_by(.kernel) | sort_by(.[0].kernel | number) as $kernels |
"Kernels \([$kernels[] | .[0].kernel] | join(", ")); \($kernels[0] | length) scenarios; PSNs count from the connection's first.\n",
(["scenario", "fault", ($kernels[] | .[0].kernel | series)] | row),
([range(2 + ($kernels | length)) | "---"] | row),
($kernels[0][] | . as $first | faults as $faults |
    [.name, (if $faults == "" then "none" else $faults end), how,
     ($kernels[1:][] | .[] | select(.name == $first.name) |
        if kinds == ($first | kinds) then "=" elif faults == $faults or faults == "" then how else "\(faults): \(how)" end)] | row)
