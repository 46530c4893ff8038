// The options --service and --qpn of rocecap decode, which say what connections carry.
#include <gtest/gtest.h>

#include "tools/rocecap/capture_file.hpp"
#include "trace/service/capsules.hpp"

namespace service_options_test {

class ServiceOptions : public testing::Test {
  protected:
    /// A SEND of an NVMe command to queue pair 0x12. The capture does not have the connection's
    /// set-up.
    void add_command() {
        file_.add(service_test::send(wire_test::from_hex(service_test::read_command), false));
    }
    /// A connection to TCP port 4421 (0x1145), which is no NVMe port.
    void add_connection() {
        file_.add(service_test::request("00000000 0106 1145", "0000 0100"));
        file_.add(service_test::reply(""));
        add_command();
    }
    bool shows_nvme(const std::string& option, const std::string& value) const {
        const auto outcome = file_.run("decode", {option, value});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        return outcome.out.find("NVMe Read") != std::string::npos ||
               outcome.out.find("NVMe Get Log Page") != std::string::npos;
    }

    rocecap_test::CaptureFile file_{"service_options.pcapng"};
};

TEST_F(ServiceOptions, qpn_is_decimal_or_hexadecimal) {
    add_command();
    EXPECT_TRUE(shows_nvme("--qpn", "18=nvme"));
    EXPECT_TRUE(shows_nvme("--qpn", "0x12=nvme"));
    EXPECT_FALSE(shows_nvme("--qpn", "12=nvme"));
    EXPECT_FALSE(shows_nvme("--qpn", "0xffffff=nvme"));
}

TEST_F(ServiceOptions, qpn_can_be_given_twice) {
    add_command();
    const auto outcome = file_.run("decode", {"--qpn", "1=iser", "--qpn", "18=nvme-admin"});
    EXPECT_NE(outcome.out.find("NVMe Get Log Page"), std::string::npos) << outcome.all();
}

TEST_F(ServiceOptions, service_names_the_port_of_a_connection) {
    add_connection();
    EXPECT_TRUE(shows_nvme("--service", "4421=nvme"));
    EXPECT_TRUE(shows_nvme("--service", "0x1145=nvme"));
    EXPECT_FALSE(shows_nvme("--service", "4422=nvme"));
    EXPECT_FALSE(shows_nvme("--service", "65535=nvme"));
}

// {option, value}
class InvalidService : public ServiceOptions,
                       public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(InvalidService, is_refused) {
    const auto& [option, value] = GetParam();
    const auto outcome = file_.run("decode", {option, value});
    EXPECT_EQ(outcome.exit_code, 2);
    const std::string most = std::string(option) == "--service" ? "65535" : "16777215";
    EXPECT_EQ(outcome.err, "rocecap: " + std::string(option) + " '" + value +
                               "' is not valid: write a number from 0 to " + most +
                               ", '=' and one of nvme, nvme-admin, rpcrdma, iser.\n");
    EXPECT_EQ(outcome.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, InvalidService,
    testing::Values(std::pair("--service", "65536=nvme"), std::pair("--qpn", "0x1000000=nvme"),
                    std::pair("--qpn", "4294967314=nvme"), std::pair("--qpn", "18"),
                    std::pair("--qpn", "18="), std::pair("--qpn", "18=nvme2"),
                    std::pair("--qpn", "=nvme"), std::pair("--qpn", "18x=nvme"),
                    std::pair("--qpn", "0x=nvme"), std::pair("--qpn", "0xg=nvme"),
                    std::pair("--qpn", "1a=nvme"), std::pair("--qpn", "-1=nvme")));

}  // namespace service_options_test
