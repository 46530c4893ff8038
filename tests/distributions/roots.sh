# Minimal root file systems of Debian suites: a script that creates some sources this file.

# The folder of the root file systems, unless an option names another one. DISTRIBUTIONS: clones may share a folder.
roots_folder() { realpath -m -- "${DISTRIBUTIONS:-$REPO/build/distributions}"; }

# The apt settings for mirrors and proxies on the host, which the roots also need.
apt_settings() { apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|Retries|[a-z]+::Proxy) ' || true; }

# bootstrap SUITE ROOT PACKAGES LOG: creates a root file system with these packages, separated by commas, in place of this process.
bootstrap() {
    local setting options=()
    while IFS= read -r setting; do
        options+=("--aptopt=$setting")
    done < <(apt_settings)
    exec mmdebstrap --quiet --variant=minbase --include="$3" "${options[@]}" "$1" "$2" >>"$4" 2>&1
}
