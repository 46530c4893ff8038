# Files that no guest may read. The guests can read the whole checkout, so the keys of the lab's certificates are outside it:
# build/certs is a link to a private folder of this user.
# shellcheck shell=bash

# The user ID of QEMU if root uses the lab: one that no user of this machine has. Debian's policy reserves 65000 to 65533, and systemd's
# dynamic users end at 65519.
QEMU_UID=65533

# give_to_qemu PATH...: makes QEMU's user the owner of files that QEMU must read or write. (It fails if root may not change the owner;
# QEMU then runs as root.)
give_to_qemu() { ((EUID != 0)) || chown -Rh "$QEMU_UID:$QEMU_UID" "$@" 2>/dev/null || true; }

# private_dir ROOT: creates and prints the folder for the checkout ROOT: below the home folder, otherwise below /var/tmp.
private_dir() {
    local root=$1 home=${HOME:-} base dir
    base=${XDG_STATE_HOME:-$home/.local/state}/rdma-wire-lab
    # Some sudo configurations keep the HOME of another user; the guests can read a HOME within the checkout.
    if ! [[ -O $home && $base == /* && $base/ != "$root"/* ]] || ! mkdir -p "$base" 2>/dev/null || ! [[ -w $base ]]; then
        base=/var/tmp/rdma-wire-lab-$EUID
        mkdir -m 700 "$base" 2>/dev/null || [[ -d $base && ! -L $base && -O $base ]] || return 1
    fi
    dir=$base/$(printf '%s' "$root" | sha256sum | cut -c 1-10)
    (umask 077 && mkdir -p "$dir") || return 1
    printf '%s' "$dir"
}

# private_certs ROOT: makes build/certs of the checkout ROOT a link to a private folder, and prints that folder. The guests of a role
# see its subfolder guests/ROLE.
private_certs() {
    local root=$1 link=$1/build/certs dir
    dir=$(private_dir "$root")/certs || return 1
    (umask 077 && mkdir -p "$dir"/guests/{server,client}) || return 1
    give_to_qemu "$dir"/guests/*
    mkdir -p "$root/build" || return 1
    if [[ -d $link && ! -L $link ]]; then
        # Earlier versions of the lab had a folder here.
        [[ -e $dir/ca.key ]] || cp -a "$link/." "$dir/" || return 1
        rm -rf "$link"
    fi
    [[ $(readlink "$link") == "$dir" ]] || ln -sfn "$dir" "$link" || return 1
    printf '%s' "$dir"
}
