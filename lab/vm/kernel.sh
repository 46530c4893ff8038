# The guests' kernel: LAB_KERNEL, otherwise a kernel of the guests' root if it has the modules, otherwise the distribution's full kernel
# package, unpacked under build/lab/kernel (or the root's folder there) without root and without installing it.
# Sets KERNEL_IMAGE, KERNEL_MODULES (the folder whose name is the version) and KERNEL_VERSION.
# shellcheck shell=bash

# The modules for a guest. rxe requests "crc32" from the kernel's crypto layer by name. Without one of the two crc32 modules, its only
# message is `failed to add eth0`.
GUEST_MODULE_NAMES=(virtio_pci virtio_net virtio_rng 9p 9pnet_virtio overlay crc32_generic crc32_pclmul
    rdma_rxe rdma_ucm ib_uverbs ib_umad)
# In kernel 6.16 and later, crc32 is a library; some kernels have it built in.
GUEST_MODULES_OPTIONAL=' crc32_generic crc32_pclmul '

find_kernel() {
    if [[ -n $LAB_KERNEL$LAB_MODULES ]]; then
        named_kernel
    elif ! host_kernel && ! cached_kernel; then
        download_kernel
        cached_kernel || die "the kernel package has no rdma_rxe module: see $ROOT_STATE/kernel."
    fi
}

named_kernel() {
    [[ -n $LAB_KERNEL && -n $LAB_MODULES ]] || usage_error "set LAB_KERNEL and LAB_MODULES together, or neither."
    [[ -r $LAB_KERNEL ]] || die "LAB_KERNEL=$LAB_KERNEL cannot be read."
    [[ -d $LAB_MODULES ]] || die "LAB_MODULES=$LAB_MODULES is not a folder."
    use_kernel "$(realpath "$LAB_KERNEL")" "$(realpath "$LAB_MODULES")" ||
        die "LAB_MODULES=$LAB_MODULES lacks the module $MISSING_MODULE (it must be a /lib/modules/VERSION folder, with depmod run)."
}

# A kernel of the guests' root needs no download. On Ubuntu, only root can read the kernel images.
host_kernel() { kernel_below "$SYSROOT"; }

cached_kernel() { kernel_below "$ROOT_STATE/kernel"; }

# kernel_below ROOT: uses the first kernel of that file system that has all modules. The image is in /boot or, in Debian's packages
# since Linux 7, in the folder of the modules.
kernel_below() {
    local modules image
    for modules in "$1"/lib/modules/*/; do
        modules=$(realpath -- "$modules" 2>/dev/null) || continue
        for image in "$1/boot/vmlinuz-${modules##*/}" "$modules/vmlinuz"; do
            if [[ -r $image ]] && use_kernel "$image" "$modules"; then
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
    # depmod reads lib/modules; newer versions read usr/lib/modules.
    ln -s usr/lib "$ROOT_STATE/kernel.new/lib"
    depmod -b "$ROOT_STATE/kernel.new" "${KERNEL_PACKAGE#linux-image-}"
    mv "$ROOT_STATE/kernel.new" "$ROOT_STATE/kernel"
    rm -f "$debs"/linux-*.deb
}

# Sets KERNEL_PACKAGES to KERNEL_PACKAGE and the packages of the same version with the files that it lacks.
find_kernel_packages() {
    local name
    find_kernel_package
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
