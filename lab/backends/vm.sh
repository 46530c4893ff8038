# Backend vm: QEMU guests on this host, a server and one or more clients, connected by a private link.
# The parts of the backend are in vm/.
# shellcheck shell=bash

. "$LAB_ROOT/lab/lib/private.sh"
for part in arch sysroot settings packages kernel debian_kernel vmlinux layer initramfs exports link qemu boot accel control; do
    . "$LAB_ROOT/lab/vm/$part.sh"
done

# Addresses reserved for documentation (RFC 5737, RFC 3849): no host outside the lab uses them.
vm_ipv4() { printf '192.0.2.%s' "$(host_number "$1")"; }
vm_ipv6() { printf '2001:db8::%x' "$(host_number "$1")"; }
LINK_LATER=

# A copy of a checkout has the state of the original's lab, whose guests it must not stop. The folder's inode tells them apart.
forget_copied_state() {
    local file=$LAB_STATE/vm.folder
    if [[ -e $file && $(<"$file") != "$(stat -c %d:%i -- "$LAB_STATE")" ]]; then
        rm -f "$LAB_STATE"/{run,vm.state,vm.folder,link.process} "$LAB_STATE"/*.pid
    fi
}

backend_init() {
    local root
    forget_copied_state
    LAB_RUN=$(short_dir_now run)
    ENTER="cd $(quote "$LAB_ROOT")"
    # LAB_HOSTS are the running hosts, and SYSROOT is their root, even if the settings ask for others: `up` compares them.
    if [[ -r $LAB_STATE/vm.state ]]; then
        set_clients "$(state_value CLIENTS | grep . || echo 1)"
        root=$(state_value SYSROOT)
        # A folder that no longer exists must not keep `down` from stopping the guests.
        [[ $root != /* || -d $root ]] || root=/
        use_sysroot "$root"
    else
        use_sysroot "$LAB_SYSROOT"
    fi
}

ssh_words() { # HOST
    SSH_SOCKET=$LAB_RUN/$1.ssh
    SSH=(-F "$LAB_RUN/ssh_config" "$1")
}

# Returns 0 if all guests run. Otherwise returns 1, with a message in VM_DOWN.
vm_running() {
    local host
    VM_DOWN="the lab is down: run lab/lab up first"
    if [[ -z $LAB_RUN || ! -r $LAB_STATE/vm.state ]]; then
        if [[ -n $(guests_left) ]]; then
            VM_DOWN="lab/lab up has not finished, or was killed (lab/lab down stops what it left)"
        fi
        return 1
    fi
    for host in "${LAB_HOSTS[@]}"; do
        VM_DOWN="the $host guest's QEMU has ended since lab/lab up: run lab/lab up to start all machines again (its console: $(guest_console "$host"))"
        guest_pid "$host" >/dev/null || return 1
    done
}

answers() { # HOST
    if ! { ssh_ensure "$1" && (ON_HOST_AS=(timeout 15) && on_host "$1" true </dev/null 2>/dev/null); }; then
        say "the $1 guest does not respond"
        return 1
    fi
}

all_answer() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        answers "$host" || return 1
    done
}

# Starts the guests without the link between them, while the programs are being compiled. The next command starts the link.
backend_boot() {
    if [[ $LAB_LINK == wire && ! -x $LAB_ROOT/$LAB_BUILD/rocewire ]]; then
        LINK_LATER=1
        rm -f "$(link_log)"
    fi
    backend_up
}

backend_up() {
    check_settings
    lock vm
    backend_init
    if vm_running; then
        if ! settings_changed; then
            if all_answer; then
                [[ -n $LINK_LATER ]] || keep_link
                say "already up ($(vm_summary))"
                return
            fi
            say "restarting the lab"
        fi
    elif [[ -r $LAB_STATE/vm.state ]]; then
        say "a guest's QEMU has ended since the last lab/lab up: restarting the lab"
    fi
    check_memory
    vm_stop
    need_space 1 "the lab"
    set_clients "$LAB_CLIENTS"
    use_sysroot "$LAB_SYSROOT"
    need_qemu
    need_tool ssh openssh-client
    need_tool cpio cpio
    [[ $LAB_LINK != wire || -n $LINK_LATER ]] || build "$LAB_BUILD/rocewire"
    local host started
    started=$(now_ms)
    trap vm_abandon EXIT
    stat -c %d:%i -- "$LAB_STATE" | write_file "$LAB_STATE/vm.folder"
    LAB_RUN=$(short_dir run)
    prepare_sysroot
    stop_if_told
    find_kernels
    stop_if_told
    make_layer
    stop_if_told
    for host in "${LAB_HOSTS[@]}"; do
        use_kernel_of "$host"
        make_initramfs
        stop_if_told
    done
    make_keys
    prepare_exports
    find_features
    boot_with_some_accelerator
    connect_guests
    [[ -n $LINK_LATER ]] || check_link
    for host in "${LAB_HOSTS[@]}"; do
        stop_if_told
        set_clock "$host"
    done
    clock_json | write_file "$LAB_STATE/clock-$LAB_BACKEND.json"
    stop_if_told
    trap - EXIT
    say "up in $((($(now_ms) - started) / 1000)) s ($(vm_summary))"
}

vm_summary() {
    printf '%s, kernel %s, link MTU %s' "$(state_value ACCEL)" "$(state_value VERSION)" "$(state_value MTU)"
    [[ -z $SYSROOT ]] || printf ', root %s' "$SYSROOT_NAME"
}

state_value() { sed -n "s/^$1=//p" "$LAB_STATE/vm.state"; }

# Cleans up after an `up` that did not finish.
vm_abandon() {
    local status=$?
    trap '' INT TERM HUP
    set +e
    if [[ -n $(guests_left) ]]; then
        say "the lab did not come up: its guests are stopped"
    fi
    vm_stop
    # Free the disk space of incomplete files. (The next `up` creates them from scratch in any case.)
    remove_new_kernel
    rm -rf "$ROOT_STATE"/{,kernels/*/}{initramfs.tree,initramfs.tree.base} "$ROOT_STATE"/*.new "$LAB_STATE"/*.new
    [[ -z ${MAKES_SYSROOT:-} ]] || rm -rf --one-file-system "$SYSROOT.new" "$SYSROOT.new.tar"
    exit "$status"
}

vm_stop() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        [[ -z $LAB_RUN ]] || ssh_close "$host"
    done
    stop_guests
    stop_link
    remove_short_dir run
    rm -f "$LAB_STATE/vm.state" "$LAB_STATE/clock-$LAB_BACKEND.json"
    LAB_RUN=
}

# Prints the lines for the guests' /etc/hosts.
guest_hosts() {
    local host
    for host in "${LAB_HOSTS[@]}"; do
        printf '%s rdma-%s\n' "$(vm_ipv4 "$host")" "$host" "$(vm_ipv6 "$host")" "$host"
    done
}

guest_config() { # HOST
    local name
    use_kernel_of "$1"
    local -A values=([GUEST_ROLE]=$1 [GUEST_REPO]=$LAB_ROOT [GUEST_KERNEL]=$KERNEL_VERSION [GUEST_MTU]=$LAB_MTU
        [GUEST_SYSTEM]=$(system_folders) [GUEST_BUILD]=$SYSROOT_BUILD [GUEST_FOLDER]=$(guest_folder) [GUEST_CERTS]=$CERTS_DIR
        [GUEST_PROJECT]=$PROJECT
        [GUEST_IPV4]=$(vm_ipv4 "$1") [GUEST_IPV6]=$(vm_ipv6 "$1")
        [GUEST_LINK_MAC]=$(link_mac "$1") [GUEST_CONTROL_MAC]=$CONTROL_MAC [GUEST_HOSTS]=$(guest_hosts))
    for name in "${!values[@]}"; do
        printf '%s=%s\n' "$name" "$(quote "${values[$name]}")"
    done
}

# need_qemu: exits if the guests' architecture or its QEMU is not there.
need_qemu() {
    [[ -n $QEMU ]] ||
        die "the vm backend needs an x86-64 or arm64 host, and this one is $HOST_ARCH: use two machines of your own instead (LAB_BACKEND=ssh)."
    if ! is_emulated; then
        need_tool "$QEMU" "$QEMU_PACKAGE"
    elif ! command -v "$QEMU" >/dev/null; then
        die "$QEMU, which emulates $GUEST_ARCH, is missing: install the package $QEMU_PACKAGE."
    fi
}

# boot ACCEL SECONDS: boots all guests in parallel; returns 0 when all are ready. The server starts first: it listens.
boot() {
    local host deadline=$(($(now_ms) + $2 * 1000))
    qemu_user "$1"
    for host in "${LAB_HOSTS[@]}"; do
        stop_if_told
        start_guest "$host" "$1" || return 1
        # If KVM does not work, the other guests would only waste CPU time.
        [[ $1 != kvm || $host != server ]] || kernel_boots server "$deadline" || return 1
    done
    [[ $LAB_LINK != wire || -n $LINK_LATER ]] || start_link || return 1
    for host in "${LAB_HOSTS[@]}"; do
        FAILED_HOST=$host
        await_guest "$host" "$deadline" "$2" || return 1
    done
    printf '%s\n' "ACCEL=$1" "MTU=$LAB_MTU" "MEMORY=$LAB_MEMORY" "CPUS=$LAB_CPUS" "CLIENTS=$LAB_CLIENTS" "LINK=$LAB_LINK" "KERNEL=$(kernels_wanted "${LAB_HOSTS[@]}")" \
        "SYSROOT=$SYSROOT_NAME" "PROJECT=$PROJECT" "VERSION=$(kernels_text)" "STARTED=$EPOCHSECONDS" | write_file "$LAB_STATE/vm.state"
}

backend_down() {
    lock vm
    backend_init
    local state=
    if [[ -n $(guests_left) ]]; then
        state=down
    fi
    vm_stop
    say "${state:-nothing is up}"
    stop_if_told
}

backend_require_up() {
    vm_running || die "$VM_DOWN."
    check_asked_sysroot
    check_asked_kernel
    check_project
    keep_link
    local host
    for host in "${LAB_HOSTS[@]}"; do
        [[ -S $LAB_RUN/$host.ssh ]] || ssh_open "$host" || die "the $host guest does not respond: $SSH_FAILURE"
    done
}

# backend_watch: makes a run stop if a guest or the link emulator ends.
# shellcheck disable=SC2004 # WATCHED is an associative array
backend_watch() {
    local host pid
    for host in "${LAB_HOSTS[@]}"; do
        pid=$(guest_pid "$host") || die "$VM_DOWN."
        WATCHED[$pid]="the $host guest's QEMU has ended (its console: $(guest_console "$host"))"
    done
    if is_wired; then
        pid=$(link_pid) || die "rocewire, the link emulator, has ended (its log: $(link_log))."
        WATCHED[$pid]="rocewire, the link emulator, has ended (its log: $(link_log))"
    fi
}

backend_address() { # HOST
    if [[ $LAB_FAMILY == ipv6 ]]; then vm_ipv6 "$1"; else vm_ipv4 "$1"; fi
}

# The commands in the guests already run as root.
backend_privilege() { :; }

# The guests mount the repository.
backend_push() { :; }
backend_push_to() { :; }

backend_status() {
    if ! vm_running; then
        echo "down (vm backend): $VM_DOWN"
        return
    fi
    printf 'up for %s min: %s QEMU guests, %s, %s MiB and %s CPU each\n' $(((EPOCHSECONDS - $(state_value STARTED)) / 60)) "$(guest_count)" \
        "$(state_value ACCEL)" "$(state_value MEMORY)" "$(state_value CPUS)"
    [[ -z $SYSROOT ]] || printf 'root: %s%s, programs in %s\n' "$(sysroot_text)" "${SYSROOT_SUITE:+ in $SYSROOT}" "$SYSROOT_BUILD"
    [[ -z $(state_value PROJECT) ]] || printf 'project: %s\n' "$(state_value PROJECT)"
    show_hosts
    show_link
    printf 'To reach them: lab/lab exec server -- COMMAND; lab/lab shell client; ssh -F %s server\n' "$LAB_RUN/ssh_config"
}

show_link() {
    local pid
    if ! is_wired; then
        printf 'link: direct, MTU %s\n' "$(state_value MTU)"
    elif pid=$(link_pid); then
        printf 'link: rocewire pid %s, MTU %s, %s rules (lab/lab wire), log %s\n' "$pid" "$(state_value MTU)" "$(link_rules)" "$(link_log)"
    else
        printf 'link: its program has ended (the next command starts it again); log %s\n' "$(link_log)"
    fi
}

guest_count() { if ((${#LAB_HOSTS[@]} == 2)); then printf two; else printf %s "${#LAB_HOSTS[@]}"; fi; }

describe_host() { # HOST
    printf '%s: %s, %s; QEMU pid %s, console %s' "$1" "$(vm_ipv4 "$1")" "$(vm_ipv6 "$1")" "$(guest_pid "$1")" \
        "$(guest_console "$1")"
}
