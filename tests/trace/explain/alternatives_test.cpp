// What certain causes could have been, and the data against it.
#include "trace/explain/scene.hpp"

namespace explain_test {

class Alternatives : public Scene {
  protected:
    static constexpr std::uint64_t start = 0x1000;
    static constexpr std::uint32_t key = 0x300;

    /// What the first cause excludes, a line each.
    std::string excluded() {
        answered();
        std::string all;
        for (const explain::Excluded& one : first().excluded)
            all += std::string(explain::name(one.code)) + ": " + one.because + '\n';
        return all;
    }
    void refuse(std::uint64_t at, std::uint32_t its_key) {
        write(100, at, its_key, 64);
        nak(100, syndrome::access_error);
    }
};

TEST_F(Alternatives, of_an_access_without_a_right) {
    connect();
    region("server", start, 4096, key, "local_write remote_read");
    refuse(start, key);
    EXPECT_EQ(excluded(), R"(wrong-rkey: the server registered memory with rkey 0x00000300
deregistered: the log has no deregistration of it
other-pd: the region and the queue pair are in protection domain 1
out-of-bounds: 0x1000 + 64 B lies in 0x1000 + 4096 B
)");
    EXPECT_EQ(first().code, explain::Code::MissingAccessRight);
}

TEST_F(Alternatives, of_an_access_out_of_bounds) {
    connect();
    region("server", start, 32, key, "local_write remote_write");
    refuse(start, key);
    EXPECT_EQ(excluded(), R"(wrong-rkey: the server registered memory with rkey 0x00000300
deregistered: the log has no deregistration of it
other-pd: the region and the queue pair are in protection domain 1
missing-access-right: the region and the queue pair have remote_write
)");
}

TEST_F(Alternatives, of_an_rkey_that_nobody_has) {
    connect();
    region("server", start, 4096, key, "local_write remote_write");
    refuse(start, key + 1);
    EXPECT_EQ(excluded(), "deregistered: no region in the log of the server ever had this rkey\n");
}

TEST_F(Alternatives, of_different_first_psns) {
    Pair other = server();
    other.rq_psn = 7;
    connect(client(), other);
    give_up(100);
    EXPECT_EQ(excluded(), R"(wrong-gid: the requests go to 192.0.2.1, an address of the server
wrong-qpn: 0x000021 and 0x000011 are connected to each other
peer-not-ready: the server's queue pair 0x000011 was in RTR 0.0 ms before the first request
path-mtu-mismatch: it is 1024 at both ends
)");
    EXPECT_EQ(first().code, explain::Code::WrongPsn);
}

TEST_F(Alternatives, are_not_named_for_what_is_only_likely) {
    refuse(start, key);
    answered();
    EXPECT_TRUE(first().excluded.empty());
}

}  // namespace explain_test
