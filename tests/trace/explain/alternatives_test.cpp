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
wrong-pkey: the requests have P_Key 0xffff, the default partition
wrong-qpn: 0x000021 and 0x000011 are connected to each other
peer-not-ready: the server's queue pair 0x000011 was in RTR 0.0 ms before the first request
path-mtu-mismatch: it is 1024 at both ends
)");
    EXPECT_EQ(first().code, explain::Code::WrongPsn);
}

// The PSN of a response shows that it is for the requests of another queue pair.
// Of two causes that fit, one follows from the data: the client has another queue pair for the server's.
TEST_F(Alternatives, that_the_data_show_is_the_cause_itself) {
    make("client", client());
    Pair crosswise = client();
    crosswise.qpn = 0x22;
    make("client", crosswise);
    ready("client", crosswise);
    add(packet(to_server, opcode::send_only, 100, 8));
    ack(7);
    give_up(100);
    EXPECT_EQ(answered(), "wrong-qpn certain");
    EXPECT_EQ(first().open, std::vector<explain::Code>{});
}

TEST_F(Alternatives, of_an_access_that_fails_two_checks_are_both_shown) {
    connect();
    region("server", start, 32, key, "local_write remote_read");
    refuse(start, key);
    EXPECT_EQ(answered(), "out-of-bounds likely");
    EXPECT_EQ(first().open, std::vector{explain::Code::MissingAccessRight});
    ASSERT_EQ(last_.causes.size(), 2U);
    EXPECT_EQ(last_.causes[1].code, explain::Code::MissingAccessRight);
}

TEST_F(Alternatives, of_an_access_are_open_without_the_queue_pairs_attributes) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server", R"("event":"qp_state","qpn":17,"state":"RTR","dest_qpn":33)");
    region("server", start, 32, key, "local_write remote_write");
    refuse(start, key);
    EXPECT_EQ(answered(), "out-of-bounds likely");
    EXPECT_EQ(first().open,
              (std::vector{explain::Code::OtherPd, explain::Code::MissingAccessRight}));
}

TEST_F(Alternatives, of_a_packet_dropped_by_one_check_are_those_of_the_checks_before_it) {
    make("server", server());
    make("client", client());
    ready("client", client());
    give_up(100);
    EXPECT_EQ(answered(), "peer-not-ready certain");
}

TEST_F(Alternatives, are_not_named_for_what_is_only_likely) {
    refuse(start, key);
    answered();
    EXPECT_TRUE(first().excluded.empty());
}

}  // namespace explain_test
