# Roots of Debian releases: for the guests (LAB_SYSROOT) and for tests/distributions/run.
# shellcheck shell=bash

# The apt settings for mirrors and proxies on this machine, which the roots also need.
apt_settings() { apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|Retries|[a-z]+::Proxy) ' || true; }

# bootstrap_command SUITE TARGET [OPTION...]: sets BOOTSTRAP to the command that creates a minimal root: a folder, or a *.tar file.
bootstrap_command() {
    local setting
    BOOTSTRAP=(mmdebstrap --quiet --variant=minbase "${@:3}")
    while IFS= read -r setting; do
        BOOTSTRAP+=("--aptopt=$setting")
    done < <(apt_settings)
    BOOTSTRAP+=("$1" "$2")
}
