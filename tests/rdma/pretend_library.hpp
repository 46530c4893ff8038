// Devices, objects and connection events that exist only in this process. While a PretendLibrary
// exists, functions of libibverbs and librdmacm that src/rdma calls return its objects; otherwise
// they call the real ones.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "util/fd.hpp"

namespace rdma_test {

struct PretendDevice {
    std::string name;
    std::vector<ibv_port_attr> ports;
    std::vector<ibv_gid_entry> gids;

    ibv_device device{};
    verbs_context extended{};
};

class PretendLibrary {
  public:
    PretendLibrary();
    ~PretendLibrary();
    PretendLibrary(const PretendLibrary&) = delete;
    PretendLibrary& operator=(const PretendLibrary&) = delete;
    PretendLibrary(PretendLibrary&&) = delete;
    PretendLibrary& operator=(PretendLibrary&&) = delete;

    static PretendLibrary* present();

    /// Adds a device with one port of this state and path MTU.
    PretendDevice& add(const std::string& name, ibv_port_state state = IBV_PORT_ACTIVE,
                       ibv_mtu mtu = IBV_MTU_4096);
    PretendDevice* device_of(const ibv_context* context);

    /// Makes the descriptor of both channels readable.
    void wake() const;

    /// Adds a connection event, which does not wake anyone yet.
    rdma_cm_event& expect(rdma_cm_event_type type, int status = 0);

    /// Records the call. Returns the error if it is the failing one, and sets errno; otherwise 0.
    int take(const std::string& call, const std::string& arguments = "");
    std::vector<std::string> calls() { return std::exchange(calls_, {}); }

    std::string failing;      // the name of the call that fails
    int error = 0;            // its error
    bool has_support = true;  // of RDMA in the kernel
    std::vector<std::unique_ptr<PretendDevice>> devices;
    std::vector<ibv_device*> listed;  // ends with a null pointer
    ibv_qp_attr qp_attr{};
    ibv_comp_channel comp_channel{};
    ibv_cq cq{};
    ibv_mr mr{};
    std::deque<ibv_wc> completions;
    std::deque<ibv_wc> completions_after_event;  // that arrive with the next event of the queue
    rdma_event_channel event_channel{};
    rdma_cm_id id{};
    std::deque<std::unique_ptr<rdma_cm_event>> events;
    int polled = 0;  // a negative result of ibv_poll_cq; 0: the number of completions

  private:
    util::Fd read_end_, write_end_;
    std::vector<std::string> calls_;
};

}  // namespace rdma_test
