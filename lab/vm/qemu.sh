# One QEMU process for each guest: its command line, its start, and its end by the stored pid.
# shellcheck shell=bash

CONTROL_MAC=52:54:00:12:34:01
link_mac() { printf '52:54:00:00:02:%02x' "$(host_number "$1")"; }

guest_pidfile() { printf '%s' "$LAB_STATE/$1.pid"; }
guest_console() { printf '%s' "$LAB_STATE/console-$1.log"; }

# guest_name HOST: prints the name of its QEMU, which ps shows.
guest_name() { printf 'rdma-%s of %s' "$1" "$(escape_commas "$LAB_STATE")"; }

# guest_pid HOST: prints the pid of its QEMU, if it runs and belongs to this lab (the system reuses pids).
guest_pid() {
    local pid
    { read -r pid <"$(guest_pidfile "$1")"; } 2>/dev/null && [[ -n $pid ]] || return 1
    # Earlier versions of the lab had the pid file's path in the command line.
    grep -qzxF -e "$(guest_name "$1")" -e "$(guest_pidfile "$1")" "/proc/$pid/cmdline" 2>/dev/null || return 1
    printf '%s' "$pid"
}

# In QEMU's options a comma ends a value: two commas stand for one.
escape_commas() { printf '%s' "${1//,/,,}"; }

# make_link HOST: sets LINK_NETDEVS to the QEMU options of the host's end of the link. With rocewire, each QEMU listens for it. Without,
# a single client has a link to the server. Several clients have a link each to a hub in the server's QEMU, to which the server's NIC is
# also connected: a hub sends each frame to all ports except the one it came from, so it arrives exactly once.
make_link() {
    local client
    LINK_NETDEVS=()
    if [[ $LAB_LINK == wire ]]; then
        LINK_NETDEVS=(-netdev "$(link_end server "$1" link)")
    elif ((${#LAB_HOSTS[@]} == 2)); then
        LINK_NETDEVS=(-netdev "$(link_end "$1" client link)")
    elif [[ $1 != server ]]; then
        LINK_NETDEVS=(-netdev "$(link_end "$1" "$1" link)")
    else
        LINK_NETDEVS=(-netdev "hubport,id=link,hubid=0")
        for client in "${LAB_HOSTS[@]:1}"; do
            LINK_NETDEVS+=(-netdev "$(link_end server "$client" "to-$client")"
                -netdev "hubport,id=port-$client,hubid=0,netdev=to-$client")
        done
    fi
}

# link_end HOST CLIENT ID: prints the option for HOST's end of the client's link: a stream of frames over a unix socket, on which the
# server's end listens. (A multicast socket would return each frame to its sender.) QEMU before 7.2 supports this framing only over
# loopback TCP.
link_end() {
    local end=$LAB_RUN/link-$2
    if [[ -n $QEMU_STREAM ]]; then
        # The paths are relative to QEMU's working directory, $LAB_RUN/link.
        if [[ $1 == server ]]; then
            printf 'stream,id=%s,addr.type=unix,addr.path=%s.sock,server=on' "$3" "$2"
        else
            printf 'stream,id=%s,addr.type=unix,addr.path=%s.sock,server=off' "$3" "$2"
        fi
    elif [[ $1 == server ]]; then
        printf 'socket,id=%s,listen=127.0.0.1:%s' "$3" "$(free_port "$end.port")"
    else
        printf 'socket,id=%s,connect=127.0.0.1:%s' "$3" "$(<"$end.port")"
    fi
}

# link_address HOST: prints the address on which its end listens, in the form for rocewire.
link_address() {
    local port=$LAB_RUN/link-$1.port
    if [[ -e $port ]]; then
        printf 'tcp:127.0.0.1:%s' "$(<"$port")"
    else
        printf '%s/link/%s.sock' "$LAB_RUN" "$1"
    fi
}

# free_port FILE: prints a TCP port on which no process listens. The other end reads it from the file.
free_port() {
    local port
    for port in $(shuf -i 20000-32000 -n 50); do
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            printf '%s\n' "$port" | tee "$1"
            return
        fi
    done
    die "no free TCP port on 127.0.0.1 for the link."
}

# Forbids QEMU system calls that are obsolete, raise privileges, start programs or change priorities.
QEMU_SANDBOX=on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny

# find_features: tests the features of this QEMU, and creates its folder. Sets QEMU_STREAM and SANDBOX.
find_features() {
    local netdevs
    SANDBOX=(-sandbox "$QEMU_SANDBOX")
    if ! netdevs=$("$QEMU" -machine none "${SANDBOX[@]}" -netdev help 2>/dev/null); then
        SANDBOX=()
        say "this QEMU has no seccomp sandbox (-sandbox): the guests run without it"
        netdevs=$("$QEMU" -machine none -netdev help 2>/dev/null)
    fi
    QEMU_STREAM=$(grep -x stream <<<"$netdevs" || true)
    mkdir -p "$LAB_RUN/link"
    give_to_qemu "$LAB_RUN/link"
}

# qemu_user ACCEL: sets QEMU_AS to the prefix of QEMU's command: its processes cannot gain privileges, and root becomes a user who owns
# no other files.
qemu_user() {
    local groups=(--clear-groups) keep='' images=() host
    QEMU_AS=(setpriv --no-new-privs)
    ((EUID == 0)) || return 0
    [[ $1 != kvm ]] || groups=(--groups "$(stat -c %g /dev/kvm)")
    QEMU_AS+=("--reuid=$QEMU_UID" "--regid=$QEMU_UID" "${groups[@]}")
    if ! "${QEMU_AS[@]}" true 2>/dev/null; then
        say "root may not switch to another user here ($QEMU_UID): QEMU runs as root"
        QEMU_AS=(setpriv --no-new-privs)
        return
    fi
    for host in "${LAB_HOSTS[@]}"; do
        use_kernel_of "$host"
        images+=("$BOOT_IMAGE")
    done
    # This user has the access rights of "others" to the checkout.
    if ! others_read "$LAB_ROOT" "$LAB_ROOT/build" ${PROJECT:+"$PROJECT"} "${images[@]}" || (($(umask) & 05)); then
        keep=,+dac_read_search
        say "other users may not read all of $LAB_ROOT${PROJECT:+, $PROJECT} or the kernel (or your umask, $(umask), makes new files unreadable): QEMU keeps the right to read all files"
    fi
    QEMU_AS+=("--bounding-set=-all$keep" "--inh-caps=-all$keep" "--ambient-caps=-all$keep")
}

# others_read PATH...: whether all users may read each, and enter it if it is a folder.
others_read() {
    local path mode want
    for path; do
        mode=$(stat -Lc %a -- "$path") || return 1
        want=4
        [[ ! -d $path ]] || want=5
        (((8#$mode & want) == want)) || return 1
    done
}

# start_guest HOST ACCEL: returns when QEMU runs and has opened the sockets to which another guest's QEMU connects. Returns 1 with the
# reason in FAILURE.
start_guest() {
    local try
    for try in 1 2 3; do
        start_qemu "$@" && return
        # Another process has taken the TCP port since free_port found it.
        [[ $FAILURE == *'Address already in use'* ]] || break
    done
    return 1
}

start_qemu() { # HOST ACCEL
    local host=$1 errors=$LAB_STATE/qemu-$1.log command
    : >"$(guest_console "$host")"
    rm -f "$(guest_pidfile "$host")"
    make_link "$host"
    # romfile=: no iPXE on the NICs. restrict=on: the control network has no route to other networks.
    # hostfwd with port 0: the kernel chooses a free port; control_port finds it.
    qemu_command "$host" "$2"
    # shellcheck disable=SC2054 # the commas are QEMU's
    command=("${QEMU_AS[@]}" "${QEMU_COMMAND[@]}" "${SANDBOX[@]}" -nodefaults -no-user-config -no-reboot -display none
        -serial chardev:console
        "${LINK_NETDEVS[@]}"
        -device "virtio-net-pci,netdev=link,speed=10000,duplex=full,mac=$(link_mac "$host"),romfile=,addr=3"
        -netdev "user,id=control,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:0-10.0.2.15:22"
        -device "virtio-net-pci,netdev=control,mac=$CONTROL_MAC,romfile=,addr=4"
        -device virtio-rng-pci)
    run_qemu "$host" "${command[@]}" </dev/null >"$errors" 2>&1 &
    local pid=$!
    disown "$pid" # bash then does not report its end
    await_qemu "$host" "$pid" && return
    FAILURE="QEMU did not start the $host with $2: $(qemu_error "$host")"
    return 1
}

# run_qemu HOST COMMAND...: executes the command, with QEMU's files as descriptors, in a new session, which Ctrl-C does not reach.
run_qemu() {
    local host=$1 console kernel initrd
    shift
    close_inherited
    use_kernel_of "$host"
    open_exports "$host"
    exec {console}>>"$(guest_console "$host")" {kernel}<"$BOOT_IMAGE" {initrd}<"$INITRAMFS"
    cd "$LAB_RUN/link" || exit
    printf '%s\n' "$BASHPID" >"$(guest_pidfile "$host")"
    exec setsid "$@" "${EXPORTS[@]}" -kernel "/proc/self/fd/$kernel" -initrd "/proc/self/fd/$initrd" \
        -add-fd "fd=$console,set=1" -chardev file,id=console,path=/dev/fdset/1,append=on
}

# await_qemu HOST PID: waits until the process is QEMU. rocewire waits for QEMU's sockets, but the other end of a direct link does not,
# and a TCP port may be taken: then wait until QEMU has opened its last socket, that of the control network.
await_qemu() {
    until guest_pid "$1" >/dev/null; do
        kill -0 "$2" 2>/dev/null || return 1
        sleep 0.02
    done
    [[ ($LAB_LINK == direct && $1 == server) || ($LAB_LINK == wire && -z $QEMU_STREAM) ]] || return 0
    # ss reads all processes, which takes long on a busy host: do not run it before a socket exists.
    until [[ -z $QEMU_STREAM || -S $LAB_RUN/link/${LAB_HOSTS[-1]}.sock ]] && [[ -n $(control_port "$2") ]]; do
        kill -0 "$2" 2>/dev/null || return 1
        sleep 0.1
    done
}

qemu_error() { # HOST
    local log=$LAB_STATE/qemu-$1.log
    printf '%s (%s)' "$(grep -v 'module ui-' "$log" | tail -n 1)" "$log"
}

# control_port PID: prints the port on 127.0.0.1 that is forwarded to the guest's sshd.
control_port() {
    ss -Hltnp "src 127.0.0.1" | awk -v "pid=pid=$1," 'index($0, pid) { sub(/.*:/, "", $4); print $4 }' |
        grep -vxF "$(cat "$LAB_RUN"/*.port 2>/dev/null || echo none)"
}

# stop_guest HOST: returns when its QEMU has ended.
stop_guest() {
    local pid tries=0
    pid=$(guest_pid "$1") || pid=
    if [[ -n $pid ]]; then
        kill "$pid" 2>/dev/null || true
        while guest_pid "$1" >/dev/null; do
            # SIGTERM has 5 s to take effect.
            ((++tries != 100)) || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.05
        done
    fi
    rm -f "$(guest_pidfile "$1")"
}

# guests_left: prints the hosts whose QEMU still runs, including those of a lab that had more clients.
guests_left() {
    local file host
    for file in "$LAB_STATE"/*.pid; do
        host=${file##*/}
        host=${host%.pid}
        if guest_pid "$host" >/dev/null; then
            printf '%s\n' "$host"
        fi
    done
}

# stop_guests: stops all guests, including those of a lab that had more clients.
stop_guests() {
    local host
    for host in $(guests_left); do
        stop_guest "$host"
    done
}
