# Sockets and keys. A unix socket's path may have 107 characters, and that of a checkout can be longer: they are in
# a folder of their own, private to this user, and build/lab (LAB_STATE) has a link to it.
# shellcheck shell=bash

# short_dir LINK: makes LINK in LAB_STATE point to a private folder, unless it does already; prints the folder.
short_dir() {
    local base=${XDG_RUNTIME_DIR:-/tmp} dir tries lock
    # Two commands at once get the same folder.
    exec {lock}>"$LAB_STATE/$1.folder.lock"
    flock "$lock"
    dir=$(short_dir_now "$1")
    if [[ -n $dir && -d $dir && ! -L $dir && -O $dir ]]; then
        printf '%s' "$dir"
        return
    fi
    [[ -d $base && -w $base && $base != *[[:space:],]* && ${#base} -lt 40 ]] || base=/tmp
    # In /tmp nobody can be there first who cannot guess the name.
    for ((tries = 0; tries < 20; ++tries)); do
        dir=$base/rdma-lab-$(od -An -N 6 -t x1 /dev/urandom | tr -d ' ')
        # The link first: remove_short_dir finds the folder, whenever this script is killed.
        ln -sfn "$dir" "$LAB_STATE/$1"
        if mkdir -m 700 "$dir" 2>/dev/null; then
            printf '%s' "$dir"
            return
        fi
    done
    die "cannot make a folder in $base."
}

# short_dir_now LINK: the folder, if there is one.
short_dir_now() { readlink "$LAB_STATE/$1" || true; }

remove_short_dir() { # LINK
    local dir
    dir=$(short_dir_now "$1")
    [[ -z $dir || ! -O $dir ]] || rm -rf "$dir"
    rm -f "$LAB_STATE/$1"
}
