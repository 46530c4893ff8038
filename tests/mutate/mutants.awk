# Prints the mutants of C++ sources, one per line: FILE, line number, the change, the changed line, separated by tabs.
# It does not change strings, comments, preprocessor lines, static assertions and template arguments.

function masked(text,    out, i, c, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(text); ++i) {
        c = substr(text, i, 1)
        if (quote != "") {
            if (c == "\\") {
                out = out "  "
                ++i
                continue
            }
            if (c == quote) quote = ""
            out = out " "
        } else if (c == "\"" || (c == "'" && substr(text, i - 1, 1) !~ /[0-9a-f]/)) {
            quote = c
            out = out " "
        } else if (substr(text, i, 2) == "//") {
            break
        } else {
            out = out c
        }
    }
    return out
}

function offer(position, size, replacement) {
    print FILENAME "\t" FNR "\t" substr($0, position, size) " -> " replacement " at column " position "\t" \
        substr($0, 1, position - 1) replacement substr($0, position + size)
}

# Offers a mutant for each `from` in the line, replaced by `to`.
function replace(from, to,    start, at) {
    start = 1
    while ((at = index(substr(code, start), from)) > 0) {
        offer(start + at - 1, length(from), to)
        start += at + length(from) - 1
    }
}

FNR == 1 { in_comment = 0 }
/^[ ]*(#|\/\/|using |namespace |template|static_assert|friend |\*)/ { next }
/\/\*/ { in_comment = 1 }
in_comment { if (/\*\//) in_comment = 0; next }
{
    code = masked($0)
    if (code ~ /^[ ]*$/) next
    replace(" == ", " != ")
    replace(" != ", " == ")
    replace(" < ", " <= ")
    replace(" <= ", " < ")
    replace(" > ", " >= ")
    replace(" >= ", " > ")
    replace(" && ", " || ")
    replace(" || ", " && ")
    replace(" + ", " - ")
    replace(" - ", " + ")
    replace(" += ", " -= ")
    replace(" & ", " | ")
    replace(" << ", " >> ")
    replace("(!", "(")
    replace("true", "false")
    replace("false", "true")
    # Increment a number.
    rest = code
    offset = 0
    while (match(rest, /(^|[^A-Za-z0-9_.'])[0-9]+($|[^A-Za-z0-9_.'])/)) {
        at = offset + RSTART + (substr(rest, RSTART, 1) ~ /[0-9]/ ? 0 : 1)
        size = 0
        while (substr(code, at + size, 1) ~ /[0-9]/) ++size
        offer(at, size, substr(code, at, size) + 1)
        offset = at + size - 1
        rest = substr(code, offset + 1)
    }
    # Remove a call that is a statement.
    if (code ~ /^[ ]+[a-z_:.>-]+\([^;]*\);[ ]*$/ && code !~ /return|throw|co_/) {
        match(code, /[^ ]/)
        offer(RSTART, length($0) - RSTART + 1, ";")
    }
}
