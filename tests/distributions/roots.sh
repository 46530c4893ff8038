# Minimal root file systems of Debian suites: a script that creates some sources this file.

# The folder of the root file systems, unless an option names another one. DISTRIBUTIONS: clones may share a folder.
roots_folder() { realpath -m -- "${DISTRIBUTIONS:-$REPO/build/distributions}"; }

# shellcheck source=lab/lib/debian.sh
. "$REPO/lab/lib/debian.sh"

# bootstrap SUITE ROOT PACKAGES LOG: creates a root file system with these packages, separated by commas, in place of this process.
bootstrap() {
    bootstrap_command "$1" "$2" --include="$3"
    exec "${BOOTSTRAP[@]}" >>"$4" 2>&1
}
