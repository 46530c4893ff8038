"""a-nat.py COMMAND...: runs COMMAND on a host behind a NAT that rewrites the UDP source port of RoCE packets, and knows no ICRC (tc pedit)."""
import signal
import subprocess
import sys


def stop(*_):
    raise SystemExit(1)


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
child = None
try:
    for line in ("tc qdisc add dev eth0 clsact",
                 "tc filter add dev eth0 egress protocol ip prio 1 flower ip_proto udp dst_port 4791 "
                 "action pedit ex munge udp sport set 1027 pipe csum ip and udp"):
        subprocess.run(line, shell=True, check=True)
    print("NAT up", flush=True)
    child = subprocess.Popen(sys.argv[1:])
    status = child.wait()
finally:
    subprocess.run("tc qdisc del dev eth0 clsact", shell=True)
    if child and child.poll() is None:
        child.terminate()
        child.wait()
sys.exit(status)
