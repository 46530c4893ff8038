# The guests' kernel: LAB_KERNEL, else the host's own one if it can do the work, else the distribution's full
# kernel package, unpacked under build/lab/kernel without root and without installing it.
# Sets KERNEL_IMAGE, KERNEL_MODULES (the folder named as the version) and KERNEL_VERSION.
# shellcheck shell=bash

# What a guest needs. rxe wants "crc32" from the kernel's crypto layer and asks for it by name only: without
# one of the two modules it says `failed to add eth0` and nothing else.
GUEST_MODULE_NAMES=(virtio_pci virtio_net virtio_rng 9p 9pnet_virtio overlay crc32_generic crc32_pclmul
    rdma_rxe rdma_ucm ib_uverbs ib_umad)
# Kernels from 6.16 on have crc32 as a library, and some build it in.
GUEST_MODULES_OPTIONAL=' crc32_generic crc32_pclmul '

find_kernel() {
    if [[ -n $LAB_KERNEL$LAB_MODULES ]]; then
        named_kernel
    elif ! host_kernel && ! cached_kernel; then
        download_kernel
        cached_kernel || die "the kernel package has no rdma_rxe module: see $LAB_STATE/kernel."
    fi
}

named_kernel() {
    [[ -n $LAB_KERNEL && -n $LAB_MODULES ]] || usage_error "LAB_KERNEL and LAB_MODULES go together."
    [[ -r $LAB_KERNEL ]] || die "LAB_KERNEL=$LAB_KERNEL cannot be read."
    [[ -d $LAB_MODULES ]] || die "LAB_MODULES=$LAB_MODULES is not a folder."
    use_kernel "$(realpath "$LAB_KERNEL")" "$(realpath "$LAB_MODULES")" ||
        die "LAB_MODULES=$LAB_MODULES lacks the module $MISSING_MODULE (it must be a /lib/modules/VERSION folder, with depmod run)."
}

# The host's own kernels: nothing to download. Ubuntu's images are readable by root only.
host_kernel() { kernel_below ''; }

cached_kernel() { kernel_below "$LAB_STATE/kernel"; }

# kernel_below ROOT: take the first kernel of that file system that has every module. The image is in /boot or, in Debian's
# packages from Linux 7 on, beside the modules.
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

# use_kernel IMAGE MODULES: take this kernel if every module a guest needs is there.
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

# As a file or built in. modules.dep and modules.builtin write names with - and _ as the file has them.
module_known() {
    grep -qsE "(^|/)${1//_/[-_]}\.ko" "$KERNEL_MODULES/modules.dep" "$KERNEL_MODULES/modules.builtin"
}

download_kernel() {
    local debs=$LAB_STATE/debs
    command -v apt-get >/dev/null ||
        die "this host has no readable kernel with rdma_rxe, and no apt-get to download one: set LAB_KERNEL and LAB_MODULES."
    # The packages, and their files: 400 MB of these.
    need_space 600 "the guests' kernel"
    find_kernel_packages
    say "fetching the kernel package $KERNEL_PACKAGE ($(download_megabytes "${KERNEL_PACKAGES[@]}") MB, once)"
    if ! try_fetch_packages "$debs" "${KERNEL_PACKAGES[@]}"; then
        # Old package lists name a kernel that the mirror has no longer.
        use_private_lists || true
        find_kernel_packages
        fetch_packages "$debs" "${KERNEL_PACKAGES[@]}"
    fi
    rm -rf "$LAB_STATE/kernel.new" "$LAB_STATE/kernel"
    unpack_packages "$LAB_STATE/kernel.new" "$debs"/linux-*.deb
    # depmod looks below lib/modules or, newer ones, usr/lib/modules.
    ln -s usr/lib "$LAB_STATE/kernel.new/lib"
    depmod -b "$LAB_STATE/kernel.new" "${KERNEL_PACKAGE#linux-image-}"
    mv "$LAB_STATE/kernel.new" "$LAB_STATE/kernel"
    rm -f "$debs"/linux-*.deb
}

# KERNEL_PACKAGES: KERNEL_PACKAGE and those of its version that hold what it lacks.
find_kernel_packages() {
    local name
    find_kernel_package
    KERNEL_PACKAGES=("$KERNEL_PACKAGE")
    # Debian, from Linux 7 on: the image is in linux-binary, the list of built-in modules in linux-base. Ubuntu: rdma_rxe is in
    # linux-modules-extra, or in linux-modules from 25.04 on.
    for name in binary base modules modules-extra; do
        name=linux-$name-${KERNEL_PACKAGE#linux-image-}
        if package_known "$name"; then
            KERNEL_PACKAGES+=("$name")
        fi
    done
}

# The package that the distribution's "the current full kernel" package depends on, in KERNEL_PACKAGE. Debian's
# cloud kernel has no rdma_rxe, nor has Ubuntu's -kvm one.
find_kernel_package() {
    local meta
    for meta in linux-image-amd64 linux-image-generic; do
        KERNEL_PACKAGE=$(grep -m1 -E '^linux-image-[0-9]' <<<"$(package_depends "$meta")") && return
    done
    # A host without package lists, as container images are.
    if use_private_lists; then
        find_kernel_package
    else
        die "apt has no linux-image-amd64 or linux-image-generic package: set LAB_KERNEL and LAB_MODULES."
    fi
}
