# The layer over the host's root: files that a guest needs and the host lacks, that is sshd and its libraries. Another root (LAB_SYSROOT)
# must have them.
# The package of the OpenSSH server is unpacked and not installed, because installing it would start a network service on the user's
# machine. dropbear would need two packages as well, and be a second ssh implementation to learn.
# shellcheck shell=bash

make_layer() {
    local layer=$ROOT_STATE/layer
    [[ -e $layer/.complete ]] && return
    rm -rf "$layer"
    mkdir -p "$layer"
    if [[ -z $SYSROOT && ! -x /usr/sbin/sshd ]]; then
        say "fetching sshd for the guests (package openssh-server, not installed here)"
        fetch_packages "$ROOT_STATE/debs" openssh-server
        unpack_packages "$layer" "$ROOT_STATE"/debs/openssh-server_*.deb
        add_missing_libraries "$layer" "$layer/usr/sbin/sshd" "$layer"/usr/lib/openssh/sshd-*
        rm -rf "$ROOT_STATE"/debs/*.deb "${layer:?}"/{etc,usr/share,usr/lib/systemd,var}
    fi
    touch "$layer/.complete"
}

# Adds the libraries that the dynamic linker does not find, from the dependencies of openssh-server that are not installed.
add_missing_libraries() { # LAYER PROGRAM...
    local layer=$1 name program
    shift
    for program in "$@"; do
        [[ -x $program ]] || continue
        [[ $(ldd "$program") == *'not found'* ]] || continue
        for name in $(package_depends openssh-server | grep '^lib'); do
            if [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true) != installed ]]; then
                fetch_packages "$ROOT_STATE/debs" "$name"
            fi
        done
        unpack_packages "$layer" "$ROOT_STATE"/debs/lib*.deb
        break
    done
    if LD_LIBRARY_PATH=$(printf '%s:' "$layer"/usr/lib/*-linux-gnu) ldd "$layer/usr/sbin/sshd" | grep 'not found' >&2; then
        die "libraries of sshd are missing: install the packages that contain the libraries listed above."
    fi
}
