# Fetches packages and unpacks them below build/lab. It does not install them: this needs no root and starts no service.
# shellcheck shell=bash

# use_sysroot sets apt_options. If the host's package lists are of another root, missing or out of date, those for private lists follow.

use_private_lists() {
    local dir=$ROOT_STATE/apt
    [[ -z ${PRIVATE_LISTS:-} ]] || return 1
    PRIVATE_LISTS=1
    say "reading the package lists (into ${dir#"$LAB_ROOT/"})"
    mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
    apt_options+=(-o "Dir::State::lists=$dir/state/lists" -o "Dir::Cache=$dir/cache")
    interruptible apt-get -q -o APT::Sandbox::User= "${apt_options[@]}" update >"$ROOT_STATE/apt.log" 2>&1 || die "apt-get update failed: $(tail -n 1 "$ROOT_STATE/apt.log")"
}

# package_depends NAME: prints the packages that it depends on, one per line; nothing if apt does not know it.
package_depends() {
    apt-cache "${apt_options[@]}" depends --important "$1" 2>/dev/null | awk '$1 ~ /Depends:$/ { print $2 }'
}

package_known() { [[ -n $(apt-cache "${apt_options[@]}" madison "$1" 2>/dev/null) ]]; }

# fetch_packages DIR NAME...: downloads the .deb files of these packages into DIR.
fetch_packages() {
    command -v apt-get >/dev/null ||
        die "this host has no apt-get to download ${*:2}: install it by other means."
    if ! try_fetch_packages "$@"; then
        use_private_lists || true
        try_fetch_packages "$@" ||
            die "cannot fetch ${*:2}: $(grep -m1 '^E:' "$ROOT_STATE/apt.log" || tail -n 1 "$ROOT_STATE/apt.log")"
    fi
}

try_fetch_packages() { # DIR NAME...
    mkdir -p "$1"
    interruptible env -C "$1" apt-get -q -o APT::Sandbox::User= "${apt_options[@]}" download "${@:2}" >"$ROOT_STATE/apt.log" 2>&1
}

# download_megabytes NAME...: prints the download size of these packages in MB.
download_megabytes() {
    apt-cache "${apt_options[@]}" show --no-all-versions "$@" | awk '/^Size:/ { sum += $2 } END { printf "%d", sum / 1e6 + 1 }'
}

# need_space MEGABYTES WHAT: exits if LAB_STATE does not have this much free space.
need_space() {
    local free
    free=$(df --output=avail --block-size=1M "$LAB_STATE" | tail -n 1)
    ((free >= $1)) || die "$2 needs $1 MB below $LAB_STATE, and $((free)) MB are free there: free disk space there, or set LAB_STATE to another folder."
}

# unpack_packages DIR DEB...: unpacks the files, and moves /bin, /sbin and /lib below /usr as on hosts with a merged /usr (Debian 12,
# Ubuntu 22.04 and later). So the result can be a layer over such a host's root.
unpack_packages() {
    local dir=$1 deb top error
    shift
    mkdir -p "$dir"
    for deb in "$@"; do
        error=$(dpkg-deb -x "$deb" "$dir" 2>&1) || die "cannot unpack ${deb##*/} into $dir: ${error%%$'\n'*}"
    done
    for top in bin sbin lib; do
        if [[ -d $dir/$top && ! -L $dir/$top ]]; then
            mkdir -p "$dir/usr/$top"
            cp -a "$dir/$top/." "$dir/usr/$top/"
            rm -rf "${dir:?}/$top"
        fi
    done
}
