# The guests' kernels: those of LAB_KERNEL; otherwise a kernel of the guests' root if it has the modules, otherwise the distribution's full
# kernel package, unpacked under build/lab/kernel (or the root's folder there) without root and without installing it.
# shellcheck shell=bash

# The modules for a guest. rxe requests "crc32" from the kernel's crypto layer by name. Without one of the two crc32 modules, its only
# message is `failed to add eth0`.
GUEST_MODULE_NAMES=(virtio_pci virtio_net virtio_rng 9p 9pnet_virtio overlay crc32_generic crc32_pclmul
    rdma_rxe rdma_ucm ib_uverbs ib_umad)
# In kernel 6.16 and later, crc32 is a library; some kernels have it built in.
GUEST_MODULES_OPTIONAL=' crc32_generic crc32_pclmul '

# LAB_KERNEL is a list, separated by commas: KERNEL for all hosts, HOST=KERNEL for one. A KERNEL is the start of a version (6.12), a
# Debian release (trixie-backports), a package (linux-image-…), the file of an image, a folder with boot/ and lib/modules/, or default.

# check_kernels: exits if LAB_KERNEL or LAB_MODULES is invalid, or names a file that cannot be used.
check_kernels() {
    local entry kernel entries host
    IFS=, read -ra entries <<<"$LAB_KERNEL"
    for entry in "${entries[@]}"; do
        kernel=$entry
        if [[ $entry =~ ^[a-z]+[0-9]*= ]]; then
            host=${entry%%=*}
            [[ $host =~ ^(server|client([2-9]|1[0-5])?)$ ]] ||
                usage_error "LAB_KERNEL=$LAB_KERNEL: '$host' is not a host: the hosts are server, client, client2 and so on."
            ((${BASH_REMATCH[2]:-1} <= LAB_CLIENTS)) ||
                usage_error "LAB_KERNEL=$LAB_KERNEL is for $host, and the lab has $LAB_CLIENTS client(s): set LAB_CLIENTS."
            kernel=${entry#*=}
        fi
        if [[ $kernel == */* ]]; then
            [[ -r $kernel ]] || die "LAB_KERNEL=$LAB_KERNEL: $kernel cannot be read."
            [[ -d $kernel || -n $LAB_MODULES ]] ||
                usage_error "LAB_KERNEL=$LAB_KERNEL is a kernel image: set LAB_MODULES to its folder /lib/modules/VERSION."
        elif [[ ! $kernel =~ ^([0-9]+\.[0-9][A-Za-z0-9.+~-]*|linux-image-[a-z0-9.+~-]+|[a-z][a-z-]*)$ ]]; then
            usage_error "LAB_KERNEL is a version such as 6.12, a Debian release, a package linux-image-…, or a path with a /; for one host server=6.12. '$entry' is none of these."
        fi
    done
    [[ -z $LAB_MODULES || $LAB_KERNEL == */* ]] || usage_error "LAB_MODULES is for a kernel image: set LAB_KERNEL to its path."
    [[ -z $LAB_MODULES || -d $LAB_MODULES ]] || die "LAB_MODULES=$LAB_MODULES is not a folder."
}

# kernel_wanted HOST: prints the kernel that LAB_KERNEL asks for; the last entry for the host counts.
kernel_wanted() {
    local entry kernel=default entries
    IFS=, read -ra entries <<<"$LAB_KERNEL"
    for entry in "${entries[@]}"; do
        if [[ $entry == "$1="* ]]; then
            kernel=${entry#*=}
        elif [[ ! $entry =~ ^[a-z0-9]+= ]]; then
            kernel=$entry
        fi
    done
    if [[ $kernel == */* ]]; then realpath -m -- "$kernel"; else printf %s "$kernel"; fi
}

# kernels_wanted HOST...: prints what LAB_KERNEL asks for, in the form of vm.state.
kernels_wanted() {
    local host text=''
    for host; do
        text+="${text:+,}$host=$(kernel_wanted "$host")"
    done
    printf %s "$text"
}

# check_asked_kernel: exits if the running guests have other kernels than LAB_KERNEL asks for.
check_asked_kernel() {
    [[ -z $LAB_KERNEL || $(kernels_wanted "${LAB_HOSTS[@]}") == "$(state_value KERNEL)" ]] ||
        die "the guests run kernel $(state_value VERSION), but LAB_KERNEL=$LAB_KERNEL is requested: run LAB_KERNEL=$LAB_KERNEL lab/lab up first."
}

# find_kernels: finds the kernel of each host, and unpacks it. use_kernel_of HOST then sets
#   KERNEL_MODULES   the folder whose name is the version
#   KERNEL_VERSION
#   KERNEL_STATE     the folder for the files below
#   BOOT_IMAGE       what QEMU starts
#   INITRAMFS        which make_initramfs creates
find_kernels() {
    local host
    KERNELS=()
    for host in "${LAB_HOSTS[@]}"; do
        find_kernel "$(kernel_wanted "$host")"
        stop_if_told
        unpack_kernel
        KERNELS[$host]=$KERNEL_MODULES$'\n'$KERNEL_STATE$'\n'$BOOT_IMAGE
    done
}
declare -gA KERNELS=()

use_kernel_of() { # HOST
    { read -r KERNEL_MODULES && read -r KERNEL_STATE && read -r BOOT_IMAGE; } <<<"${KERNELS[$1]}"
    KERNEL_VERSION=${KERNEL_MODULES##*/} INITRAMFS=$KERNEL_STATE/initramfs.cpio
}

# kernels_text: prints the version of the guests' kernel; that of each guest if they differ.
kernels_text() {
    local host text='' first=''
    for host in "${LAB_HOSTS[@]}"; do
        use_kernel_of "$host"
        text+="${text:+, }$host $KERNEL_VERSION"
        [[ $KERNEL_VERSION == "${first:=$KERNEL_VERSION}" ]] || first=different
    done
    if [[ $first == different ]]; then printf %s "$text"; else printf %s "$first"; fi
}

# find_kernel KERNEL: sets KERNEL_IMAGE, KERNEL_MODULES, KERNEL_VERSION, and KERNEL_STATE, the folder for its files.
find_kernel() {
    if [[ $1 == default ]]; then
        if ! host_kernel && ! cached_kernel; then
            download_kernel
            cached_kernel || die "the kernel package has no rdma_rxe module: see $ROOT_STATE/kernel."
        fi
        KERNEL_STATE=$ROOT_STATE
        return
    fi
    if [[ $1 == */* ]]; then
        kernel_at "$1"
    else
        debian_kernel "$1"
    fi
    KERNEL_STATE=$ROOT_STATE/kernels/$KERNEL_VERSION
    mkdir -p "$KERNEL_STATE"
}

# kernel_at PATH: uses the image there with the modules of LAB_MODULES, or the kernel of the file system there.
kernel_at() {
    MISSING_MODULE=
    if [[ -d $1 ]]; then
        kernel_below "$1" ||
            die "LAB_KERNEL=$1 has no kernel for a guest: it needs boot/vmlinuz-VERSION and lib/modules/VERSION${MISSING_MODULE:+ with the module $MISSING_MODULE}."
    else
        use_kernel "$1" "$(realpath "$LAB_MODULES")" ||
            die "LAB_MODULES=$LAB_MODULES lacks the module $MISSING_MODULE (it must be a /lib/modules/VERSION folder, with depmod run)."
    fi
}

# finish_kernel ROOT VERSION: makes unpacked packages a root that kernel_below can use.
finish_kernel() {
    # depmod reads lib/modules; newer versions read usr/lib/modules.
    ln -s usr/lib "$1/lib"
    depmod -b "$1" "$2"
}

# A kernel of the guests' root needs no download. On Ubuntu, only root can read the kernel images.
host_kernel() { kernel_below "$SYSROOT"; }

cached_kernel() { kernel_below "$ROOT_STATE/kernel"; }

# is_version VERSION START: whether the version is START or continues it: 6.12.107+deb13 is 6.12, and not 6.1.
is_version() { [[ $1 == "$2" || $1 == "$2"[.+~-]* ]]; }

# kernel_below ROOT [START]: uses the first kernel of that file system that has all modules, and a version that starts so. The image is in
# /boot or, in Debian's packages since Linux 7, in the folder of the modules.
kernel_below() {
    local modules image
    for modules in "$1"/lib/modules/*/; do
        modules=$(realpath -- "$modules" 2>/dev/null) || continue
        for image in "$1/boot/vmlinuz-${modules##*/}" "$modules/vmlinuz"; do
            if [[ -r $image ]] && is_version "${modules##*/}" "${2:-${modules##*/}}" && use_kernel "$image" "$modules"; then
                return 0
            fi
        done
    done
    return 1
}

# use_kernel IMAGE MODULES: uses this kernel if it has all modules that a guest needs.
use_kernel() {
    local name
    KERNEL_IMAGE=$1 KERNEL_MODULES=$2 KERNEL_VERSION=${2##*/}
    for name in "${GUEST_MODULE_NAMES[@]}"; do
        [[ $GUEST_MODULES_OPTIONAL == *" $name "* ]] && continue
        if ! module_known "$name"; then
            MISSING_MODULE=$name
            return 1
        fi
    done
}

# Whether the module exists as a file or is built in. In modules.dep and modules.builtin, names have - or _ as in the file's name.
module_known() {
    grep -qsE "(^|/)${1//_/[-_]}\.ko" "$KERNEL_MODULES/modules.dep" "$KERNEL_MODULES/modules.builtin"
}

download_kernel() {
    local debs=$ROOT_STATE/debs
    command -v apt-get >/dev/null ||
        die "this host has no readable kernel with rdma_rxe, and no apt-get to download one: set LAB_KERNEL and LAB_MODULES."
    # For the packages and their unpacked files, which take 400 MB.
    need_space 600 "the guests' kernel"
    find_kernel_packages
    say "fetching the kernel package $KERNEL_PACKAGE ($(download_megabytes "${KERNEL_PACKAGES[@]}") MB, once)"
    if ! try_fetch_packages "$debs" "${KERNEL_PACKAGES[@]}"; then
        # Old package lists name a kernel that the mirror no longer has.
        use_private_lists || true
        find_kernel_packages
        fetch_packages "$debs" "${KERNEL_PACKAGES[@]}"
    fi
    rm -rf "$ROOT_STATE/kernel.new" "$ROOT_STATE/kernel"
    unpack_packages "$ROOT_STATE/kernel.new" "$debs"/linux-*.deb
    finish_kernel "$ROOT_STATE/kernel.new" "${KERNEL_PACKAGE#linux-image-}"
    mv "$ROOT_STATE/kernel.new" "$ROOT_STATE/kernel"
    rm -f "$debs"/linux-*.deb
}

# Sets KERNEL_PACKAGES to the packages of the distribution's kernel.
find_kernel_packages() {
    find_kernel_package
    add_kernel_parts
}

# Sets KERNEL_PACKAGES to KERNEL_PACKAGE and the packages of the same version with the files that it lacks.
add_kernel_parts() {
    local name
    KERNEL_PACKAGES=("$KERNEL_PACKAGE")
    # Debian since Linux 7: the image is in linux-binary, the list of built-in modules in linux-base. Ubuntu: rdma_rxe is in
    # linux-modules-extra, since 25.04 in linux-modules.
    for name in binary base modules modules-extra; do
        name=linux-$name-${KERNEL_PACKAGE#linux-image-}
        if package_known "$name"; then
            KERNEL_PACKAGES+=("$name")
        fi
    done
}

# Sets KERNEL_PACKAGE to the package that the distribution's metapackage for the full kernel depends on. Debian's cloud kernel and
# Ubuntu's -kvm kernel have no rdma_rxe.
find_kernel_package() {
    local meta
    for meta in "$KERNEL_META" linux-image-generic; do
        KERNEL_PACKAGE=$(grep -m1 -E '^linux-image-[0-9]' <<<"$(package_depends "$meta")") && return
    done
    # The host has no package lists, as in container images.
    if use_private_lists; then
        find_kernel_package
    else
        die "apt has no $KERNEL_META or linux-image-generic package: set LAB_KERNEL and LAB_MODULES."
    fi
}
