"""a-firewall.py SECONDS COMMAND...: runs COMMAND, and SECONDS after its first RoCE packet puts up a firewall on this host: RoCE packets
that arrive are dropped (tc), and each is answered by an ICMP message 'administratively prohibited'. Takes it down at the end."""
import signal
import socket
import struct
import subprocess
import sys
import time


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff


def stop(*_):
    raise SystemExit


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
tap.bind(("eth0", 0x0800))
tap.settimeout(0.1)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
child = subprocess.Popen(sys.argv[2:])
first = up = None
sent = 0
try:
    subprocess.run("tc qdisc add dev eth0 clsact", shell=True, check=True)
    while child.poll() is None:
        if first and not up and time.time() > first + float(sys.argv[1]):
            subprocess.run("tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto udp dst_port 4791 action drop || "
                           "tc filter add dev eth0 ingress protocol ip prio 1 u32 match ip protocol 17 0xff match ip dport 4791 0xffff action drop",
                           shell=True, check=True)
            up = time.time()
            print("firewall up", flush=True)
        try:
            packet, address = tap.recvfrom(9000)
        except socket.timeout:
            continue
        size = (packet[0] & 15) * 4
        if address[2] != socket.PACKET_HOST or packet[9] != 17 or packet[size + 2:size + 4] != b"\x12\xb7":
            continue
        first = first or time.time()
        if up and sent < 200:
            body = struct.pack("!BBHI", 3, 13, 0, 0) + packet[:size + 28 + (size & 1)]
            body += b"\0" * (len(body) & 1)
            raw.sendto(body[:2] + struct.pack("!H", checksum(body)) + body[4:], (socket.inet_ntoa(packet[12:16]), 0))
            sent += 1
finally:
    subprocess.run("tc qdisc del dev eth0 clsact", shell=True)
    print("firewall down, ICMP sent:", sent, flush=True)
    if child.poll() is None:
        child.terminate()
        child.wait()
