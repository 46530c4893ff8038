// How the lab detects that KVM does not start a guest: kernel_boots() of lab/vm/boot.sh, with a
// process in place of QEMU.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

class KernelBoots : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directories(folder_.str()); }

    /// Returns the status and the error of kernel_boots while `qemu` runs and writes to the guest's
    /// console.
    std::string boots(const std::string& qemu) const {
        const std::string script = R"(set -euo pipefail
            console=$1/console
            . lab/lib/common.sh
            . lab/vm/boot.sh
            guest_console() { printf '%s' "$console"; }
            guest_pid() { printf '%s' "$qemu_pid"; }
            pause() { sleep "$1"; }
            KVM_BOOT_CPU_SECONDS=1 FAILURE=
            : >"$console"
            bash -c "$2" >"$console" &
            qemu_pid=$!
            status=0
            kernel_boots server $(($(now_ms) + 20000)) || status=$?
            kill "$qemu_pid" 2>/dev/null || true
            printf '%s: %s' "$status" "$FAILURE")";
        const auto outcome = support::run({"bash", "-c", script, "-", folder_.str(), qemu});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.out;
    }

    support::TempPath folder_{"kernel_boots"};
};

TEST_F(KernelBoots, when_the_first_program_says_so) {
    EXPECT_EQ(boots("echo 'lab: starting'; exec sleep 60"), "0: ");
}

TEST_F(KernelBoots, not_when_it_only_uses_cpu_time) {
    EXPECT_EQ(boots("while :; do :; done"),
              "1: the kernel of the server guest did not start within 1 s of CPU time");
}

TEST_F(KernelBoots, leaves_the_end_of_qemu_to_who_waits_for_the_guest) {
    EXPECT_EQ(boots("exit 1"), "0: ");
}

}  // namespace
