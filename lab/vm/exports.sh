# The 9p exports of this machine to a guest: the folders of programs and libraries of its root, the checkout, the folder of LAB_PROJECT,
# its role's certificate, all read-only; and one folder that it may write. Root in a guest can mount all exports of its QEMU, so files that
# a guest must not read are in no export.
# shellcheck shell=bash

# Files in /etc that programs and libraries need, without any that identify the users of this machine.
GUEST_ETC=(alternatives crypto-policies debian_version default/locale ethertypes gai.conf host.conf inputrc iproute2 ld.so.cache
    ld.so.conf ld.so.conf.d libibverbs.d locale.alias localtime magic nsswitch.conf os-release perl pki/tls/openssl.cnf protocols
    python3 rdma rpc services ssl/openssl.cnf terminfo timezone wireshark)

# The only folder of this machine that the guests can write.
guest_folder() { printf '%s' "$LAB_ROOT/build/guests"; }

own_dir() { printf '%s' "$LAB_RUN/guest/$1"; }

# system_folders: prints the folders of programs and libraries. If /bin and others are links into /usr, the guest has the same links.
system_folders() {
    local name
    for name in usr bin sbin lib lib32 lib64 libx32; do
        [[ ! -d $SYSROOT/$name || -L $SYSROOT/$name ]] || printf '%s\n' "$name"
    done
}

# find_project: sets PROJECT to the real path of LAB_PROJECT. It is empty if the guests see this folder as a part of the checkout.
find_project() {
    PROJECT=
    [[ -n $LAB_PROJECT ]] || return 0
    [[ -d $LAB_PROJECT ]] || usage_error "LAB_PROJECT=$LAB_PROJECT is not a folder."
    PROJECT=$(realpath -- "$LAB_PROJECT")
    if [[ $PROJECT/ == "$LAB_ROOT"/* ]]; then
        PROJECT=
    elif [[ $PROJECT =~ ^/((dev|proc|sys)(/.*)?|bin|etc|lib[^/]*|run|sbin|tmp|usr|var)?$ ]]; then
        usage_error "LAB_PROJECT=$LAB_PROJECT is a folder of the system, which the guests have themselves: set it to your project's folder."
    elif [[ ${HOME:-}/ == "$PROJECT"/* || $PROJECT =~ ^/(root|home(/[^/]*)?)$ ]]; then
        usage_error "LAB_PROJECT=$LAB_PROJECT contains a home folder, which the guests must not read: set it to your project's folder."
    fi
}

# check_project: exits if the running guests do not see the folder of LAB_PROJECT.
check_project() {
    find_project
    [[ -z $PROJECT || $PROJECT == "$(state_value PROJECT)" ]] ||
        die "the guests do not see $PROJECT: run LAB_PROJECT=$PROJECT lab/lab up first."
}

# prepare_exports: creates the folders for the guests. Sets CERTS_DIR.
prepare_exports() {
    local host
    CERTS_DIR=$(private_certs "$LAB_ROOT") || die "cannot create a private folder for the certificates (below \$HOME or /var/tmp)."
    mkdir -p "$(guest_folder)" 2>/dev/null || die "cannot create the folder $(guest_folder)."
    if ((EUID != 0)) && [[ ! -w $(guest_folder) ]]; then
        die "cannot write $(guest_folder) (owner: $(stat -c %U "$(guest_folder)")): use the lab as the user who owns the checkout."
    fi
    give_to_qemu "$(guest_folder)"
    [[ -z $SYSROOT ]] || ln -sfn "$CERTS_DIR" "$LAB_ROOT/$SYSROOT_BUILD/certs"
    make_guest_root
    for host in "${LAB_HOSTS[@]}"; do
        make_own_dir "$host"
    done
}

# make_guest_root: creates root.tar, the guests' root before anything is mounted in it.
make_guest_root() {
    local tree=$LAB_RUN/root name
    rm -rf "$tree"
    mkdir -p "$tree"/{dev,etc,home,mnt,proc,root,run,sys,tmp,usr} "$tree"/var/{cache,lib,log,spool} "$LAB_RUN/guest"
    ln -s ../run "$tree/var/run"
    ln -s ../tmp "$tree/var/tmp"
    for name in bin sbin lib lib32 lib64 libx32; do
        [[ ! -L $SYSROOT/$name ]] || ln -s "$(readlink "$SYSROOT/$name" | sed 's|^/*||')" "$tree/$name"
    done
    for name in "${GUEST_ETC[@]}"; do
        [[ ! -e $SYSROOT/etc/$name && ! -L $SYSROOT/etc/$name ]] || (cd "$SYSROOT/" && cp -a --parents "etc/$name" "$tree" 2>/dev/null) || true
    done
    tar -C "$tree" --owner=0 --group=0 --numeric-owner -cf "$LAB_RUN/guest/root.tar" .
    rm -rf "$tree"
}

# make_own_dir HOST: creates the folder that only this guest sees: its settings, its root's files, and the keys of its sshd.
make_own_dir() {
    local dir
    dir=$(own_dir "$1")
    mkdir -p "$dir"
    guest_config "$1" >"$dir/config"
    cp "$LAB_RUN"/guest/{root.tar,host_key,authorized_keys} "$dir/"
    give_to_qemu "$dir"
}

# open_exports HOST: sets EXPORTS to the options for QEMU, after use_kernel_of HOST. Each folder is opened here and passed as a descriptor, so that QEMU needs no
# access to its parent folders.
open_exports() {
    local name
    EXPORTS=()
    for name in $(system_folders); do
        open_export "$name" "$SYSROOT/$name" readonly=on
    done
    open_export own "$(own_dir "$1")" readonly=on
    open_export repo "$LAB_ROOT" readonly=on
    [[ -z $PROJECT ]] || open_export project "$PROJECT" readonly=on
    open_export modules "$KERNEL_MODULES" readonly=on
    open_export certs "$CERTS_DIR/guests/${1%%[0-9]*}" readonly=on
    # All that a guest creates there is an ordinary file here: a real symbolic link could redirect a program of this machine.
    open_export shared "$(guest_folder)" fmode=0644,dmode=0755 mapped-file
}

open_export() { # TAG FOLDER OPTIONS [SECURITY-MODEL]
    local fd
    exec {fd}<"$2"
    EXPORTS+=(-fsdev "local,id=$1,path=/proc/self/fd/$fd,security_model=${4:-none},$3,multidevs=remap"
        -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
