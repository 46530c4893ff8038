#include "capture/live_source.hpp"

#include <algorithm>
#include <array>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/devices.hpp"
#include "util/error.hpp"

namespace capture {
namespace {

// libpcap also opens devices that are not network interfaces: rdmasniff's mlx5_0, and mlx5_0:2 for
// its second port.
std::string without_port(const std::string& name) {
    return name.substr(0, name.find(':'));
}

void need_known(const LiveOptions& options) {
    const std::string& name = options.interface;
    const auto names = interface_names();
    if (names.contains(name) || libpcap_names().contains(without_port(name)))
        return;
    const auto device =
        std::ranges::find(options.rdma_devices, without_port(name), &RdmaDevice::name);
    if (device != options.rdma_devices.end())
        throw util::Error(not_sniffable(*device));
    throw util::Error(fmt::format("there is no interface '{}' here: choose one of {}.", name,
                                  fmt::join(names, ", ")));
}

std::string own_path() {
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "rocecap";
}

std::string activation_error(pcap_t* handle, int error, const std::string& name) {
    switch (error) {
        case PCAP_ERROR_PERM_DENIED:
        case PCAP_ERROR_PROMISC_PERM_DENIED:
            return fmt::format(
                "not allowed to capture on {}: run it with sudo, allow it once with 'sudo setcap "
                "cap_net_raw+ep {}', or capture inside the lab with 'lab/lab capture'.",
                name, own_path());
        case PCAP_ERROR_IFACE_NOT_UP:
            return fmt::format("{0} is down: bring it up with 'ip link set {0} up'.", name);
        default: {
            const std::string_view detail = pcap_geterr(handle);
            return fmt::format("cannot capture on {}: {}{}{}.", name, pcap_statustostr(error),
                               detail.empty() ? "" : ": ", detail);
        }
    }
}

PcapHandle activate(const LiveOptions& options) {
    const std::string& name = options.interface;
    need_known(options);
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    PcapHandle handle(pcap_create(name.c_str(), why.data()));
    if (!handle)
        throw util::Error(fmt::format("cannot capture on {}: {}.", name, why.data()));
    const auto need = [&](int result) {
        if (result != 0)
            throw util::Error(activation_error(handle.get(), result, name));
    };
    need(pcap_set_snaplen(handle.get(), options.snaplen));
    need(pcap_set_buffer_size(handle.get(), options.buffer_bytes));
    need(pcap_set_timeout(handle.get(), static_cast<int>(options.latency.count())));
    need(pcap_set_promisc(handle.get(), options.promiscuous ? 1 : 0));
    // If a device has no nanoseconds, next_frame() scales its microseconds.
    [[maybe_unused]] const int precision =
        pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
    if (const int result = pcap_activate(handle.get()); result < 0)
        throw util::Error(activation_error(handle.get(), result, name));
    if (pcap_setnonblock(handle.get(), 1, why.data()) != 0)
        throw util::Error(fmt::format("cannot capture on {}: {}.", name, why.data()));
    return handle;
}

}  // namespace

std::string default_filter(wire::LinkType link_type) {
    if (link_type != wire::LinkType::Ethernet)
        return "udp port 4791";
    return "udp port 4791 or ether proto 0x8915 or "
           "(vlan and (udp port 4791 or ether proto 0x8915))";
}

// Frames stay in the ring for at most `latency` before poll() reports them. Compared with libpcap's
// immediate mode, this saves a few hundred wake-ups per second of a bulk transfer, and the ring
// needs no fixed slot per packet.
LiveSource::LiveSource(const LiveOptions& options)
    : name_(options.interface),
      latency_(options.latency),
      handle_(activate(options)),
      link_type_(link_type_of(handle_.get(), name_)),
      fd_(pcap_get_selectable_fd(handle_.get())),
      sniffs_rdma_(!interface_names().contains(name_)) {
    if (fd_ < 0)
        throw util::Error(
            fmt::format("cannot capture on {}: libpcap has no descriptor to wait for packets on "
                        "this interface.",
                        name_));
    set_filter(options.filter.value_or(default_filter(link_type_)));
}

void LiveSource::set_filter(const std::string& filter) {
    bpf_program program{};
    if (pcap_compile(handle_.get(), &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
        throw util::Error(
            fmt::format("the filter '{}' is not valid: {}. Filters are written as for tcpdump: "
                        "see 'man pcap-filter'.",
                        filter, pcap_geterr(handle_.get())));
    const int result = pcap_setfilter(handle_.get(), &program);
    pcap_freecode(&program);
    if (result != 0)
        throw util::Error(
            fmt::format("cannot set the filter on {}: {}.", name_, pcap_geterr(handle_.get())));
    filter_ = filter;
}

// rdmasniff reports an empty queue as an error if the handle is non-blocking (pcap-rdmasniff.c: its
// wait for the completion channel does not handle EAGAIN), so poll the channel first.
std::optional<Frame> LiveSource::next() {
    if (sniffs_rdma_ && drained_) {
        pollfd channel{fd_, POLLIN, 0};
        if (poll(&channel, 1, 0) != 1)
            return std::nullopt;
    }
    auto frame = next_frame(handle_.get(), link_type_, name_);
    drained_ = !frame;
    return frame;
}

LiveCounters LiveSource::counters() const {
    pcap_stat stat{};
    if (pcap_stats(handle_.get(), &stat) != 0)
        return {};
    return {stat.ps_recv, stat.ps_drop, stat.ps_ifdrop};
}

}  // namespace capture
