// Posts and polls in every way that a program can, on a queue pair that is connected to itself.
// Standard output has each result, and is the same in every run with the same seed. The file has
// each completion with the request that it belongs to, as this program knows it.
//
//     stress SEED ROUNDS FILE
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "rdma/handles.hpp"
#include "tests/stress/pair.hpp"
#include "util/check.hpp"

namespace stress {
namespace {

// Lists that are too long, on a queue that fills.
void lists(Pair& pair, std::mt19937& random) {
    const std::uint64_t ids = 1 + random() % 64;
    for (std::size_t i = 1 + random() % 4; i > 0; --i)
        pair.post_sends(1 + random() % (3 * pair.depth()), ids, 1 + random() % 4);
    pair.finish(1, static_cast<int>(1 + random() % 16));
}

void invalid(Pair& pair, std::mt19937& random) {
    pair.post_sends(40, 64, 2, random() % 20);
    pair.post_sends(5, 64, 1, 0);
    pair.finish(1, 4);
}

void several_pollers(Pair& pair, std::mt19937& random) {
    pair.post_sends(pair.depth(), 1000, 1);
    pair.finish(2 + random() % 3, static_cast<int>(1 + random() % 4));
}

void resets(Pair& pair, std::mt19937& random) {
    pair.post_sends(1 + random() % 40, 8, 3);
    pair.reset();
    pair.connect();
    pair.post_sends(1 + random() % 40, 8, 3);
    pair.finish(1, 4);
}

// Another thread polls and changes nothing until the batch goes on.
void batches(Pair& pair, std::mt19937& random) {
    const auto other_polls = [&] { std::thread([&] { pair.poll_once(); }).join(); };
    pair.batch(1 + random() % 8, false, other_polls);
    pair.batch(1 + random() % 8, true, other_polls);
    pair.batch(2 * pair.depth(), false, [] {});  // does not fit
    pair.post_sends(1 + random() % 40, 500, 1);
    pair.finish(1, 4);
}

// The device frees the place of a request before its completion is polled.
void late(Pair& pair, std::mt19937& random) {
    pair.post_writes(3 * pair.depth() + random() % 20, 1 + random() % 32);
    pair.finish(1, static_cast<int>(1 + random() % 16));
}

void shared_receives(Device& device) {
    ibv_srq_init_attr attr{};
    attr.attr = {31, 1, 0};
    const rdma::Srq srq(CHECK_PTR(ibv_create_srq(device.pd.get(), &attr)));
    std::vector<ibv_recv_wr> list(64);
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
        list[i].next = &list[i + 1];
    for (int i = 0; i < 2; ++i) {
        ibv_recv_wr* bad = nullptr;
        errno = error_before;
        const int rc = ibv_post_srq_recv(srq.get(), list.data(), &bad);
        fmt::print("shared receives rc {} errno {} taken {}\n", rc, errno,
                   std::distance(list.data(), bad));
    }
}

// A queue pair is destroyed while another thread polls.
void destroyed(Device& device, std::FILE* file) {
    Pair pair(device, file, false);
    pair.post_sends(10, 100, 1);
    std::atomic<bool> done{false};
    std::thread poller([&] {
        ibv_wc wc{};
        while (!done)
            if (ibv_poll_cq(pair.send_cq(), 1, &wc) < 0)
                fmt::print("poll failed\n");
    });
    fmt::print("destroyed {}\n", pair.destroy());
    done = true;
    poller.join();
}

// Children are forked while another thread makes and destroys queue pairs.
void forks(Device& device, std::FILE* file) {
    std::atomic<bool> done{false};
    std::thread maker([&] {
        while (!done)
            Pair(device, file, false);
    });
    int failed = 0;
    for (int i = 0; i < 5; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            Device own;
            const Pair pair(own, file, false);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        failed += static_cast<int>(status != 0);
    }
    done = true;
    maker.join();
    fmt::print("children that failed: {}\n", failed);
}

void run(unsigned seed, unsigned rounds, const char* path) {
    std::FILE* file = CHECK_PTR(std::fopen(path, "w"));
    Device device;
    std::mt19937 random(seed);
    for (unsigned round = 0; round < rounds; ++round) {
        fmt::print("round {}\n", round);
        Pair pair(device, file, false);
        Pair extended(device, file, true);
        lists(pair, random);
        invalid(pair, random);
        several_pollers(pair, random);
        resets(pair, random);
        lists(extended, random);
        batches(extended, random);
        late(pair, random);
        shared_receives(device);
        destroyed(device, file);
        std::fflush(nullptr);  // before the forks
        forks(device, file);
    }
    std::fclose(file);
}

}  // namespace
}  // namespace stress

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("stress: the arguments are SEED, ROUNDS and FILE.\n", stderr);
        return 2;
    }
    try {
        stress::run(static_cast<unsigned>(std::stoul(argv[1])),
                    static_cast<unsigned>(std::stoul(argv[2])), argv[3]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stress: %s\n", error.what());
        return 1;
    }
}
