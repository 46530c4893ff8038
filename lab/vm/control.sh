# The control channel to the guests: keys, and an ssh configuration.
# shellcheck shell=bash

# Every `up` creates new keys for both ends of the control channel, so that ssh need not trust an unknown host key.
make_keys() {
    mkdir -p "$LAB_RUN/guest"
    rm -f "$LAB_RUN/key" "$LAB_RUN/guest/host_key"
    ssh-keygen -q -t ed25519 -N '' -C rdma-lab -f "$LAB_RUN/key"
    ssh-keygen -q -t ed25519 -N '' -C rdma-lab-guest -f "$LAB_RUN/guest/host_key"
    cp "$LAB_RUN/key.pub" "$LAB_RUN/guest/authorized_keys"
    printf 'rdma-lab-guest %s\n' "$(<"$LAB_RUN/guest/host_key.pub")" >"$LAB_RUN/known_hosts"
}

connect_guests() {
    local host port
    for host in "${LAB_HOSTS[@]}"; do
        port=$(control_port "$(guest_pid "$host")")
        [[ -n $port ]] || die "cannot find the port of the $host's sshd (is ss, from iproute2, installed?)."
        ssh_entry "$host" "$port"
    done >"$LAB_RUN/ssh_config"
    for host in "${LAB_HOSTS[@]}"; do
        stop_if_told
        ssh_open "$host" || die "the $host guest is up, but ssh to it failed: $SSH_FAILURE"
    done
}

# Public keys only, no post-quantum key exchange, no compression: the alternatives are slow under emulation, and the other end is on
# this machine. (GSSAPIAuthentication would disable GSSAPI, but some ssh clients complain about the option.)
ssh_entry() { # HOST PORT
    cat <<-EOT
	Host $1
	    HostName 127.0.0.1
	    Port $2
	    User root
	    IdentityFile $LAB_RUN/key
	    IdentitiesOnly yes
	    UserKnownHostsFile $LAB_RUN/known_hosts
	    GlobalKnownHostsFile none
	    HostKeyAlias rdma-lab-guest
	    StrictHostKeyChecking yes
	    BatchMode yes
	    ControlPath $LAB_RUN/%n.ssh
	    KexAlgorithms curve25519-sha256
	    PreferredAuthentications publickey
	    ConnectTimeout 10
	    ServerAliveInterval 15
	    LogLevel ERROR
	EOT
}

# Pings once for each address family: the link then works, and both ends know each other's Ethernet address.
# (rdma_resolve_addr was seen to miss the reply to its own neighbour request.)
check_link() {
    local client
    for client in "${LAB_HOSTS[@]:1}"; do
        on_host "$client" "ping -q -c 1 -W 5 $(vm_ipv4 server) && ping -q -c 1 -W 5 $(vm_ipv6 server)" >/dev/null 2>&1 </dev/null ||
            die "the guests are up, but the link between $client and server carries no packets (is ping, from iputils-ping, installed?)."
    done
}
