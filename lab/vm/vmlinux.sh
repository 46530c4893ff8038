# The guests' kernel in the format that QEMU starts. A distribution's vmlinuz is compressed and unpacks itself on the guest's CPU, which
# under software emulation takes longer than the rest of the boot. The lab unpacks it on the host, and QEMU starts the ELF file directly
# (PVH).
# shellcheck shell=bash

# Sets BOOT_IMAGE to an ELF file in KERNEL_STATE, or to the compressed image if it has no PVH entry or an unknown format.
unpack_kernel() {
    local key
    BOOT_IMAGE=$KERNEL_STATE/vmlinux
    key="$(realpath -- "$KERNEL_IMAGE") $(stat -Lc '%s %Y' -- "$KERNEL_IMAGE") $(cksum <"$LAB_ROOT/lab/vm/vmlinux.sh")"
    if [[ ! -e $BOOT_IMAGE.key || $(<"$BOOT_IMAGE.key") != "$key" ]]; then
        rm -f "$BOOT_IMAGE" "$BOOT_IMAGE.key"
        need_space 80 "the guests' unpacked kernel"
        if ! vmlinux "$KERNEL_IMAGE" | write_file "$BOOT_IMAGE" || ! has_pvh_entry "$BOOT_IMAGE"; then
            : >"$BOOT_IMAGE"
        fi
        # QEMU may run as another user.
        chmod 644 "$BOOT_IMAGE"
        printf '%s' "$key" | write_file "$BOOT_IMAGE.key"
    fi
    [[ -s $BOOT_IMAGE ]] || BOOT_IMAGE=$KERNEL_IMAGE
}

# vmlinux IMAGE: writes the ELF file of an x86 image; fails if the format of the image is unknown. The offsets are from the kernel's
# Documentation/x86/boot.rst.
vmlinux() {
    local image=$1 start length unpack
    # "HdrS". The header has the offset of the payload since version 2.08 of the protocol.
    [[ $(bytes_at "$image" $((0x202)) 4 x1) == '48 64 72 53' ]] || return 1
    (($(bytes_at "$image" $((0x206)) 2 u2) >= 0x208)) || return 1
    start=$((($(bytes_at "$image" $((0x1f1)) 1 u1) + 1) * 512 + $(bytes_at "$image" $((0x248)) 4 u4)))
    length=$(bytes_at "$image" $((0x24c)) 4 u4)
    case $(bytes_at "$image" "$start" 4 x1) in
        'fd 37 7a 58') unpack=(xz -dc --single-stream) ;;
        '28 b5 2f fd') unpack=(zstd -qdc) ;;
        '1f 8b '*) unpack=(gzip -dc) ;;
        *) return 1 ;;
    esac
    # The uncompressed size follows the compressed data, except for gzip, whose own format contains it.
    [[ ${unpack[0]} == gzip ]] || ((length -= 4))
    dd if="$image" iflag=skip_bytes,count_bytes skip="$start" count="$length" bs=64K status=none | "${unpack[@]}"
}

# bytes_at FILE OFFSET COUNT FORMAT: prints the bytes in a format of od.
bytes_at() { od -An -j "$2" -N "$3" -t "$4" -- "$1" 2>/dev/null | sed 's/^ *//'; }

# has_pvh_entry FILE: whether the kernel has the ELF note XEN_ELFNOTE_PHYS32_ENTRY (18), which QEMU needs.
has_pvh_entry() { LC_ALL=C grep -qaP '\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0' -- "$1"; }
