// Captures whose packets are right one by one but follow no protocol, and logs of programs that make
// very many objects: each command takes time proportional to their number.
#include <fstream>
#include <string>
#include <string_view>
#include <sys/resource.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace hostile_test {

// User CPU time of the children that have ended, in seconds.
double children_s() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

// User CPU time of rocecap with these arguments, in seconds.
double seconds(support::Argv command, const support::Argv& more) {
    command.insert(command.end(), more.begin(), more.end());
    const double before = children_s();
    const auto outcome = support::rocecap(command);
    EXPECT_FALSE(outcome.timed_out) << command.at(0);
    EXPECT_LE(outcome.exit_code, 1) << outcome.err;
    return children_s() - before;
}

// Four times as much input: 4 times the time if it is linear, 16 times if it is quadratic. Other
// programs may slow one of the two down: the best of three attempts counts.
void expect_linear(const support::Argv& command, const support::Argv& input,
                   const support::Argv& larger) {
    double once = 0;
    double four_times = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        once = seconds(command, input);
        four_times = seconds(command, larger);
        if (four_times <= 8 * once + 0.2)
            return;
    }
    ADD_FAILURE() << command.front() << ": " << once << " s, and " << four_times
                  << " s for four times as much";
}

class Hostile : public testing::TestWithParam<const char*> {
  protected:
    // A capture of this many packets.
    static std::string make(std::uint64_t packets, const support::TempPath& path) {
        const auto made = support::run({(support::build_dir() / "bench/make_capture").string(),
                                        std::to_string(packets), path.str(), GetParam()});
        EXPECT_EQ(made.exit_code, 0) << made.all();
        return path.str();
    }
};

// The capture as the link emulator records it: each frame before and after the link.
std::string record(const std::string& capture, const support::TempPath& path) {
    capture::PcapngWriter writer(capture::Sink::create(path.str()), {});
    writer.add_interface({.name = "before"});
    writer.add_interface({.name = "after"});
    capture::FileSource source(capture);
    while (auto frame = source.next()) {
        writer.packet(0, *frame);
        frame->time += std::chrono::nanoseconds(100);
        writer.packet(1, *frame);
    }
    writer.close();
    return path.str();
}

TEST_P(Hostile, four_times_the_packets_take_about_four_times_as_long) {
    constexpr std::uint64_t packets = 10'000;
    const support::TempPath few("hostile_few.pcap"), many("hostile_many.pcap"),
        page("hostile.html"), few_twice("hostile_few.pcapng"), many_twice("hostile_many.pcapng");
    const std::string capture = make(packets, few), larger = make(4 * packets, many);
    const std::string link = record(capture, few_twice), larger_link = record(larger, many_twice);
    expect_linear({"check"}, {link}, {larger_link});
    for (const support::Argv& command :
         {support::Argv{"flows"}, support::Argv{"check", "--at", "192.0.2.2"},
          support::Argv{"explain"}, support::Argv{"timeline"}, support::Argv{"psns"},
          support::Argv{"report", "-o", page.str()}})
        expect_linear(command, {capture}, {larger});
}

// A log of a server with so many objects or calls, one event per line.
class HostileLog {
  public:
    /// `begin_ns`: the time of its first line.
    HostileLog(const support::TempPath& path, std::int64_t begin_ns)
        : file_(path.str()), begin_ns_(begin_ns) {}

    void write(std::string_view kind, std::uint32_t count) {
        add(R"("event":"device","device":"rxe0","gid_index":1,"gid":"::ffff:192.0.2.1")");
        add(R"("event":"pd","handle":1)");
        const bool has_regions = kind == "regions" || kind == "refused accesses";
        for (std::uint32_t i = 1; has_regions && i <= count; ++i)
            add(R"("event":"mr","va":{0},"len":64,"lkey":{0},"rkey":{0},"access":"local_write","pd":1)",
                i);
        for (std::uint32_t i = 1; i <= count; ++i)
            if (kind == "regions")
                add(R"("event":"destroyed","what":"mr","va":{0},"len":64,"lkey":{0},"rkey":{0})",
                    i);
            else if (kind == "windows")
                add(R"("event":"bind_mw","qpn":1,"va":64,"len":64,"rkey":{}01)", i);
            else if (kind == "queue pairs")
                connect(i, i + 1, "RETRY_EXC_ERR");
            else if (kind == "refused accesses")
                connect(i, i + 1, "REM_ACCESS_ERR");
            else if (kind == "queue pairs of one peer")
                connect(i, 7, "RETRY_EXC_ERR");
            else if (kind == "connections of one number")
                connect(9, 7, "RETRY_EXC_ERR");
            else
                add(R"("event":"failed","call":"ibv_reg_mr","error":"ENOMEM","va":64,"len":{})", i);
    }

  private:
    template <typename... Values>
    void add(fmt::format_string<const Values&...> rest, const Values&... values) {
        file_ << fmt::format(R"({{"t_ns":{},"role":"server",{}}})", begin_ns_ + ++lines_ * 1000,
                             fmt::format(rest, values...))
              << '\n';
    }
    // A queue pair with one WRITE, which fails.
    void connect(std::uint32_t qpn, std::uint32_t peer, std::string_view status) {
        add(R"("event":"qp","qpn":{},"type":"RC","max_send_wr":16,"send_cq":1,"recv_cq":1,"pd":1)",
            qpn);
        for (const std::string_view state : {"INIT", "RTR", "RTS"})
            add(R"("event":"qp_state","qpn":{},"state":"{}","dest_qpn":{},"sq_psn":5,"rq_psn":6,)"
                R"("path_mtu":1024,"dest_gid":"::ffff:192.0.2.2")",
                qpn, state, peer);
        add(R"("event":"post_send","qpn":{0},"wr_id":1,"opcode":"RDMA_WRITE","len":8,)"
            R"("remote_va":64,"rkey":{0},"psn_first":5,"psn_last":5)",
            qpn);
        add(R"("event":"wc","qpn":{},"wr_id":1,"status":"{}","opcode":"RDMA_WRITE")", qpn, status);
        add(R"("event":"destroyed","what":"qp","qpn":{})", qpn);
    }

    std::ofstream file_;
    std::int64_t begin_ns_;
    std::int64_t lines_ = 0;
};

class HostileLogs : public testing::TestWithParam<const char*> {};

TEST_P(HostileLogs, four_times_as_long_take_about_four_times_as_long) {
    constexpr std::uint32_t count = 2'000;
    const support::TempPath few("few.jsonl"), many("many.jsonl"), page("hostile.html");
    const std::string capture = "captures/samples/02_cm_send_recv/annotated.pcapng";
    const std::int64_t begin_ns = capture::FileSource(capture).next().value().time.count();
    HostileLog(few, begin_ns).write(GetParam(), count);
    HostileLog(many, begin_ns).write(GetParam(), 4 * count);
    for (const support::Argv& command :
         {support::Argv{"flows"}, support::Argv{"explain"}, support::Argv{"psns"},
          support::Argv{"report", "-o", page.str()}})
        expect_linear(command, {capture, "--log", few.str()}, {capture, "--log", many.str()});
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostileLogs,
                         testing::Values("regions", "windows", "queue pairs", "refused accesses",
                                         "queue pairs of one peer", "connections of one number",
                                         "failed calls"));

// The packets alone take 65 MB in each of the two.
TEST(Memory, of_check_and_explain_is_bounded_by_connections) {
    const support::TempPath capture("usual.pcap");
    const auto made = support::run(
        {(support::build_dir() / "bench/make_capture").string(), "300000", capture.str()});
    ASSERT_EQ(made.exit_code, 0) << made.all();
    constexpr const char* limited = "ulimit -v $3; exec \"$0\" \"$2\" \"$1\"";  // KiB
    const auto check =
        support::run({"bash", "-c", limited, support::rocecap(), capture.str(), "check", "100000"});
    EXPECT_EQ(check.exit_code, 0) << check.err;
    EXPECT_NE(check.out.find("No deviation from the specification"), std::string::npos);
    const auto explain = support::run(
        {"bash", "-c", limited, support::rocecap(), capture.str(), "explain", "130000"});
    EXPECT_EQ(explain.exit_code, 0) << explain.err;
    EXPECT_NE(explain.out.find("1. congestion"), std::string::npos) << explain.out;
    // Both sides of the link, 600,000 frames.
    const support::TempPath both("usual.pcapng");
    const auto link = support::run({"bash", "-c", limited, support::rocecap(),
                                    record(capture.str(), both), "check", "160000"});
    EXPECT_LE(link.exit_code, 1) << link.err;
    EXPECT_NE(link.out.find("as specified"), std::string::npos) << link.out;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Hostile,
                         testing::Values("naks", "descending", "random", "queue-pairs", "reads",
                                         "acks", "missing", "damaged", "unasked"));

}  // namespace hostile_test
