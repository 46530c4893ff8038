# The kernels of LAB_KERNEL that Debian has: found, fetched once, and kept below ~/.cache/rdma-wire-lab.
# shellcheck shell=bash

# mmdebstrap knows the mirror and the keys of a release. The others of this list are on the same mirror; the newest kernels are in the
# backports and in experimental.
FIRST_SUITE=bookworm
MORE_SUITES=(bookworm-backports trixie trixie-backports forky sid experimental)

# debian_kernel KERNEL: uses the newest kernel of this version, package or Debian release: one that the guests' root has, or one that was
# fetched before, otherwise it is fetched.
debian_kernel() {
    local cache=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/rdma-wire-lab folder
    if [[ $1 == [0-9]* ]]; then
        while IFS= read -r folder; do
            ! kernel_below "$folder" "$1" || return 0
        done < <(printf '%s\n' "$SYSROOT" "$ROOT_STATE/kernel"; printf '%s\n' "$cache"/kernel-[0-9]*-"$GUEST_ARCH" | sort -rV)
    elif [[ $1 == linux-image-*-"$GUEST_ARCH"* ]]; then
        ! kernel_below "$cache/kernel-${1#linux-image-}" || return 0
    elif [[ -e $cache/kernel-of-$1-$GUEST_ARCH ]]; then
        ! kernel_below "$cache/$(<"$cache/kernel-of-$1-$GUEST_ARCH")" || return 0
    fi
    fetch_debian_kernel "$1" "$cache"
}

# fetch_debian_kernel KERNEL CACHE: uses mmdebstrap, which knows Debian's mirrors and keys, to fetch the kernel's packages in a root that
# has nothing else.
fetch_debian_kernel() {
    local new=$2/kernel-new.$$ suite=$FIRST_SUITE package folder
    command -v mmdebstrap >/dev/null || die "mmdebstrap, which fetches the kernel for LAB_KERNEL=$1, is missing: install the package mmdebstrap."
    mkdir -p "$2" || die "cannot create the folder $2 for the kernel $1: set XDG_CACHE_HOME to another folder."
    LAB_STATE=$2 need_space 1200 "the kernel $1"
    [[ $1 == [0-9]* || $1 == linux-image-* ]] || suite=$1
    say "fetching the kernel $1 for $GUEST_ARCH from Debian, once (into $2)"
    bootstrap_command "$suite" "$new.tar" "--architectures=$GUEST_ARCH" --variant=custom --aptopt='Acquire::Languages "none"' \
        "--customize-hook=$(hook "download_kernel_to \"\$1/kernel\" $(quote "$1")")"
    [[ $suite != "$FIRST_SUITE" || $1 == "$FIRST_SUITE" ]] || BOOTSTRAP+=("--setup-hook=$(hook 'add_suites "$1/etc/apt/sources.list"')")
    NEW_KERNEL=$new
    interruptible bootstrap >"$new.log" 2>&1 ||
        die "cannot fetch the kernel $1 from Debian$([[ $1 != "$suite" ]] || printf " (is '%s' a Debian release?)" "$1"): $(grep -m1 '^E:' "$new.log" || tail -n 1 "$new.log")"
    mkdir "$new"
    interruptible tar -C "$new" -xf "$new.tar" ./kernel || die "cannot unpack the kernel $1 in $new (see above)."
    package=$(<"$new/kernel/package")
    [[ -n $package ]] ||
        die "Debian has no kernel $1 for $GUEST_ARCH, but $(paste -sd' ' "$new/kernel/series" | sed 's/ /, /g')."
    folder=kernel-${package#linux-image-}
    # If it is there, another lab may have its modules open.
    if [[ ! -e $2/$folder ]]; then
        unpack_packages "$new/root" "$new"/kernel/*.deb
        finish_kernel "$new/root" "${package#linux-image-}"
        mv "$new/root" "$2/$folder"
    fi
    [[ $1 != "$suite" ]] || printf '%s\n' "$folder" >"$2/kernel-of-$1-$GUEST_ARCH"
    remove_new_kernel
    kernel_below "$2/$folder" || die "the package $package has no ${MISSING_MODULE:-kernel}: choose another one."
}

# Removes what an interrupted or failed fetch_debian_kernel left.
remove_new_kernel() {
    [[ -z ${NEW_KERNEL:-} ]] || rm -rf "$NEW_KERNEL" "$NEW_KERNEL.tar" "$NEW_KERNEL.log"
    NEW_KERNEL=
}

# The functions below run in mmdebstrap's hooks. Those of an ordinary user run in a user namespace, in which the checkout may be
# unreadable: hook COMMAND prints a command that contains these functions.
hook() {
    printf 'bash -c %s - "$1"' "$(quote "set -euo pipefail; export APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG
        $(declare -f is_version package_depends package_known add_kernel_parts add_suites kernel_packages choose_kernel download_kernel_to)
        $(declare -p MORE_SUITES FIRST_SUITE GUEST_ARCH KERNEL_META); apt_options=(); $1")"
}

# add_suites FILE: adds Debian's other releases to the package sources, with the mirror of the first.
add_suites() {
    local suite
    for suite in "${MORE_SUITES[@]}"; do
        sed -n "1s/ $FIRST_SUITE / $suite /p" "$1"
    done >"$1.more"
    cat "$1.more" >>"$1"
    rm "$1.more"
}

# kernel_packages: prints the kernel packages, oldest first, without metapackages, debug symbols, variants, and those whose modules the
# archive no longer has.
kernel_packages() {
    local name depends
    apt-cache search --names-only "^linux-image-[0-9].*-$GUEST_ARCH\$" | awk '$1 !~ /-(cloud|rt)-/ { print $1 }' | sort -uV | while IFS= read -r name; do
        depends=$(package_depends "$name")
        # A metapackage depends on the package of a version. apt prints packages that it does not have in angle brackets, and also virtual ones.
        [[ $depends =~ linux-image-|'<linux-'(binary|modules)- ]] || printf '%s\n' "$name"
    done
}

# choose_kernel KERNEL NAMES: sets KERNEL_PACKAGE to the newest that matches; empty if there is none.
choose_kernel() {
    local name
    KERNEL_PACKAGE=
    if [[ $1 == [0-9]* ]]; then
        while IFS= read -r name; do
            ! is_version "${name#linux-image-}" "$1" || KERNEL_PACKAGE=$name
        done <<<"$2"
    elif [[ $1 == linux-image-* ]]; then
        ! package_known "$1" || KERNEL_PACKAGE=$1
    else
        KERNEL_PACKAGE=$(package_depends "$KERNEL_META" | grep -m1 -E '^linux-image-[0-9]' || true)
        # Releases such as experimental have no metapackage.
        : "${KERNEL_PACKAGE:=$(tail -n 1 <<<"$2")}"
    fi
}

# download_kernel_to FOLDER KERNEL: downloads the packages of the kernel, and writes the name of the first to `package`; if there is no
# such kernel, the series that there are to `series`.
download_kernel_to() {
    local names KERNEL_PACKAGE KERNEL_PACKAGES
    mkdir "$1"
    cd "$1" || return
    names=$(kernel_packages)
    # 6.12 of linux-image-6.12.107+deb13-amd64.
    sed -E 's/^linux-image-([0-9]+\.[0-9]+).*/\1/' <<<"$names" | uniq >series
    choose_kernel "$2" "$names"
    printf '%s\n' "$KERNEL_PACKAGE" >package
    [[ -n $KERNEL_PACKAGE ]] || return 0
    add_kernel_parts
    apt-get -q -o APT::Sandbox::User= download "${KERNEL_PACKAGES[@]}"
}
