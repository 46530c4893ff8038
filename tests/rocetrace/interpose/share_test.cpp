// The memory that a traced process shares, as rocetrace receives it.
#include "rocetrace/interpose/share.hpp"

#include <array>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rocetrace/tracelog/merge.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_path.hpp"
#include "util/fd.hpp"

namespace share_test {

// The socket to which the library connects.
class Share : public testing::Test {
  protected:
    Share() {
        address_.sun_family = AF_UNIX;
        std::strncpy(address_.sun_path, path_.str().c_str(), sizeof address_.sun_path - 1);
        EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address_), sizeof address_), 0);
        EXPECT_EQ(listen(socket_.get(), 1), 0);
    }

    // Shares rings of this size. Returns what rocetrace receives.
    util::Fd share(std::uint64_t capacity) {
        shared_ = interpose::share_region(address_, capacity);
        if (shared_.region == nullptr)
            return {};
        const util::Fd connection(accept(socket_.get(), nullptr, nullptr));
        char byte = 0;
        iovec data{&byte, 1};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC) != 1)
            return {};
        const cmsghdr* header = CMSG_FIRSTHDR(&message);
        int fd = -1;
        if (header != nullptr)
            std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        return util::Fd(fd);
    }
    void unmap() const {
        munmap(shared_.region,
               tracelog::RegionHeader::bytes + shared_.layout.rings * shared_.layout.ring_bytes);
    }

    support::TempPath path_{"share"};
    util::Fd socket_{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    sockaddr_un address_{};
    interpose::Shared shared_;
};

// arm64 kernels have pages of 4, 16 or 64 KiB. mprotect makes the header and each ring writable, and
// fails unless they begin on a page.
TEST_F(Share, begins_header_and_rings_on_a_page_of_any_size) {
    constexpr std::uint64_t page = std::uint64_t{64} * 1024;
    EXPECT_EQ(page % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), 0u);
    constexpr rlim_t mib = rlim_t{1} << 20U;
    for (const rlim_t limit : {RLIM_INFINITY, 100 * mib, mib}) {
        const support::FileSizeLimit files(limit);
        const util::Fd memory = share(16 * mib);
        ASSERT_TRUE(memory) << "with a limit of " << limit;
        EXPECT_EQ(tracelog::RegionHeader::bytes % page, 0u);
        EXPECT_EQ(shared_.layout.ring_bytes % page, 0u) << "with a limit of " << limit;
        EXPECT_EQ(tracelog::ring_header_bytes % page, 0u);
        EXPECT_NO_THROW(tracelog::Region(memory, 1)) << "with a limit of " << limit;
        unmap();
    }
}

}  // namespace share_test
