# The guests' initramfs: busybox, the modules in loading order, the layer, and guest/init. It is not compressed, because decompression
# would take an emulated CPU longer than reading it.
# shellcheck shell=bash

# make_initramfs: creates INITRAMFS, after use_kernel_of HOST.
make_initramfs() {
    local key tree=$KERNEL_STATE/initramfs.tree
    key="$KERNEL_MODULES $(stat -c %Y "$KERNEL_MODULES/modules.dep") $(cat "$LAB_ROOT"/lab/{guest/init,vm/initramfs.sh,vm/kernel.sh} | cksum) $(stat -c %Y "$ROOT_STATE/layer/.complete")"
    if [[ -s $INITRAMFS && -e $INITRAMFS.key && $(<"$INITRAMFS.key") == "$key" ]]; then
        return
    fi
    rm -rf "$tree" "$tree.base" "$INITRAMFS.key"
    # For the initramfs and the files that it contains.
    need_space 16 "the guests' initramfs"
    mkdir -p "$tree/bin" "$tree/modules"
    cp "$(busybox_path)" "$tree/bin/busybox"
    cp "$LAB_ROOT/lab/guest/init" "$tree/init"
    cp -a "$ROOT_STATE/layer/." "$tree/layer"
    chmod 755 "$tree/init" "$tree/bin/busybox"
    # modprobe reads lib/modules; newer versions read usr/lib/modules. Create a folder that has both.
    mkdir -p "$tree.base/lib/modules"
    ln -s . "$tree.base/usr"
    ln -s "$KERNEL_MODULES" "$tree.base/lib/modules/$KERNEL_VERSION"
    modules_in_order "$tree.base" | while IFS= read -r module; do
        add_module "$module" "$tree/modules"
    done
    (cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) | write_file "$INITRAMFS"
    # It contains no secret, and QEMU may run as another user.
    chmod 644 "$INITRAMFS"
    rm -rf "$tree" "$tree.base"
    printf '%s' "$key" | write_file "$INITRAMFS.key"
}

busybox_of_root() {
    local path
    for path in "$SYSROOT"/{usr/bin,bin}/busybox; do
        [[ ! -x $path ]] || { printf %s "$path" && return; }
    done
    [[ -z $SYSROOT ]] && command -v busybox
}

busybox_path() {
    local path
    path=$(busybox_of_root) || die "busybox is missing (package busybox-static): run lab/install-packages lab."
    # The initramfs has no libraries for a dynamically linked busybox.
    if ldd "$path" >/dev/null 2>&1; then
        die "$path is not statically linked: install busybox-static."
    fi
    printf '%s' "$path"
}

# Prints each module file once, after its dependencies. modprobe resolves aliases and skips built-in modules.
modules_in_order() { # BASE
    local name
    for name in "${GUEST_MODULE_NAMES[@]}"; do
        modprobe -d "$1" -S "$KERNEL_VERSION" --show-depends "$name" 2>/dev/null ||
            [[ $GUEST_MODULES_OPTIONAL == *" $name "* ]] || die "modprobe does not find $name for $KERNEL_VERSION."
    done | sed -nE 's/^insmod (.*\.ko(\.[a-z]+)?)( .*)?$/\1/p' | awk '!seen[$0]++'
}

# The guest's insmod loads only uncompressed .ko files.
add_module() { # FILE DIR
    local name=${1##*/}
    name=${name%%.ko*}.ko
    case $1 in
        *.ko) cp "$1" "$2/$name" ;;
        *.ko.xz) xz -dc "$1" >"$2/$name" ;;
        *.ko.zst) zstd -qdc "$1" >"$2/$name" ;;
        *.ko.gz) gzip -dc "$1" >"$2/$name" ;;
        *) die "the module $1 has an unknown compression." ;;
    esac
    printf '%s\n' "$name" >>"$2/order"
}
