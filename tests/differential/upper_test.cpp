// The layer above RDMA, compared with tshark's fields: captures of Linux's implementations, and
// messages with random content.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "differential/made_capture.hpp"
#include "trace/service/capsules.hpp"
#include "upper/nvme.hpp"

namespace upper_test {

using namespace service_test;
using differential::MadeCapture;

using Random = std::mt19937_64;

std::vector<std::byte> any_bytes(Random& random, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
    return bytes;
}

// Expects agreement, and at least this number of the protocol's fields.
void expect_agreement(const support::Agreement& agreement, std::string_view protocol,
                      std::uint64_t fields) {
    std::printf("%s", agreement.text().c_str());
    EXPECT_EQ(agreement.problem, "");
    EXPECT_EQ(agreement.mismatches, 0U);
    std::uint64_t of_the_protocol = 0;
    for (const auto& [name, count] : agreement.by_field)
        if (name.starts_with(protocol))
            of_the_protocol += count;
    std::printf("  %lu of them begin with %s\n", static_cast<unsigned long>(of_the_protocol),
                std::string(protocol).c_str());
    EXPECT_GE(of_the_protocol, fields);
}

TEST(Upper, nvme_of_linux_is_what_tshark_sees) {
    expect_agreement(support::compare_with_tshark("tests/upper/captures/nvme.pcapng"), "nvme", 560);
}

TEST(Upper, nfs_of_linux_is_what_tshark_sees) {
    using enum support::Guesses;
    expect_agreement(support::compare_with_tshark("tests/upper/captures/nfs3.pcapng", Allowed),
                     "rpc", 1600);
    expect_agreement(support::compare_with_tshark("tests/upper/captures/nfs4.pcapng", Allowed),
                     "nfs", 300);
    expect_agreement(
        support::compare_with_tshark("captures/samples/27nfs_read/annotated.pcapng", Allowed),
        "rpc", 300);
}

TEST(Upper, iser_of_linux_is_what_tshark_sees) {
    expect_agreement(support::compare_with_tshark("tests/upper/captures/iser.pcapng"), "is", 550);
}

constexpr std::size_t opcode_at = 0;
constexpr std::size_t cid_at = 2;
constexpr std::size_t fctype_at = 4;
constexpr std::size_t sgl_identifier_at = 39;

// Capsules with random content for each opcode. Each command precedes its response, because tshark
// decodes a response according to its command.
TEST(Upper, nvme_commands_of_any_content_are_what_tshark_sees) {
    Random random(5);  // NOLINT(cert-msc51-cpp): the same packets in every run
    MadeCapture capture("nvme");
    capture.add(request(nvme_service, "0000 0100 2000 1f00 0000"));
    capture.add(reply("0000 2000"));
    unsigned cid = 0;
    for (const unsigned opcode :
         {0x00U, 0x01U, 0x02U, 0x04U, 0x05U, 0x08U, 0x09U, 0x0dU, 0x0eU, 0x11U, 0x15U, 0x7fU})
        for (int i = 0; i < 8; ++i) {
            auto command = any_bytes(random, upper::NvmeCommand::size);
            command[opcode_at] = static_cast<std::byte>(opcode);
            command[cid_at] = static_cast<std::byte>(++cid);
            command[cid_at + 1] = static_cast<std::byte>(cid >> 8);
            command[sgl_identifier_at] = std::byte{0x4f};
            if (opcode == upper::NvmeCommand::fabrics)
                command[fctype_at] = std::byte{1};
            capture.add(send(command, false));
            auto response = any_bytes(random, upper::NvmeResponse::size);
            constexpr std::size_t response_cid_at = 12;
            response[response_cid_at] = command[cid_at];
            response[response_cid_at + 1] = command[cid_at + 1];
            capture.add(send(response, true));
        }
    expect_agreement(support::compare_with_tshark(capture.path()), "nvme", 1500);
}

TEST(Upper, nvme_in_the_connection_managers_messages_is_what_tshark_sees) {
    MadeCapture capture("nvme_cm");
    capture.add(request(nvme_service, "0000 0300 2000 1f00 0000"));
    capture.add(reply("0000 4000"));
    capture.add(request(nvme_service, "0000 0300 2000 1f00 0000"));
    capture.add(reject("001c", "0000 0400"));
    expect_agreement(support::compare_with_tshark(capture.path()), "nvme-rdma.cm", 2);
}

}  // namespace upper_test
