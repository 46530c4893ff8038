# The folder for sockets and keys. The path of a unix socket has at most 107 characters, and the path of a checkout can be longer. So
# they are in a private folder of this user, and build/lab (LAB_STATE) has a link to it.
# shellcheck shell=bash

# short_dir LINK: makes LINK in LAB_STATE point to a private folder, unless it already does; prints the folder.
short_dir() {
    local base=${XDG_RUNTIME_DIR:-/tmp} dir tries lock
    # Two concurrent commands get the same folder.
    exec {lock}>"$LAB_STATE/$1.folder.lock"
    flock "$lock"
    dir=$(short_dir_now "$1")
    if [[ -n $dir && -d $dir && ! -L $dir && -O $dir ]]; then
        printf '%s' "$dir"
        return
    fi
    [[ -d $base && -w $base && $base != *[[:space:],]* && ${#base} -lt 40 ]] || base=/tmp
    # The random name prevents other users from creating the folder in /tmp first.
    for ((tries = 0; tries < 20; ++tries)); do
        dir=$base/rdma-lab-$(od -An -N 6 -t x1 /dev/urandom | tr -d ' ')
        # Create the link first, so that remove_short_dir finds the folder even if this script is killed.
        ln -sfn "$dir" "$LAB_STATE/$1"
        if mkdir -m 700 "$dir" 2>/dev/null; then
            printf '%s' "$dir"
            return
        fi
    done
    die "cannot create a folder in $base."
}

# short_dir_now LINK: prints the folder, if there is one.
short_dir_now() { readlink "$LAB_STATE/$1" || true; }

remove_short_dir() { # LINK
    local dir
    dir=$(short_dir_now "$1")
    [[ -z $dir || ! -O $dir ]] || rm -rf "$dir"
    rm -f "$LAB_STATE/$1"
}
