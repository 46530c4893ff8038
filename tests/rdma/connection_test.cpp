// Connection events of a pretended library: those that are waited for, and the sentences about the
// others.
#include <arpa/inet.h>
#include <array>
#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdma/cm_events.hpp"
#include "rdma/pretend_library.hpp"
#include "support/error_text.hpp"

namespace connection_test {

using namespace std::chrono_literals;
using support::error_text;
using Lines = std::vector<std::string>;

constexpr std::string_view is_it_reachable =
    "Check that the address is right and that the host is up (ping), and that the route to it "
    "leaves through an RDMA device (00_hello/devices).";
constexpr std::string_view does_it_listen =
    "Does that host have an RDMA device on that address (00_hello/devices), and does its firewall "
    "let "
    "UDP 4791 through?";

class Connections : public testing::Test {
  protected:
    // What expect() throws if this event comes instead of `wanted`.
    std::string sentence(rdma_cm_event_type wanted, rdma_cm_event_type type, int status,
                         std::string_view answer = {}) {
        auto event = std::make_unique<rdma_cm_event>();
        event->event = type;
        event->status = status;
        event->param.conn.private_data = answer.data();
        event->param.conn.private_data_len = static_cast<std::uint8_t>(answer.size());
        return error_text(
            [&] { rdma::expect(rdma::CmEvent(event.release()), wanted, peer_, stop_); });
    }

    rdma_test::PretendLibrary library_;
    util::StopSignal stop_;
    util::Address peer_ = *util::Address::parse("192.0.2.1");
};

TEST_F(Connections, an_expected_event_is_returned_and_acknowledged_by_its_owner) {
    library_.expect(RDMA_CM_EVENT_ESTABLISHED);
    library_.wake();
    {
        const auto event = rdma::expect_event(&library_.event_channel, RDMA_CM_EVENT_ESTABLISHED,
                                              peer_, stop_, util::deadline_in(5s));
        ASSERT_TRUE(event);
        EXPECT_EQ(event->event, RDMA_CM_EVENT_ESTABLISHED);
        EXPECT_EQ(library_.calls(), Lines{"rdma_get_cm_event()"});
    }
    EXPECT_EQ(library_.calls(), Lines{"rdma_ack_cm_event()"});
}

TEST_F(Connections, an_event_that_cannot_be_acknowledged_is_reported) {
    library_.failing = "rdma_ack_cm_event";
    library_.error = EINVAL;
    testing::internal::CaptureStderr();
    rdma::CmEvent(new rdma_cm_event{}).reset();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "rdma_ack_cm_event failed: Invalid argument\n");
}

TEST_F(Connections, an_event_that_cannot_be_read_throws_the_call) {
    library_.failing = "rdma_get_cm_event";
    library_.error = ENODEV;
    library_.wake();
    EXPECT_THROW(rdma::next_event(&library_.event_channel, stop_, util::deadline_in(5s)),
                 std::system_error);
}

TEST_F(Connections, without_an_event_the_sentence_names_the_call_that_had_no_answer) {
    const auto text = [&](rdma_cm_event_type wanted) {
        return error_text([&] {
            rdma::expect_event(&library_.event_channel, wanted, peer_, stop_,
                               util::deadline_in(0s));
        });
    };
    const auto expected = [&](std::string_view call, std::string_view hint) {
        return fmt::format("{} did not respond in time ({}). {}", peer_.text(), call, hint);
    };
    EXPECT_EQ(text(RDMA_CM_EVENT_ADDR_RESOLVED), expected("rdma_resolve_addr", is_it_reachable));
    EXPECT_EQ(text(RDMA_CM_EVENT_ROUTE_RESOLVED), expected("rdma_resolve_route", does_it_listen));
    EXPECT_EQ(text(RDMA_CM_EVENT_ESTABLISHED), expected("rdma_connect", does_it_listen));
    EXPECT_EQ(text(RDMA_CM_EVENT_DISCONNECTED), expected("rdma_disconnect", does_it_listen));
    EXPECT_EQ(text(RDMA_CM_EVENT_CONNECT_REQUEST), expected("rdma_get_cm_event", does_it_listen));
    raise(SIGTERM);
    EXPECT_EQ(text(RDMA_CM_EVENT_ESTABLISHED),
              fmt::format("stopped by a signal during rdma_connect with {}.", peer_.text()));
    EXPECT_EQ(library_.calls(), Lines{});
}

TEST_F(Connections, another_event_is_explained_with_what_to_try) {
    struct Row {
        rdma_cm_event_type type;
        int status;
        std::string_view answer;
        std::string text;
    };
    const std::array<Row, 10> rows{{
        {RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, "",
         fmt::format("No such device (ADDR_ERROR). {}", is_it_reachable)},
        {RDMA_CM_EVENT_ADDR_ERROR, -1, "",
         "Operation not permitted (ADDR_ERROR). This user may not be allowed to open the RDMA "
         "device: ls -l /dev/infiniband shows who is."},
        {RDMA_CM_EVENT_REJECTED, 8, "",
         "no program listens on this port. Start the server there first, with the same --port."},
        {RDMA_CM_EVENT_REJECTED, 28, "",
         "the program refused it. The server's log has the reason."},
        {RDMA_CM_EVENT_REJECTED,
         28,
         {"too many clients.\0\0", 19},
         "the program refused it: too many clients."},
        {RDMA_CM_EVENT_REJECTED, 28, " to ~", "the program refused it:  to ~."},
        {RDMA_CM_EVENT_REJECTED, 28,
         "\x1f"
         "binary",
         "the program refused it. The server's log has the reason."},
        {RDMA_CM_EVENT_REJECTED, 28, "binary\x7f",
         "the program refused it. The server's log has the reason."},
        {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, "",
         fmt::format("Connection timed out (UNREACHABLE). {}", does_it_listen)},
        {RDMA_CM_EVENT_DISCONNECTED, 0, "", "DISCONNECTED, status 0. See both sides' logs."},
    }};
    for (const Row& row : rows)
        EXPECT_EQ(sentence(RDMA_CM_EVENT_ESTABLISHED, row.type, row.status, row.answer),
                  fmt::format("rdma_connect with {} failed: {}", peer_.text(), row.text));
}

TEST_F(Connections, the_name_of_an_event_has_no_prefix) {
    EXPECT_EQ(rdma::name_of(RDMA_CM_EVENT_CONNECT_REQUEST), "CONNECT_REQUEST");
}

TEST_F(Connections, an_address_is_resolved_again_until_the_time_is_up) {
    for (const int status : {-ETIMEDOUT, -ETIMEDOUT})
        library_.expect(RDMA_CM_EVENT_ADDR_ERROR, status);
    library_.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    util::Address source = *util::Address::parse("192.0.2.9");
    EXPECT_TRUE(rdma::resolve_address(&library_.id, &source, peer_, stop_, 2500ms));
    EXPECT_EQ(library_.calls(),
              (Lines{"rdma_resolve_addr(192.0.2.9, 192.0.2.1, 1000)", "rdma_get_cm_event()",
                     "rdma_ack_cm_event()", "rdma_resolve_addr(192.0.2.9, 192.0.2.1, 1000)",
                     "rdma_get_cm_event()", "rdma_ack_cm_event()",
                     "rdma_resolve_addr(192.0.2.9, 192.0.2.1, 500)", "rdma_get_cm_event()",
                     "rdma_ack_cm_event()"}));
}

TEST_F(Connections, an_address_that_is_not_resolved_is_explained) {
    const auto resolve = [&](std::chrono::milliseconds time) {
        return error_text(
            [&] { rdma::resolve_address(&library_.id, nullptr, peer_, stop_, time); });
    };
    library_.expect(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
    library_.expect(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
    EXPECT_EQ(resolve(2s),
              fmt::format("rdma_resolve_addr with {} failed: Connection timed out (ADDR_ERROR). {}",
                          peer_.text(), is_it_reachable));
    library_.calls();
    library_.expect(RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
    EXPECT_EQ(resolve(5s),
              fmt::format("rdma_resolve_addr with {} failed: Network is unreachable (ADDR_ERROR). "
                          "{}",
                          peer_.text(), is_it_reachable));
    EXPECT_EQ(library_.calls(), (Lines{"rdma_resolve_addr(null, 192.0.2.1, 1000)",
                                       "rdma_get_cm_event()", "rdma_ack_cm_event()"}));
    library_.failing = "rdma_resolve_addr";
    library_.error = EADDRNOTAVAIL;
    EXPECT_THROW(resolve(1s), std::system_error);
}

TEST_F(Connections, are_rejected_with_a_text_of_at_most_148_bytes) {
    rdma::refuse(&library_.id, "full");
    rdma::refuse(&library_.id, std::string(149, 'x'));
    EXPECT_EQ(library_.calls(),
              (Lines{"rdma_reject(full)", "rdma_reject(" + std::string(148, 'x') + ")"}));
    library_.failing = "rdma_reject";
    library_.error = EINVAL;
    EXPECT_THROW(rdma::refuse(&library_.id, "full"), std::system_error);
}

TEST_F(Connections, have_objects_that_destroy_themselves_in_reverse_order) {
    {
        const auto channel = rdma::make_channel();
        EXPECT_EQ(channel.get(), &library_.event_channel);
        const auto id = rdma::make_id(channel.get());
        EXPECT_EQ(id.get(), &library_.id);
        ibv_qp_init_attr attributes{};
        const auto qp = rdma::make_qp(id.get(), nullptr, attributes);
        EXPECT_EQ(qp.get(), &library_.id);
    }
    EXPECT_EQ(library_.calls(),
              (Lines{"rdma_create_event_channel()", "rdma_create_id(0x106)", "rdma_create_qp()",
                     "rdma_destroy_qp()", "rdma_destroy_id()", "rdma_destroy_event_channel()"}));
}

TEST_F(Connections, objects_that_cannot_be_made_throw_the_call) {
    library_.error = EPERM;
    ibv_qp_init_attr attributes{};
    library_.failing = "rdma_create_event_channel";
    EXPECT_THROW(rdma::make_channel(), std::system_error);
    library_.failing = "rdma_create_id";
    EXPECT_THROW(rdma::make_id(&library_.event_channel), std::system_error);
    library_.failing = "rdma_create_qp";
    EXPECT_THROW(rdma::make_qp(&library_.id, nullptr, attributes), std::system_error);
    library_.failing = "rdma_destroy_id";
    testing::internal::CaptureStderr();
    rdma::make_id(&library_.event_channel).reset();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "rdma_destroy_id failed: Operation not permitted\n");
}

}  // namespace connection_test
