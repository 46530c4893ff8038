# The table of docs/on-rxe-behaviour.md, from the lines of build/matrix.jsonl.
def cell: gsub("\\|"; "\\|");
def ms: if . == null then "" else (. / 1e6 * 100 | round / 100 | tostring) + " ms" end;
def row: "| " + join(" | ") + " |";
def recovery:
    [ .event, "\(.opcode_name) +\(.offset)", .predicted, .seen, (.text | cell), (.detection_ns | ms), (.reaction_ns | ms), .verdict ];
# Adds the PSN as the distance from the connection's first PSN.
def with_offsets($connections):
    . as $one | ($connections[.connection - 1] | if $one.direction == "forward" then .forward else .backward end | .first_psn) as $first |
    . + {offset: (if $first == null then .psn else (.psn - $first + 16777216) % 16777216 end)};

"Kernel \(.[0].kernel), \(length) scenarios; PSNs count from the connection's first.\n",
(["scenario", "event", "packet", "expected", "seen", "evidence", "detection", "reaction", "verdict"] | row),
([range(9) | "---"] | row),
(.[] | . as $scenario | (.check.connections // []) as $connections |
    if (.check.recoveries // []) == [] then
        [.name, "", "", "", (.outcome | cell), "", "", "", (if (.check.deviations // []) == [] then "as specified" else "deviation" end)] | row
    else
        .check.recoveries | to_entries[] |
        ([(if .key == 0 then $scenario.name else "" end)] + (.value | with_offsets($connections) | recovery)) | row
    end),
"",
"Deviations:\n",
(["scenario", "code", "who", "what", "section"] | row),
([range(5) | "---"] | row),
(.[] | . as $scenario | .check.deviations[]? | [$scenario.name, .code, .who, (.text | cell), .section] | row)
