# Checks the vm backend's settings: whether they are valid, and whether the running guests have them.
# shellcheck shell=bash

check_settings() {
    [[ -z $LAB_ACCEL || $LAB_ACCEL == kvm || $LAB_ACCEL == tcg ]] || usage_error "LAB_ACCEL is kvm or tcg, not '$LAB_ACCEL'."
    [[ $LAB_LINK == wire || $LAB_LINK == direct ]] || usage_error "LAB_LINK is wire or direct, not '$LAB_LINK'."
    # 1280: the minimum MTU of IPv6. 65535: virtio's limit.
    check_number LAB_MTU 1280 65535
    # With less than 256 MiB, process 1 was seen to starve. 1 TiB is more than any host has for a guest.
    check_number LAB_MEMORY 256 1048576
    check_number LAB_CPUS 1 64
    # Each client is a QEMU process, and receives all frames.
    check_number LAB_CLIENTS 1 15
    LAB_CLIENTS=$((10#$LAB_CLIENTS))
    check_number LAB_BOOT_SECONDS 1 86400
    check_number LAB_KVM_SECONDS 1 86400
    (use_sysroot "$LAB_SYSROOT") || exit
    check_kernels
    find_project
}

# Without enough memory, the host's kernel would later kill guests, or the host would fail.
check_memory() {
    local guests=$((LAB_CLIENTS + 1)) available
    ((guests > 2)) || return 0
    available=$((($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) + $(memory_of_guests)) / 1024))
    ((guests * 10#$LAB_MEMORY <= available)) ||
        die "$guests guests of LAB_MEMORY=$LAB_MEMORY MiB need $((guests * 10#$LAB_MEMORY)) MiB, and this host has $available MiB available: set LAB_MEMORY or LAB_CLIENTS lower."
}

# memory_of_guests: prints the memory of the running guests in KiB.
memory_of_guests() {
    local host sum=0
    for host in $(guests_left); do
        sum=$((sum + $(awk '/^VmRSS:/ { print $2 }' "/proc/$(guest_pid "$host")/status" 2>/dev/null || echo 0)))
    done
    printf %s "$sum"
}

# Returns 0 if a setting in the environment differs from that of the running guests.
settings_changed() {
    local name value wanted changed=1
    while IFS='=' read -r name value; do
        wanted=LAB_$name
        wanted=${!wanted}
        if [[ $name == KERNEL && -n $wanted ]]; then
            wanted=$(kernels_wanted "${LAB_HOSTS[@]}")
        elif [[ $name == SYSROOT && -n $wanted ]]; then
            wanted=$(use_sysroot "$wanted" && printf %s "$SYSROOT_NAME")
        elif [[ $name == PROJECT ]]; then
            wanted=$PROJECT
        fi
        if [[ $LAB_ASKED == *" LAB_$name "* && -n $wanted && $wanted != "$value" ]]; then
            say "the lab runs with LAB_$name=$value, but $wanted is requested: restarting it"
            changed=0
        fi
    done < <(grep -E '^(ACCEL|MTU|MEMORY|CPUS|KERNEL|CLIENTS|LINK|SYSROOT|PROJECT)=' "$LAB_STATE/vm.state")
    return "$changed"
}
