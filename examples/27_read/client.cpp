// Lesson 27, client: connects to the disk, or with --nfs mounts the folder, calls read(), and compares
// what came.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "examples/common/program.hpp"
#include "nfs.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace {

namespace fs = std::filesystem;
constexpr std::size_t block = 4096;  // O_DIRECT: addresses and lengths are multiples of it

struct Options {
    common::ClientOptions client;
    std::uint64_t offset = 0;
    std::uint64_t length = block;
    bool cached = false;
    bool write = false;
    bool nfs = false;
};

/// The connection to the disk. The kernel keeps it, so the destructor must end it.
class Controller {
  public:
    explicit Controller(const util::Address& server) {
        lesson27::load_module("nvme-rdma");
        const util::Fd fabrics(CHECK_ERRNO(open("/dev/nvme-fabrics", O_RDWR | O_CLOEXEC)));
        const std::string wanted = fmt::format("transport=rdma,traddr={},trsvcid={},nqn={}",
                                               server.host(), server.port(), lesson27::subsystem);
        if (write(fabrics.get(), wanted.data(), wanted.size()) < 0)
            throw util::Error(
                fmt::format("cannot connect to the disk at {} port {}: {}. Is lesson "
                            "27's server running there?",
                            server.host(), server.port(), std::strerror(errno)));
        // "instance=0,cntlid=1"
        std::string answer(64, '\0');
        const ssize_t size = read(fabrics.get(), answer.data(), answer.size());
        answer.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        number_ = std::stoi(answer.substr(answer.find('=') + 1));
    }
    ~Controller() {
        std::ofstream(fmt::format("/sys/class/nvme/nvme{}/delete_controller", number_)) << 1;
    }
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;
    Controller(Controller&&) = delete;
    Controller& operator=(Controller&&) = delete;

    /// The device file, when the kernel has asked the disk what it is. Throws util::Error.
    std::string device(util::StopSignal& stop, util::Deadline deadline) const {
        do {
            for (const auto& entry : fs::directory_iterator("/sys/block")) {
                std::string name = "/dev" / entry.path().filename();
                std::string uuid;
                if (std::ifstream(entry.path() / "uuid") >> uuid && uuid == lesson27::uuid &&
                    fs::exists(name))
                    return name;
            }
        } while (common::nap(stop, deadline));
        throw util::Error("the kernel has connected, but shows no disk: dmesg says why.");
    }

  private:
    int number_ = 0;
};

struct Free {
    void operator()(char* memory) const { std::free(memory); }
};

int run(Options options, runlog::Log& log, util::StopSignal& stop) {
    options.client.port = lesson27::port(options.client.port, options.nfs);
    const util::Address server = options.client.resolve_server();
    if (!options.cached && !options.nfs &&
        (options.offset % block != 0 || options.length % block != 0))
        throw util::Error(
            fmt::format("without --cached, --offset and --length are multiples of {}.", block));
    if (options.offset + options.length > lesson27::disk_size)
        throw util::Error(
            fmt::format("the disk has {} bytes: --offset {} and --length {} go beyond "
                        "its end.",
                        lesson27::disk_size, options.offset, options.length));

    // 1. The connection: the kernel resolves, connects and creates queue pairs, as in lesson 01.
    std::optional<Controller> controller;
    std::optional<lesson27::NfsMount> mounted;
    std::string name = lesson27::NfsMount::file();
    if (options.nfs)
        mounted.emplace(server);
    else
        name = controller.emplace(server).device(stop, util::deadline_in(options.client.timeout));

    // 2. The call. Memory of this program, page by page, is where the data will arrive.
    const util::Fd disk(
        CHECK_ERRNO(open(name.c_str(), (options.write ? O_RDWR : O_RDONLY) | O_CLOEXEC |
                                           (options.cached ? 0 : O_DIRECT))));
    log.event("disk", {{"name", name}, {"bytes", lesson27::disk_size}});
    const std::unique_ptr<char, Free> memory(
        static_cast<char*>(std::aligned_alloc(block, lesson27::disk_size)));
    const std::span bytes(memory.get(), options.length);
    const std::size_t skipped = options.offset % lesson27::line;
    std::vector<char> lines(skipped + options.length + lesson27::line);
    lesson27::fill(lines, options.offset - skipped, options.write ? "new" : "disk");
    const auto expected = std::span(lines).subspan(skipped, options.length);
    const auto call = [&](const char* what, auto function) {
        const auto began = util::Clock::now();
        const ssize_t done =
            function(disk.get(), bytes.data(), bytes.size(), static_cast<off_t>(options.offset));
        if (done < 0)
            throw util::Error(
                fmt::format("{} failed: {}; dmesg says why.", what, std::strerror(errno)));
        const auto took =
            std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - began);
        log.event(what, {{"offset", options.offset}, {"bytes", done}, {"us", took.count()}});
    };
    if (options.write) {
        std::ranges::copy(expected, bytes.begin());
        call("write", [](auto... arguments) { return pwrite(arguments...); });
    }
    std::ranges::fill(bytes, 0);
    call("read", [](auto... arguments) { return pread(arguments...); });

    // 3. What came is what the disk has.
    const bool good = std::ranges::equal(bytes, expected);
    log.event("check", {{"verdict", good ? "good" : "bad"},
                        {"what", good ? "the bytes are those of the disk"
                                      : "the bytes are not those of the disk"}});
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client", "Lesson 27, client: reads a disk of another host.");
    Options options;
    options.client.port = lesson27::nvme_port;
    command_line.add(options.client);
    command_line.number("--offset", options.offset, 0, lesson27::disk_size - 1,
                        "First byte to read");
    command_line.size("--length", options.length, 1, lesson27::disk_size, "Bytes to read");
    command_line.flag("--cached", options.cached, "Read through the kernel's page cache");
    command_line.flag("--nfs", options.nfs,
                      "A file by NFS over RDMA (port 20049) instead of a disk by NVMe");
    command_line.flag("--write", options.write, "Write these bytes first");
    return command_line.main(argc, argv,
                             [&](auto& log, auto& stop) { return run(options, log, stop); });
}
