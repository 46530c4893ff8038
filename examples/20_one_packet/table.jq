# The table of docs/on-rxe-behaviour.md, from the lines of build/matrix.jsonl.
def cell: gsub("\\|"; "\\|");
def ms: if . == null then "" else (. / 1e6 * 100 | round / 100 | tostring) + " ms" end;
def row: "| " + join(" | ") + " |";
def kind: [.event, .predicted, .seen, .verdict];
# Packets of one scenario with the same fault and recovery, one after the other, are one row.
def grouped: reduce .[] as $one ([]; if length > 0 and (.[-1][0] | kind) == ($one | kind) then .[-1] += [$one] else . + [[$one]] end);
def fault: "\(.[0].event): " + (if length > 2 then "\(length) packets" else map("\(.opcode_name) +\(.offset)") | join(", ") end);
def recovery: .[0] | if .seen == .predicted then .seen else "\(.predicted) → \(.seen)" end;
# Adds the PSN as the distance from the connection's first PSN.
def with_offsets($connections):
    . as $one | ($connections[.connection - 1] | if $one.direction == "forward" then .forward else .backward end | .first_psn) as $first |
    . + {offset: (if $first == null then .psn else (.psn - $first + 16777216) % 16777216 end)};

"Kernel \(.[0].kernel), \(length) scenarios; PSNs count from the connection's first.\n",
(["scenario", "fault", "recovery", "detection", "verdict"] | row),
([range(5) | "---"] | row),
(.[] | . as $scenario | (.check.connections // []) as $connections |
    if (.check.recoveries // []) == [] then
        [.name, "none", "", "", (if (.check.deviations // []) == [] then "as specified" else "deviation" end)] | row
    else
        [.check.recoveries[] | with_offsets($connections)] | grouped | to_entries[] |
        [(if .key == 0 then $scenario.name else "" end), (.value | fault), (.value | recovery),
         (.value[0].detection_ns | ms), .value[0].verdict] | row
    end),
"",
"Deviations: " + ([.[] | . as $scenario | .check.deviations[]? | "\(.code) in *\($scenario.name)*"] | if . == [] then "none" else join("; ") end) + "."
