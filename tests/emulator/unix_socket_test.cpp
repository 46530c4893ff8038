#include "emulator/unix_socket.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
#include "support/temp_path.hpp"

namespace {

using emulator::connect_unix;
using emulator::listen_unix;

TEST(UnixSocket, connects_where_somebody_listens_and_is_for_this_user_only) {
    const support::TempPath path("socket");
    EXPECT_FALSE(connect_unix(path.str()));
    const util::Fd listening = listen_unix(path.str());
    EXPECT_TRUE(connect_unix(path.str()));
    struct stat status {};
    ASSERT_EQ(stat(path.str().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077U, 0U);
}

TEST(UnixSocket, replaces_a_socket_that_nobody_listens_at) {
    const support::TempPath path("socket");
    static_cast<void>(listen_unix(path.str()));  // closed, but the file remains
    ASSERT_TRUE(std::filesystem::is_socket(path.path()));
    const util::Fd listening = listen_unix(path.str());
    EXPECT_TRUE(connect_unix(path.str()));
}

TEST(UnixSocket, takes_neither_a_socket_in_use_nor_another_file) {
    const support::TempPath path("socket");
    const util::Fd listening = listen_unix(path.str());
    EXPECT_EQ(support::error_text([&] { listen_unix(path.str()); }),
              "another program already listens at " + path.str());
    const support::TempPath file("file");
    std::ofstream(file.str()) << "text";
    EXPECT_EQ(support::error_text([&] { listen_unix(file.str()); }),
              "cannot create a socket at " + file.str() + ": Address already in use");
    EXPECT_TRUE(std::filesystem::is_regular_file(file.path()));
}

TEST(UnixSocket, refuses_a_path_that_no_socket_can_have) {
    EXPECT_EQ(support::error_text([&] { connect_unix(std::string(108, 'x')); }),
              "'" + std::string(108, 'x') +
                  "' is not a valid path for a socket: use a path of 1 to 107 bytes");
    EXPECT_NE(support::error_text([&] { connect_unix(""); }), "");
}

}  // namespace
