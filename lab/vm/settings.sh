# The vm backend's settings: are they possible, and are they those that the running guests have?
# shellcheck shell=bash

check_settings() {
    [[ -z $LAB_ACCEL || $LAB_ACCEL == kvm || $LAB_ACCEL == tcg ]] || usage_error "LAB_ACCEL is kvm or tcg, not '$LAB_ACCEL'."
    [[ $LAB_CABLE == wire || $LAB_CABLE == direct ]] || usage_error "LAB_CABLE is wire or direct, not '$LAB_CABLE'."
    # 1280: IPv6 wants it. 65535: virtio's limit.
    check_number LAB_MTU 1280 65535
    # With less, process 1 has been seen to starve; 1 TiB is more than any host will give.
    check_number LAB_MEMORY 256 1048576
    check_number LAB_CPUS 1 64
    # Each is a QEMU process, and each frame comes to all of them.
    check_number LAB_CLIENTS 1 15
    LAB_CLIENTS=$((10#$LAB_CLIENTS))
    check_number LAB_BOOT_SECONDS 1 86400
    check_number LAB_KVM_SECONDS 1 86400
}

# Guests that the host has no memory for would be killed at some later moment, or take the host with them.
check_memory() {
    local guests=$((LAB_CLIENTS + 1)) available
    ((guests > 2)) || return 0
    available=$((($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) + $(memory_of_guests)) / 1024))
    ((guests * 10#$LAB_MEMORY <= available)) ||
        die "$guests guests of LAB_MEMORY=$LAB_MEMORY MiB need $((guests * 10#$LAB_MEMORY)) MiB, and this host has $available MiB available: set LAB_MEMORY or LAB_CLIENTS lower."
}

# memory_of_guests: what those that run now would give back, in KiB.
memory_of_guests() {
    local host sum=0
    for host in $(guests_left); do
        sum=$((sum + $(awk '/^VmRSS:/ { print $2 }' "/proc/$(guest_pid "$host")/status" 2>/dev/null || echo 0)))
    done
    printf %s "$sum"
}

# What the running guests were started with differs from what the environment asks for.
settings_changed() {
    local name value wanted changed=1
    while IFS='=' read -r name value; do
        wanted=LAB_$name
        wanted=${!wanted}
        if [[ $name == KERNEL && -n $wanted ]]; then
            wanted=$(realpath -m -- "$wanted")
        fi
        if [[ $LAB_ASKED == *" LAB_$name "* && -n $wanted && $wanted != "$value" ]]; then
            say "the lab runs with LAB_$name=$value, but $wanted is requested: restarting it"
            changed=0
        fi
    done < <(grep -E '^(ACCEL|MTU|MEMORY|CPUS|KERNEL|CLIENTS|CABLE)=' "$LAB_STATE/vm.state")
    return "$changed"
}
