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

# The apt settings for mirrors and proxies on the host, which the roots also need.
apt_settings() { apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|Retries|[a-z]+::Proxy) ' || true; }
