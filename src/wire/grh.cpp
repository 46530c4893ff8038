#include "wire/grh.hpp"

#include "wire/ip.hpp"

namespace wire {

Grh Grh::parse(util::FixedBytes<size> bytes) {
    const Ipv6 same_layout = Ipv6::parse(bytes);
    return {
        .ipver = same_layout.version,
        .tclass = same_layout.tclass,
        .flowlabel = same_layout.flow_label,
        .paylen = same_layout.payload_length,
        .nxthdr = same_layout.next_header,
        .hoplmt = same_layout.hop_limit,
        .sgid = same_layout.src,
        .dgid = same_layout.dst,
    };
}

void Grh::write(std::span<std::byte, size> out) const {
    const Ipv6 same_layout{
        .version = ipver,
        .tclass = tclass,
        .flow_label = flowlabel,
        .payload_length = paylen,
        .next_header = nxthdr,
        .hop_limit = hoplmt,
        .src = sgid,
        .dst = dgid,
    };
    same_layout.write(out);
}

}  // namespace wire
