# What differs between the architectures of the guests, with Debian's names for them: amd64 and arm64. Packages that differ on the host
# have the machine's name (uname -m) in lab/packages.
# shellcheck shell=bash

# arch_of_machine NAME: prints the architecture of a machine that uname -m or bash's HOSTTYPE calls so; the name itself if it is another.
arch_of_machine() {
    case $1 in
        x86_64) printf amd64 ;;
        aarch64) printf arm64 ;;
        *) printf %s "$1" ;;
    esac
}

HOST_ARCH=$(arch_of_machine "$HOSTTYPE")

# use_arch ARCHITECTURE: sets GUEST_ARCH and the values that depend on it. EMULATED_CPU: for QEMU's software emulation.
use_arch() {
    GUEST_ARCH=$1
    case $1 in
        amd64)
            QEMU=qemu-system-x86_64 QEMU_PACKAGE=qemu-system-x86 KERNEL_META=linux-image-amd64
            # q35: on the older machine type pc, the interrupt table is a program that the ACPI interpreter runs for each device. Under
            # software emulation this takes two seconds at boot.
            QEMU_MACHINE=q35,vmport=off EMULATED_CPU=max CONSOLE=ttyS0 KERNEL_OPTIONS=no_timer_check
            ;;
        arm64)
            QEMU=qemu-system-aarch64 QEMU_PACKAGE=qemu-system-arm KERNEL_META=linux-image-arm64
            # gic-version=max: without it, KVM fails on hosts whose interrupt controller is a GICv3. pauth-impdef: QEMU before 10.0
            # otherwise emulates the architecture's own cipher for each return address, and a boot takes five times the CPU time.
            QEMU_MACHINE=virt,gic-version=max EMULATED_CPU=max,pauth-impdef=on CONSOLE=ttyAMA0 KERNEL_OPTIONS=''
            ;;
        *)
            QEMU=''
            return 1
            ;;
    esac
}

# is_emulated: whether the guests have another architecture than this machine, so KVM cannot run them.
is_emulated() { [[ $GUEST_ARCH != "$HOST_ARCH" ]]; }

# qemu_command HOST ACCEL: sets QEMU_COMMAND to the guest's machine, CPU, memory and kernel command line.
qemu_command() {
    local accel=$2 cpu=host
    # maxcpus is at least 2: with a single CPU, QEMU's emulator (before 8.1) omits the guest's memory barriers, including those towards
    # its own devices. Under load, the network card then misses a kick within minutes and stops sending, and the guest waits. Source:
    # QEMU's commit c914d46d0a64.
    local most=$((LAB_CPUS > 1 ? LAB_CPUS : 2))
    [[ $accel != tcg ]] || accel=tcg,thread=multi cpu=$EMULATED_CPU
    QEMU_COMMAND=("$QEMU" -name "$(guest_name "$1")" -machine "$QEMU_MACHINE" -accel "$accel" -cpu "$cpu"
        -smp "cpus=$LAB_CPUS,maxcpus=$most" -m "$LAB_MEMORY"
        -append "console=$CONSOLE loglevel=4 panic=-1 mitigations=off random.trust_cpu=on${KERNEL_OPTIONS:+ $KERNEL_OPTIONS}")
}
