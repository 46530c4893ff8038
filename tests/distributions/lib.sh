# What the scripts of this folder share.
# shellcheck shell=bash

say() { printf 'distributions: %s\n' "$*" >&2; }

refuse() {
    say "$*"
    exit 2
}

# need_root TOOL...: refuses to run without root or without these tools.
need_root() {
    local tool
    ((EUID == 0)) || refuse "root is required to create and mount root file systems: run it with sudo."
    for tool; do
        command -v "$tool" >/dev/null || refuse "$tool is missing: install the packages mmdebstrap, util-linux, git, procps and binutils."
    done
}

# shellcheck source=tests/distributions/roots.sh
. "$HERE/roots.sh"
