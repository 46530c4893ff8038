// How the lab unpacks a distribution's kernel: vmlinux() and has_pvh_entry() of lab/vm/vmlinux.sh,
// with images that the test creates.
#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace vmlinux_test {

const std::string kernel = "an ELF file, as far as this test goes";

void put(std::string& bytes, std::size_t at, std::uint32_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        bytes[at + i] = static_cast<char>(value >> (8 * i));
}

class Vmlinux : public testing::Test {
  protected:
    /// Runs `command` of the script with the file in $1.
    support::Outcome run(const std::string& command) const {
        return support::run(
            {"bash", "-c", "set -o pipefail; . lab/vm/vmlinux.sh; " + command, "-", file_.str()});
    }

    void write(const std::string& bytes) const {
        std::ofstream(file_.str(), std::ios::binary) << bytes;
    }

    /// Returns an image with two setup sectors. The kernel, compressed by `packer`, is at offset 64
    /// after them, followed by `trailer`.
    std::string image(const std::string& packer, const std::string& trailer) const {
        const auto packed = support::run(
            {"bash", "-c", "printf %s \"$2\" | " + packer + " >\"$1\"", "-", file_.str(), kernel});
        EXPECT_EQ(packed.exit_code, 0) << packed.err;
        std::ifstream in(file_.str(), std::ios::binary);
        const std::string payload = std::string(std::istreambuf_iterator<char>(in), {}) + trailer;
        std::string bytes(3 * 512 + 64, '\0');
        bytes[0x1f1] = 2;
        bytes.replace(0x202, 4, "HdrS");
        put(bytes, 0x206, 0x20f, 2);
        put(bytes, 0x248, 64, 4);
        put(bytes, 0x24c, static_cast<std::uint32_t>(payload.size()), 4);
        return bytes + payload + "what stands behind the payload";
    }

    support::TempPath file_{"vmlinuz"};
};

TEST_F(Vmlinux, is_unpacked_from_each_format) {
    const std::string size(4, '\x25');
    for (const auto& [packer, trailer] :
         {std::pair<std::string, std::string>{"xz --check=crc32", size},
          {"zstd -q", size},
          {"gzip", ""}}) {
        write(image(packer, trailer));
        const auto outcome = run("vmlinux \"$1\"");
        EXPECT_EQ(outcome.exit_code, 0) << packer << ": " << outcome.err;
        EXPECT_EQ(outcome.out, kernel) << packer;
    }
}

TEST_F(Vmlinux, is_refused_where_the_image_is_unknown) {
    const std::string good = image("xz --check=crc32", std::string(4, '\x25'));
    std::string old_protocol = good;
    put(old_protocol, 0x206, 0x207, 2);
    std::string unknown_format = good;
    unknown_format[3 * 512 + 64] = 'L';
    for (const std::string& bytes :
         {std::string(), std::string("text"), good.substr(0, 0x24d), old_protocol, unknown_format,
          good.substr(0, good.size() - 60)}) {
        write(bytes);
        const auto outcome = run("vmlinux \"$1\"");
        EXPECT_NE(outcome.exit_code, 0) << bytes.size() << " bytes";
    }
}

TEST_F(Vmlinux, is_entered_directly_where_it_has_the_note_for_it) {
    using std::string_literals::operator""s;
    const std::string before =
        "\x7f"
        "ELF\0\n\n\0\xff"s;
    write(before + "\4\0\0\0\4\0\0\0\x12\0\0\0Xen\0\1\0\0\1"s);
    EXPECT_EQ(run("has_pvh_entry \"$1\"").exit_code, 0);
    write(before + "\4\0\0\0\4\0\0\0\x11\0\0\0Xen\0\1\0\0\1"s);
    EXPECT_EQ(run("has_pvh_entry \"$1\"").exit_code, 1);
}

}  // namespace vmlinux_test
