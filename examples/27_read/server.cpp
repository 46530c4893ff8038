// Lesson 27, server: offers a disk, or with --nfs a folder. All it does is to write the kernel's
// configuration; the kernel listens, answers, and moves the data.
#include <filesystem>
#include <vector>

#include "disk.hpp"
#include "examples/common/program.hpp"
#include "nfsd.hpp"

namespace {

namespace fs = std::filesystem;

const std::string root = "/sys/kernel/config/nvmet/";
const std::string subsystem = root + "subsystems/" + lesson27::subsystem;
const std::string disk = subsystem + "/namespaces/1";
const std::string port = root + "ports/27";
const std::string link = port + "/subsystems/" + lesson27::subsystem;
const std::string file = "/tmp/rdma-wire-lab.disk";

/// A disk of the kernel's NVMe target, in its configuration file system. One for each host.
class Target {
  public:
    explicit Target(const util::Address& address) {
        lesson27::load_module("nvmet-rdma");
        if (!fs::exists(root))
            throw util::Error(
                "/sys/kernel/config has no nvmet: mount it with 'sudo mount -t configfs config "
                "/sys/kernel/config'.");
        remove();  // what a killed server has left
        std::vector<char> bytes(lesson27::disk_size);
        lesson27::fill(bytes, 0);
        lesson27::write_file(file, {bytes.begin(), bytes.end()});

        // 1. The disk: a file. buffered_io, because not every file system knows O_DIRECT.
        fs::create_directories(disk);
        set(subsystem, "attr_allow_any_host", "1");
        set(disk, "device_path", file);
        set(disk, "device_uuid", lesson27::uuid);
        set(disk, "buffered_io", "1");
        set(disk, "enable", "1");

        // 2. The port: where the kernel listens with rdma_cm.
        fs::create_directories(port);
        set(port, "addr_trtype", "rdma");
        set(port, "addr_adrfam", address.is_ipv6() ? "ipv6" : "ipv4");
        set(port, "addr_traddr", address.host());
        set(port, "addr_trsvcid", std::to_string(address.port()));

        // 3. The disk at the port. From here on, anybody may connect.
        std::error_code error;
        fs::create_directory_symlink(subsystem, link, error);
        if (error)
            throw util::Error(fmt::format("cannot listen at {} port {}: {}; dmesg says why.",
                                          address.host(), address.port(), error.message()));
    }
    ~Target() { remove(); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    Target(Target&&) = delete;
    Target& operator=(Target&&) = delete;

  private:
    static void set(const std::string& folder, const std::string& name, const std::string& value) {
        lesson27::write_file(folder + '/' + name, value);
    }

    static void remove() {
        std::error_code ignored;
        for (const std::string& path : {link, port, disk, subsystem, file})
            fs::remove(path, ignored);
    }
};

struct Options {
    common::ServerOptions server{.local = {}, .port = lesson27::nvme_port};
    bool nfs = false;
};

int run(Options options, runlog::Log& log, util::StopSignal& stop) {
    options.server.port = lesson27::port(options.server.port, options.nfs);
    const util::Address address = options.server.address();
    std::optional<Target> target;
    std::optional<lesson27::Nfsd> nfsd;
    if (options.nfs)
        nfsd.emplace(address.port());
    else
        target.emplace(address);
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    while (util::wait_readable(nfsd ? nfsd->questions() : -1, stop, std::nullopt) ==
           util::Ready::input)
        nfsd->answer();
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 27, server: offers a disk by NVMe over RDMA, or a folder by NFS.");
    Options options;
    command_line.add(options.server);
    command_line.flag("--nfs", options.nfs, "A folder, by NFS over RDMA (port 20049)");
    return command_line.main(argc, argv,
                             [&](auto& log, auto& stop) { return run(options, log, stop); });
}
