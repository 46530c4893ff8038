// --service and --qpn: the services of connections, as given by the user.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "trace/service/services.hpp"

namespace rocecap {

class ServiceOptions {
  public:
    void add_to(CLI::App& command);

    /// Throws util::Error for a number out of range and for an unknown service.
    service::Told told() const;

  private:
    std::vector<std::string> by_port_;
    std::vector<std::string> by_qpn_;
};

}  // namespace rocecap
