# The vm backend's settings: are they possible, and are they those that the running guests have?
# shellcheck shell=bash

check_settings() {
    [[ -z $LAB_ACCEL || $LAB_ACCEL == kvm || $LAB_ACCEL == tcg ]] || usage_error "LAB_ACCEL is kvm or tcg, not '$LAB_ACCEL'."
    # 1280: IPv6 wants it. 65535: virtio's limit.
    check_number LAB_MTU 1280 65535
    # With less, process 1 has been seen to starve; 1 TiB is more than any host will give.
    check_number LAB_MEMORY 256 1048576
    check_number LAB_CPUS 1 64
    check_number LAB_BOOT_SECONDS 1 86400
    check_number LAB_KVM_SECONDS 1 86400
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
            say "the lab runs with LAB_$name=$value, asked for is $wanted: starting it again"
            changed=0
        fi
    done < <(grep -E '^(ACCEL|MTU|MEMORY|CPUS|KERNEL)=' "$LAB_STATE/vm.state")
    return "$changed"
}
