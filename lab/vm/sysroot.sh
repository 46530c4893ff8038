# LAB_SYSROOT: the guests run another root than this machine's. Their programs are built in it, below build/sysroot-NAME, which the guests
# and the compiler see as build.
# shellcheck shell=bash

. "$LAB_ROOT/lab/lib/debian.sh"

# use_sysroot VALUE: sets the variables for a value of LAB_SYSROOT; / and an empty value are this machine's root.
# A Debian release is SUITE[:ARCHITECTURE][+PACKAGE…].
#   SYSROOT         the folder; empty: this machine's root
#   SYSROOT_SUITE   the Debian release; empty: a folder of the user
#   SYSROOT_MORE    the packages that the release has beside those of the lab, each after a comma
#   SYSROOT_NAME    the value in its full form, as vm.state has it: /, /srv/root or trixie:amd64
#   SYSROOT_BUILD   the folder of the programs, relative to the checkout; empty: LAB_BUILD
#   ROOT_STATE      the folder for kernel, layer and initramfs
use_sysroot() {
    local value=$1 arch=$HOST_ARCH id
    SYSROOT='' SYSROOT_SUITE='' SYSROOT_MORE='' SYSROOT_NAME=/ SYSROOT_BUILD='' ROOT_STATE=$LAB_STATE apt_options=()
    if [[ $value == */* ]]; then
        [[ -d $value ]] ||
            usage_error "LAB_SYSROOT=$value is not a folder: give the folder of a root file system, or a Debian release such as trixie or bookworm:arm64."
        SYSROOT=$(realpath -- "$value")
        SYSROOT_NAME=$SYSROOT
        id=${SYSROOT##*/}-$(printf %s "$SYSROOT" | cksum | cut -d ' ' -f 1)
        [[ $SYSROOT != / ]] || SYSROOT=
        [[ -z $SYSROOT ]] || arch=$(arch_of_root "$SYSROOT") ||
            usage_error "LAB_SYSROOT=$value has no usr/bin/env for amd64 or arm64: give the folder of a root file system."
    elif [[ -n $value ]]; then
        [[ $value =~ ^([a-z][a-z-]*)(:([a-z0-9]+))?((\+[a-z0-9][a-z0-9.-]+)*)$ ]] ||
            usage_error "LAB_SYSROOT is a folder with a / in its name, or a Debian release such as trixie, bookworm:arm64 or forky+python3-torch, not '$value'."
        SYSROOT_SUITE=${BASH_REMATCH[1]} arch=${BASH_REMATCH[3]:-$HOST_ARCH} SYSROOT_MORE=${BASH_REMATCH[4]//+/,}
        SYSROOT_NAME=$SYSROOT_SUITE:$arch${BASH_REMATCH[4]} id=$SYSROOT_SUITE-$arch${BASH_REMATCH[4]}
        SYSROOT=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/rdma-wire-lab/$id
    fi
    use_arch "$arch" || [[ -z $SYSROOT ]] || usage_error "LAB_SYSROOT=$value: the guests' architecture is amd64 or arm64, not '$arch'."
    [[ -n $SYSROOT ]] || return 0
    [[ $LAB_BUILD == build || $LAB_BUILD == build/* ]] || usage_error "LAB_SYSROOT needs LAB_BUILD to be build or a folder below it, not '$LAB_BUILD'."
    SYSROOT_BUILD=build/sysroot-$id ROOT_STATE=$LAB_STATE/$id
    # Its package lists are private: those of this machine are of another release.
    apt_options=(-o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State::status=$SYSROOT/var/lib/dpkg/status"
        -o "Dir::Etc::SourceList=$SYSROOT/etc/apt/sources.list" -o "Dir::Etc::SourceParts=$SYSROOT/etc/apt/sources.list.d"
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
}

# arch_of_root ROOT: prints the architecture of its programs, from the ELF header of one that every root has.
arch_of_root() {
    local machine
    machine=$(od -An -j 18 -N 2 -t u2 "$1/usr/bin/env" 2>/dev/null) || return 1
    case $((machine)) in
        62) printf amd64 ;;
        183) printf arm64 ;;
        *) return 1 ;;
    esac
}

# sysroot_text: prints what the guests run, for messages.
sysroot_text() {
    if [[ -z $SYSROOT ]]; then
        printf "this machine's root (%s)" "$GUEST_ARCH"
    elif [[ -n $SYSROOT_SUITE ]]; then
        printf 'Debian %s (%s)%s' "$SYSROOT_SUITE" "$GUEST_ARCH" "${SYSROOT_MORE:+ with${SYSROOT_MORE//,/ }}"
    else
        printf '%s (%s)' "$SYSROOT" "$GUEST_ARCH"
    fi
}

# prepare_sysroot: creates the root if it is a Debian release, and checks that it has what the lab needs.
prepare_sysroot() {
    [[ -n $SYSROOT ]] || return 0
    need_emulator
    [[ -z $SYSROOT_SUITE || -e $SYSROOT/etc/debian_version ]] || make_sysroot
    check_sysroot
    mkdir -p "$ROOT_STATE" "$LAB_ROOT/$SYSROOT_BUILD/guests"
}

# Programs of another architecture run here if the kernel starts them with QEMU. F: also in another root.
need_emulator() {
    local machine=x86_64
    is_emulated || return 0
    [[ $GUEST_ARCH != arm64 ]] || machine=aarch64
    grep -qs '^flags:.*F' "/proc/sys/fs/binfmt_misc/qemu-$machine" ||
        die "this machine cannot run programs for $GUEST_ARCH, which LAB_SYSROOT=$SYSROOT_NAME needs: install the packages qemu-user-static and binfmt-support (/proc/sys/fs/binfmt_misc then has qemu-$machine)."
}

# sysroot_packages: prints the packages of a Debian root for the guests, separated by commas.
sysroot_packages() { awk '$1 ~ /^(build|gloo|guest)$/ { sub(/\|.*/, "", $2); print $2 }' "$LAB_ROOT/lab/packages" | sort -u | paste -sd,; }

# make_sysroot: creates the root of a Debian release, once for all checkouts of this user. An ordinary user unpacks it as its owner.
make_sysroot() {
    local new=$SYSROOT.new log=$SYSROOT.log lock
    command -v mmdebstrap >/dev/null || die "mmdebstrap, which creates the root of $SYSROOT_NAME, is missing: install the package mmdebstrap."
    mkdir -p "${SYSROOT%/*}" || die "cannot create the folder ${SYSROOT%/*} for the root of $SYSROOT_NAME: set XDG_CACHE_HOME to another folder."
    exec {lock}>"$SYSROOT.lock"
    until flock -n "$lock"; do
        pause 0.2
    done
    [[ ! -e $SYSROOT/etc/debian_version ]] || return 0 # made meanwhile
    MAKES_SYSROOT=1
    say "creating a root of Debian $SYSROOT_SUITE${SYSROOT_MORE:+ with${SYSROOT_MORE//,/ }} for $GUEST_ARCH, once ($SYSROOT)"
    rm -rf --one-file-system "$new" "$new.tar"
    bootstrap_command "$SYSROOT_SUITE" "$new.tar" "--architectures=$GUEST_ARCH" "--include=$(sysroot_packages)$SYSROOT_MORE"
    interruptible bootstrap >"$log" 2>&1 ||
        die "mmdebstrap cannot create a root of Debian $SYSROOT_SUITE for $GUEST_ARCH: $(grep -m1 '^E:' "$log" || tail -n 1 "$log") ($log)."
    mkdir "$new"
    interruptible tar -C "$new" --exclude='./dev/*' -xf "$new.tar" || die "cannot unpack the root of Debian $SYSROOT_SUITE in $new (see above)."
    rm -rf --one-file-system "$new.tar" "$SYSROOT"
    mv "$new" "$SYSROOT"
    MAKES_SYSROOT=
    exec {lock}>&-
}

# bootstrap: executes BOOTSTRAP, which must not hold the lab's locks.
bootstrap() {
    close_inherited
    in_group "${BOOTSTRAP[@]}"
}

# in_group PROGRAM ARG...: replaces this process by one that runs the program, and passes SIGTERM to all of the program's processes.
# mmdebstrap ignores a signal that only its first process gets, and an emulated compiler would run on for minutes after make has ended.
in_group() {
    # shellcheck disable=SC2016 # expanded in the other shell
    exec setsid --wait bash -c 'trap "trap \"\" TERM; kill 0; wait" TERM; "$@" & wait "$!"' - "$@"
}

# Programs that the guests and the build need, and their packages.
SYSROOT_NEEDS=(bash:bash make:make g++:g++ sshd:openssh-server ip:iproute2 rdma:iproute2 busybox:busybox-static)

check_sysroot() {
    local need path lacks='' packages=''
    for need in "${SYSROOT_NEEDS[@]}"; do
        for path in "$SYSROOT"/{usr/bin,usr/sbin,bin,sbin}/"${need%:*}"; do
            # An absolute link is valid only within the root.
            [[ ! -x $path && ! -L $path ]] || continue 2
        done
        lacks+="${lacks:+, }${need%:*}"
        [[ " $packages " == *" ${need#*:} "* ]] || packages+="${packages:+ }${need#*:}"
    done
    [[ -z $lacks ]] ||
        die "the root $SYSROOT lacks $lacks: install there $packages, or all packages of the groups build and guest in lab/packages."
}

# in_sysroot COMMAND...: replaces this process by the command, which runs in the checkout within the root; without another root, here.
in_sysroot() {
    local as=()
    [[ -n $SYSROOT ]] || exec "$@"
    ((EUID == 0)) || as=(--map-root-user)
    in_group unshare "${as[@]}" --mount -- \
        "$LAB_ROOT/lab/vm/enter-root" "$SYSROOT" "$LAB_ROOT" "$LAB_ROOT/$SYSROOT_BUILD" "$@"
}

# cross_compiler: prints this machine's compiler for the root's architecture; fails if there is none with the version of the root's own,
# whose libraries the programs need. An emulated compiler takes ten times as long.
cross_compiler() {
    local name=aarch64-linux-gnu-g++ own
    is_emulated || return 1
    [[ $GUEST_ARCH == arm64 ]] || name=x86_64-linux-gnu-g++
    own=$(readlink "$SYSROOT/usr/bin/g++") && command -v "$name" >/dev/null && [[ $own == g++-$("$name" -dumpversion) ]] || return 1
    # make would take a space in the name of the root for the end of the option.
    [[ $SYSROOT != *[[:space:]]* ]] && printf %s "$name"
}

# make_for_sysroot ARG...: replaces this process by make for the root's programs: in the root or, with a cross compiler, on this machine,
# where the root's folder of programs then also is `build`.
make_for_sysroot() {
    local compiler as=()
    compiler=$(cross_compiler) || in_sysroot make "$@"
    ((EUID == 0)) || as=(--map-root-user)
    # shellcheck disable=SC2016 # expanded in the other shell
    in_group unshare "${as[@]}" --mount -- bash -c 'cd "$1" && mount --bind "$2" build && exec make "${@:3}"' - "$LAB_ROOT" \
        "$LAB_ROOT/$SYSROOT_BUILD" "CXX=$compiler --sysroot=$SYSROOT" "AR=${compiler%g++}ar" "$@"
}

# check_asked_sysroot: exits if the running guests have another root than the one that LAB_SYSROOT asks for.
check_asked_sysroot() {
    local running=$SYSROOT_NAME text
    [[ -n $LAB_SYSROOT ]] || return 0
    text=$(sysroot_text)
    use_sysroot "$LAB_SYSROOT"
    [[ $SYSROOT_NAME == "$running" ]] ||
        die "the guests run $text, but LAB_SYSROOT=$LAB_SYSROOT is requested: run LAB_SYSROOT=$LAB_SYSROOT lab/lab up first."
}
