# The guests' kernel as QEMU starts it. A distribution's vmlinuz is compressed, and unpacks itself on the guest's CPU, which takes
# software emulation longer than all the rest of the kernel's start. The lab unpacks it on the host, and QEMU enters the ELF file
# directly (PVH).
# shellcheck shell=bash

# Sets BOOT_IMAGE: an ELF file below LAB_STATE, or the packed image where it has no PVH entry or is in an unknown format.
unpack_kernel() {
    local key
    BOOT_IMAGE=$LAB_STATE/vmlinux
    key="$(realpath -- "$KERNEL_IMAGE") $(stat -Lc '%s %Y' -- "$KERNEL_IMAGE") $(cksum <"$LAB_ROOT/lab/vm/vmlinux.sh")"
    if [[ ! -e $BOOT_IMAGE.key || $(<"$BOOT_IMAGE.key") != "$key" ]]; then
        rm -f "$BOOT_IMAGE" "$BOOT_IMAGE.key"
        need_space 80 "the guests' unpacked kernel"
        if ! vmlinux "$KERNEL_IMAGE" | write_file "$BOOT_IMAGE" || ! has_pvh_entry "$BOOT_IMAGE"; then
            : >"$BOOT_IMAGE"
        fi
        # QEMU may be another user's.
        chmod 644 "$BOOT_IMAGE"
        printf '%s' "$key" | write_file "$BOOT_IMAGE.key"
    fi
    [[ -s $BOOT_IMAGE ]] || BOOT_IMAGE=$KERNEL_IMAGE
}

# vmlinux IMAGE: writes the ELF file of an x86 image; fails where the image has none that is known. The numbers are those of the
# kernel's Documentation/x86/boot.rst.
vmlinux() {
    local image=$1 start length unpack
    # "HdrS", and from version 2.08 of the protocol on where the payload is.
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
    # Behind the compressed data stands its unpacked size. gzip has it in its own format.
    [[ ${unpack[0]} == gzip ]] || ((length -= 4))
    dd if="$image" iflag=skip_bytes,count_bytes skip="$start" count="$length" bs=64K status=none | "${unpack[@]}"
}

# bytes_at FILE OFFSET COUNT FORMAT: as od prints them.
bytes_at() { od -An -j "$2" -N "$3" -t "$4" -- "$1" 2>/dev/null | sed 's/^ *//'; }

# has_pvh_entry FILE: whether the kernel has the ELF note that QEMU looks for, XEN_ELFNOTE_PHYS32_ENTRY (18).
has_pvh_entry() { LC_ALL=C grep -qaP '\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0' -- "$1"; }
