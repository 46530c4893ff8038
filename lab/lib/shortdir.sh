# Sockets and keys. A unix socket's path may have 107 characters, and that of a checkout can be longer: they are in
# a folder of their own, private to this user, and build/lab (LAB_STATE) has a link to it.
# shellcheck shell=bash

# short_dir LINK: makes LINK in LAB_STATE point to a private folder; prints the folder.
short_dir() {
    local base=${XDG_RUNTIME_DIR:-/tmp} dir
    [[ -d $base && -w $base && $base != *[[:space:],]* && ${#base} -lt 40 ]] || base=/tmp
    dir=$base/rdma-lab-$UID-$(printf '%s' "$LAB_STATE/$1" | sha256sum | cut -c 1-10)
    # The link first: remove_short_dir finds the folder, whenever this script is killed.
    ln -sfn "$dir" "$LAB_STATE/$1"
    if ! mkdir -m 700 "$dir" 2>/dev/null; then
        [[ -d $dir && ! -L $dir && -O $dir ]] || die "$dir exists and is not yours: remove it."
    fi
    printf '%s' "$dir"
}

# short_dir_now LINK: the folder, if there is one.
short_dir_now() { readlink "$LAB_STATE/$1" || true; }

remove_short_dir() { # LINK
    local dir
    dir=$(short_dir_now "$1")
    [[ -z $dir || ! -O $dir ]] || rm -rf "$dir"
    rm -f "$LAB_STATE/$1"
}
