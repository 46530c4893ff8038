#include "support/other_lab.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace support {
namespace {

namespace fs = std::filesystem;

// Reuses the guests' kernel and sshd, and the known accelerator. The links are relative because a
// guest mounts the host's files at another path.
void share(const fs::path& state) {
    fs::create_directories(state);
    for (const char* name : {"kernel", "layer", "accel"}) {
        std::error_code ignored;
        fs::create_symlink(fs::path("../lab") / name, state / name, ignored);
    }
}

}  // namespace

OtherLab::OtherLab(std::string state, Argv settings)
    : state_(std::move(state)), environment_(std::move(settings)) {
    share(state_);
    environment_.push_back("LAB_STATE=" + fs::absolute(state_).string());
}

OtherLab::~OtherLab() {
    run({"lab/lab", "down"});
}

Outcome OtherLab::run(const Argv& argv, const Argv& more, std::chrono::milliseconds time) const {
    Argv environment = environment_;
    environment.insert(environment.end(), more.begin(), more.end());
    return support::run(argv, environment, time);
}

Outcome OtherLab::exec(const std::string& host, const Argv& command) const {
    return run(on(host, command));
}

std::unique_ptr<Process> OtherLab::start(const std::string& host, const Argv& command) const {
    Argv argv = on(host, {"bash", "lab/host/supervise", "0"});
    argv.insert(argv.end(), command.begin(), command.end());
    return std::make_unique<Process>(argv, environment_, Input::held_open);
}

Argv OtherLab::as_ssh(const std::vector<std::string>& addresses) const {
    std::map<std::string, std::string> server;  // all guests have the same key
    std::string client_ports;
    std::ifstream config(state_ + "/run/ssh_config");
    std::string host;
    for (std::string key, value; config >> key >> value;) {
        if (key == "Host")
            host = value;
        else if (host == "server")
            server[key] = value;
        else if (key == "Port")
            client_ports += value + ' ';
    }
    std::string client_ips;
    std::string clients;
    for (std::size_t i = 1; i < addresses.size(); ++i) {
        client_ips += addresses[i] + ' ';
        clients += "root@127.0.0.1 ";
    }
    return {"LAB_BACKEND=ssh",
            "CAPTURE_SERVER_IP=" + addresses.at(0),
            "CAPTURE_CLIENT_IP=" + client_ips,
            "LAB_SERVER=root@127.0.0.1",
            "LAB_CLIENT=" + clients,
            "LAB_SERVER_PORT=" + server["Port"],
            "LAB_CLIENT_PORT=" + client_ports,
            "LAB_SSH_KEY=" + server["IdentityFile"],
            "LAB_SSH_OPTIONS=-o HostKeyAlias=rdma-lab-guest -o UserKnownHostsFile=" +
                server["UserKnownHostsFile"]};
}

std::string OtherLab::guests() const {
    return support::run({"bash", "-c",
                         "ps -eo pid,args | grep -F -- \" of $0 -\" | grep -v grep || true",
                         fs::absolute(state_).string()})
        .out;
}

}  // namespace support
