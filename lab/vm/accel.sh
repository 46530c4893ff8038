# KVM or software emulation. With /dev/kvm, a stock kernel may still not boot (in some nested virtual machines it hangs before its first
# line). So the lab tries KVM once, with a time limit.
# shellcheck shell=bash

# The stored result is valid for this host kernel and this guest kernel.
accel_key() { printf '%s %s' "$(uname -r)" "$(kernels_text)"; }

boot_with_some_accelerator() {
    local known=
    if [[ -n $LAB_ACCEL ]]; then
        boot_or_die "$LAB_ACCEL"
        return
    fi
    if is_emulated; then
        boot_or_die tcg
        return
    fi
    if [[ -r $ROOT_STATE/accel ]]; then
        { IFS= read -r known && IFS= read -r key; } <"$ROOT_STATE/accel"
        [[ $key == "$(accel_key)" ]] || known=
    fi
    if [[ $known != tcg && -r /dev/kvm && -w /dev/kvm ]]; then
        [[ $known == kvm ]] || say "trying KVM, at most $LAB_KVM_SECONDS s (once: the result is stored in ${ROOT_STATE#"$LAB_ROOT/"}/accel)"
        if boot kvm "$LAB_KVM_SECONDS"; then
            remember_accel kvm
            return
        fi
        say "KVM does not boot the guests ($FAILURE): using software emulation"
        stop_guests
        stop_link
        remember_accel tcg
    fi
    boot_or_die tcg
}

remember_accel() { printf '%s\n%s\n' "$1" "$(accel_key)" | write_file "$ROOT_STATE/accel"; }

boot_or_die() { # ACCEL
    local limit=LAB_BOOT_SECONDS
    if [[ $1 == kvm ]]; then
        ! is_emulated || die "LAB_ACCEL=kvm, but KVM of this machine ($HOST_ARCH) does not run guests for $GUEST_ARCH: unset LAB_ACCEL."
        [[ -e /dev/kvm ]] || die "LAB_ACCEL=kvm, but /dev/kvm does not exist."
        [[ -r /dev/kvm && -w /dev/kvm ]] || die "LAB_ACCEL=kvm, but you may not use /dev/kvm: join the group kvm."
        limit=LAB_KVM_SECONDS
    fi
    FAILED_HOST=
    boot "$1" "${!limit}" && return
    [[ $FAILURE != *' within '* ]] || FAILURE+=" ($limit is that limit)"
    say "$FAILURE"
    [[ -z $FAILED_HOST ]] || show_console "$FAILED_HOST"
    exit 1
}
