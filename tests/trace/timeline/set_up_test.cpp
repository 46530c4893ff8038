// Packets of connection set-up: their sender and queue pair.
#include <gtest/gtest.h>

#include "trace/timeline/join.hpp"

namespace set_up_test {

using timeline::CmKey;
using timeline::Join;
using timeline::SegmentKey;

const std::string server = "192.0.2.1";
const std::string client = "192.0.2.2";

Join two_hosts() {
    Join join;
    join.learn({0, "server", "ready", {{"address", server}, {"port", 18515U}}});
    for (const char* role : {"server", "client"}) {
        const std::string gid = "::ffff:" + (role == std::string("server") ? server : client);
        join.learn({0, role, "device", {{"gid", gid}}});
        join.learn({0, role, "qp", {{"qpn", role == std::string("server") ? 0x21U : 0x12U}}});
    }
    return join;
}

timeline::SetUp by_cm(const char* role, std::optional<std::uint32_t> qpn) {
    return {timeline::SetUp::By::ConnectionManager, role, qpn};
}

TEST(SetUpOf, follows_a_connection_by_its_communication_ids) {
    Join join = two_hosts();
    EXPECT_EQ(join.set_up_of(CmKey{client, server, 77, 0, 0x12}), by_cm("client", 0x12));
    EXPECT_EQ(join.set_up_of(CmKey{server, client, 99, 77, 0x21}), by_cm("server", 0x21));
    EXPECT_EQ(join.set_up_of(CmKey{client, server, 77, 99, std::nullopt}), by_cm("client", 0x12));
    EXPECT_EQ(join.set_up_of(CmKey{server, client, 99, 77, std::nullopt}), by_cm("server", 0x21));
}

TEST(SetUpOf, gives_a_reject_to_the_end_that_has_no_queue_pair_yet) {
    Join join = two_hosts();
    join.set_up_of(CmKey{client, server, 77, 0, 0x12});
    EXPECT_EQ(join.set_up_of(CmKey{server, client, 0, 77, std::nullopt}),
              by_cm("server", std::nullopt));
}

TEST(SetUpOf, leaves_connections_of_others_alone) {
    Join join = two_hosts();
    EXPECT_FALSE(join.set_up_of(CmKey{client, server, 78, 0, 0x13}));  // no log has that QP
    EXPECT_FALSE(join.set_up_of(CmKey{client, server, 79, 99, std::nullopt}));
    EXPECT_FALSE(join.set_up_of(CmKey{"198.51.100.1", server, 77, 0, 0x12}));
}

TEST(SetUpOf, knows_the_exchange_by_the_port_that_the_server_listens_on) {
    Join join = two_hosts();
    EXPECT_EQ(join.set_up_of(SegmentKey{client, server, 40000, 18515}),
              (timeline::SetUp{timeline::SetUp::By::Exchange, "client", std::nullopt}));
    EXPECT_EQ(join.set_up_of(SegmentKey{server, client, 18515, 40000})->role, "server");
    EXPECT_FALSE(join.set_up_of(SegmentKey{client, server, 40000, 22}));
}

}  // namespace set_up_test
