# One QEMU process for each guest: its command line, its start, and its end by the pid that was kept.
# shellcheck shell=bash

CONTROL_MAC=52:54:00:12:34:01
cable_mac() { printf '52:54:00:00:02:%02x' "$(host_number "$1")"; }

guest_pidfile() { printf '%s' "$LAB_STATE/$1.pid"; }
guest_console() { printf '%s' "$LAB_STATE/console-$1.log"; }

# guest_pid HOST: the pid of its QEMU, if that runs and is really this lab's (pids are used again).
guest_pid() {
    local pid file
    file=$(guest_pidfile "$1")
    # QEMU removes the file when it ends, at any moment.
    { read -r pid <"$file"; } 2>/dev/null && [[ -n $pid ]] || return 1
    grep -qzxF -- "$file" "/proc/$pid/cmdline" 2>/dev/null || return 1
    printf '%s' "$pid"
}

# QEMU's options take a comma as the end of a value: two commas stand for one.
escape_commas() { printf '%s' "${1//,/,,}"; }

# make_cable HOST: the QEMU options of its end of the cable, in CABLE. With rocewire each listens for that. Without, one
# client has a cable to the server. More have one each, to a hub in the server's QEMU that the server's own NIC is plugged into: a hub gives each frame to every
# port but the one that it came from, so it arrives exactly once.
make_cable() {
    local client
    CABLE=()
    if [[ $LAB_CABLE == wire ]]; then
        CABLE=(-netdev "$(cable_end server "$1" cable)")
    elif ((${#LAB_HOSTS[@]} == 2)); then
        CABLE=(-netdev "$(cable_end "$1" client cable)")
    elif [[ $1 != server ]]; then
        CABLE=(-netdev "$(cable_end "$1" "$1" cable)")
    else
        CABLE=(-netdev "hubport,id=cable,hubid=0")
        for client in "${LAB_HOSTS[@]:1}"; do
            CABLE+=(-netdev "$(cable_end server "$client" "to-$client")"
                -netdev "hubport,id=port-$client,hubid=0,netdev=to-$client")
        done
    fi
}

# cable_end HOST CLIENT ID: HOST's end of the client's cable: a stream of frames over a unix socket, the server's end
# listening. (A multicast socket would give each frame back to its sender.) QEMU before 7.2 has the same framing over
# loopback TCP only.
cable_end() {
    local end=$LAB_RUN/cable-$2
    if grep -qx stream <<<"$("$QEMU" -machine none -netdev help 2>/dev/null)"; then
        if [[ $1 == server ]]; then
            printf 'stream,id=%s,addr.type=unix,addr.path=%s.sock,server=on' "$3" "$end"
        else
            printf 'stream,id=%s,addr.type=unix,addr.path=%s.sock,server=off' "$3" "$end"
        fi
    elif [[ $1 == server ]]; then
        printf 'socket,id=%s,listen=127.0.0.1:%s' "$3" "$(free_port "$end.port")"
    else
        printf 'socket,id=%s,connect=127.0.0.1:%s' "$3" "$(<"$end.port")"
    fi
}

# cable_address HOST: where its end listens, as rocewire takes it.
cable_address() {
    local end=$LAB_RUN/cable-$1
    if [[ -e $end.port ]]; then
        printf 'tcp:127.0.0.1:%s' "$(<"$end.port")"
    else
        printf '%s.sock' "$end"
    fi
}

# free_port FILE: a port nobody listens on now. The other end reads it from the file.
free_port() {
    local port
    for port in $(shuf -i 20000-32000 -n 50); do
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            printf '%s\n' "$port" | tee "$1"
            return
        fi
    done
    die "no free TCP port on 127.0.0.1 for the cable."
}

# start_guest HOST ACCEL: returns when QEMU has opened its sockets and gone into the background.
start_guest() {
    local host=$1 accel=$2 cpu=max errors=$LAB_STATE/qemu-$1.log command
    [[ $accel == tcg ]] && accel=tcg,thread=multi || cpu=host
    # A processor that could be plugged in, and is not: with one alone QEMU's emulator (before 8.1) leaves out the guest's memory
    # barriers, also those towards its own devices. Then the network card misses a kick, sends nothing any more, and the guest
    # waits: under load within minutes. Source: QEMU's commit c914d46d0a64.
    local most=$((LAB_CPUS > 1 ? LAB_CPUS : 2))
    : >"$(guest_console "$host")"
    make_cable "$host"
    # romfile=: no iPXE on the NICs. restrict=on: from the control network there is no way out.
    # Port 0 of hostfwd: the kernel chooses a free one; control_port asks which.
    # shellcheck disable=SC2054 # the commas are QEMU's
    command=("$QEMU" -name "rdma-$host" -nodefaults -no-user-config -no-reboot -display none
        -pidfile "$(guest_pidfile "$host")" -daemonize
        -machine pc,vmport=off -accel "$accel" -cpu "$cpu" -smp "cpus=$LAB_CPUS,maxcpus=$most" -m "$LAB_MEMORY"
        -kernel "$KERNEL_IMAGE" -initrd "$INITRAMFS"
        -append "console=ttyS0 loglevel=4 panic=-1 mitigations=off random.trust_cpu=on no_timer_check lab.dir=$LAB_RUN/guest lab.role=$host"
        -chardev "file,id=console,path=$(escape_commas "$(guest_console "$host")")" -serial chardev:console
        "${CABLE[@]}"
        -device "virtio-net-pci,netdev=cable,speed=10000,duplex=full,mac=$(cable_mac "$host"),romfile=,addr=3"
        -netdev "user,id=control,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:0-10.0.2.15:22"
        -device "virtio-net-pci,netdev=control,mac=$CONTROL_MAC,romfile=,addr=4"
        -fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
        -device virtio-9p-pci,fsdev=root,mount_tag=root
        -fsdev "local,id=repo,path=$(escape_commas "$LAB_ROOT"),security_model=none,multidevs=remap"
        -device virtio-9p-pci,fsdev=repo,mount_tag=repo
        -device virtio-rng-pci)
    # In a session of its own, so that a Ctrl-C now ends the lab's script only when the pid file is written.
    if ! (close_inherited && exec setsid "${command[@]}") </dev/null >"$errors" 2>&1; then
        FAILURE="QEMU did not start the $host with $2: $(grep -v 'module ui-' "$errors" | tail -n 1) ($errors)"
        return 1
    fi
}

# control_port PID: the port on 127.0.0.1 that leads to the guest's sshd.
control_port() {
    ss -Hltnp "src 127.0.0.1" | awk -v "pid=pid=$1," 'index($0, pid) { sub(/.*:/, "", $4); print $4 }' |
        grep -vxF "$(cat "$LAB_RUN"/*.port 2>/dev/null || echo none)"
}

# stop_guest HOST: its QEMU is gone when this returns.
stop_guest() {
    local pid tries=0
    pid=$(guest_pid "$1") || pid=
    if [[ -n $pid ]]; then
        kill "$pid" 2>/dev/null || true
        while guest_pid "$1" >/dev/null; do
            # 5 s for the orderly way.
            ((++tries != 100)) || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.05
        done
    fi
    rm -f "$(guest_pidfile "$1")"
}

# guests_left: the hosts of whom a QEMU still runs, as many as there may have been.
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

# stop_guests: also those of a lab that had more clients.
stop_guests() {
    local host
    for host in $(guests_left); do
        stop_guest "$host"
    done
}
