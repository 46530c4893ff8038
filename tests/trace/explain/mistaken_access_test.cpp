// Refused accesses: what the program took for an address or an rkey, and what was accepted before.
#include <fmt/format.h>

#include "trace/explain/scene.hpp"

namespace explain_test {

constexpr std::uint64_t start = 0x7f0000001000;
constexpr std::uint32_t key = 0x11223344;

class MistakenAccess : public Scene {
  protected:
    void refuse(std::uint64_t at, std::uint32_t its_key = key) {
        write(100, at, its_key, 64);
        nak(100, syndrome::access_error);
    }
};

struct Mistake {
    const char* name;
    std::uint64_t va;
    std::uint32_t rkey;
    const char* text;
};

class OfAddressOrRkey : public MistakenAccess, public testing::WithParamInterface<Mistake> {};

TEST_P(OfAddressOrRkey, is_recognized) {
    connect();
    region("server", start, 4096, key, "local_write remote_write");
    region("client", 0x7e0012340000, 4096, 9, "local_write remote_write");
    refuse(GetParam().va, GetParam().rkey);
    answered();
    EXPECT_EQ(first().text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    MistakenAccess, OfAddressOrRkey,
    testing::Values(
        Mistake{"byte_order_of_address", 0x00100000'007f0000, key,
                "the access is outside of the region. In the other byte order, 0x100000007f0000 "
                "lies in it."},
        Mistake{"high_bits_lost", 0x1010, key,
                "the access is outside of the region. The low 32 bits of 0x1010 are right, the "
                "high 32 bits are not."},
        Mistake{"own_address", 0x7e0012340010, key,
                "the access is outside of the region. 0x7e0012340010 is an address of the client: "
                "0x7e0012340000 + 4096 B."},
        Mistake{"offset", 64, key,
                "the access is outside of the region. 0x40 is an offset; the request needs an "
                "address."},
        Mistake{"nothing_known", 0x123456789000, key, "the access is outside of the region."},
        Mistake{"byte_order_of_rkey", start, 0x44332211,
                "the server has no memory region with rkey 0x44332211. In the other byte order it "
                "is 0x11223344, which it has."},
        Mistake{"own_rkey", start, 9,
                "the server has no memory region with rkey 0x00000009. It is the rkey of a region "
                "of the client."}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(MistakenAccess, of_bytes_that_were_written_before) {
    write(99, start, key, 64);
    ack(99);
    refuse(start);
    EXPECT_EQ(answered(), "deregistered likely");
}

TEST_F(MistakenAccess, of_bytes_that_were_read_before) {
    auto before = read(to_server, 99, 64);
    before.reth = wire::Reth{.va = start, .rkey = key, .dmalen = 64};
    add(before);
    refuse(start);
    EXPECT_EQ(answered(), "missing-access-right likely");
    EXPECT_TRUE(shows_frame(1));
}

TEST_F(MistakenAccess, of_bytes_behind_those_that_were_written_before) {
    write(99, start, key, 64);
    ack(99);
    refuse(start + 4096);
    EXPECT_EQ(answered(), "out-of-bounds possible");
}

TEST_F(MistakenAccess, of_another_rkey_than_before_is_not_explained_by_it) {
    write(99, start, key + 1, 64);
    ack(99);
    refuse(start);
    EXPECT_EQ(answered(), "remote-access certain");
}

// An access in the requester's log before the refused WRITE of 64 bytes. There is no capture.
struct Earlier {
    const char* name;
    const char* opcode;
    std::uint64_t va, length;
    std::uint32_t rkey;
    bool is_completed;
    const char* expected;
};

class LoggedAccess : public MistakenAccess {
  protected:
    void posts_access(int number, const char* opcode, std::uint64_t at, std::uint64_t length,
                      std::uint32_t its_key) {
        log("client",
            fmt::format(R"("event":"post_send","qpn":33,"wr_id":{},"opcode":"{}","len":{},)"
                        R"("remote_va":{},"rkey":{},"request":{})",
                        number, opcode, length, at, its_key, number));
    }
    void completes_access(int number, std::string_view status) {
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":{},"queue":"send","request":{},)"
                                  R"("status":"{}")",
                                  number, number, status));
    }
};

class CompletedAccess : public LoggedAccess, public testing::WithParamInterface<Earlier> {};

TEST_P(CompletedAccess, before_the_refused_one) {
    const Earlier& earlier = GetParam();
    make("client", client());
    ready("client", client());
    posts_access(0, earlier.opcode, earlier.va, earlier.length, earlier.rkey);
    posts_access(1, "RDMA_WRITE", start, 64, key);
    if (earlier.is_completed)
        completes_access(0, "SUCCESS");
    completes_access(1, "REM_ACCESS_ERR");
    EXPECT_EQ(answered(), earlier.expected);
    const bool is_known = std::string_view(earlier.expected) != "remote-access certain";
    EXPECT_EQ(first().evidence.size(), is_known ? 3U : 2U);
    EXPECT_EQ(first().evidence.front().text.find("wr 0") != std::string::npos, is_known);
}

INSTANTIATE_TEST_SUITE_P(
    MistakenAccess, CompletedAccess,
    testing::Values(
        Earlier{"same", "RDMA_WRITE", start, 64, key, true, "deregistered likely"},
        Earlier{"around", "RDMA_WRITE", start - 8, 72, key, true, "deregistered likely"},
        Earlier{"with_immediate", "RDMA_WRITE_WITH_IMM", start, 64, key, true,
                "deregistered likely"},
        Earlier{"read", "RDMA_READ", start, 64, key, true, "missing-access-right likely"},
        Earlier{"shorter", "RDMA_WRITE", start, 63, key, true, "remote-access certain"},
        Earlier{"behind", "RDMA_WRITE", start + 1, 64, key, true, "remote-access certain"},
        Earlier{"of_another_rkey", "RDMA_WRITE", start, 64, key + 1, true, "remote-access certain"},
        Earlier{"without_a_completion", "RDMA_WRITE", start, 64, key, false,
                "remote-access certain"}),
    [](const auto& one) { return std::string(one.param.name); });

// The log may lack the requests in between.
TEST_F(LoggedAccess, of_a_log_that_lacks_events_is_not_compared) {
    make("client", client());
    ready("client", client());
    posts_access(0, "RDMA_WRITE", start, 64, key);
    completes_access(0, "SUCCESS");
    log("client", R"("event":"dropped","count":1)");
    posts_access(1, "RDMA_WRITE", start, 64, key);
    completes_access(1, "REM_ACCESS_ERR");
    EXPECT_EQ(answered(), "remote-access certain");
}

}  // namespace explain_test
