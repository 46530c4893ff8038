#include "tools/rocecap/parallel_printer.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <sched.h>
#include <thread>
#include <utility>
#include <vector>

namespace rocecap {
namespace {

// A batch and what is made of it fit in the second-level cache of a CPU (1 MB), and threads rarely
// wait for each other.
constexpr std::size_t batch_frames = 512;
constexpr std::size_t batch_bytes = std::size_t{256} * 1024;
// Reading, taking and writing need the packets in order: more threads would wait for each other.
constexpr unsigned most_threads = 4;

// Successive frames. Each thread has one batch, which it takes through all steps. Batches share no
// cache line, because threads write to them all the time.
struct alignas(128) Batch {
    struct Line {
        std::size_t end = 0;  // in `text`
        bool is_malformed = false;
    };

    void clear() {
        bytes.clear();
        size = 0;
        failure = nullptr;
        printed.clear();
    }
    void add(const capture::Frame& frame);
    void point_to_bytes();

    std::uint32_t number = 0;
    std::vector<std::byte> bytes;  // of each frame, its interface's name and its comment
    std::vector<Decoded> frames = std::vector<Decoded>(batch_frames);
    std::size_t size = 0;  // number of frames in use
    std::vector<const Decoded*> printed;
    std::string text;
    std::vector<Line> lines;
    std::exception_ptr failure;  // after these lines
};

// The source's bytes are valid only until its next frame.
void Batch::add(const capture::Frame& frame) {
    const auto copy = [&](util::Bytes part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    };
    copy(frame.bytes);
    copy(std::as_bytes(std::span(frame.notes.interface_name)));
    copy(std::as_bytes(std::span(frame.notes.comment)));
    frames[size++].frame = frame;
}

void Batch::point_to_bytes() {
    util::Bytes rest = bytes;
    const auto next = [&](std::size_t length) {
        const util::Bytes part = rest.first(length);
        rest = rest.subspan(length);
        return part;
    };
    const auto text_of = [](util::Bytes part) {
        return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
    };
    for (Decoded& decoded : std::span(frames).first(size)) {
        capture::Frame& frame = decoded.frame;
        frame.bytes = next(frame.bytes.size());
        frame.notes.interface_name = text_of(next(frame.notes.interface_name.size()));
        frame.notes.comment = text_of(next(frame.notes.comment.size()));
    }
}

// A step that batches take one at a time, in order.
class Step {
  public:
    class Turn {
      public:
        Turn(Step& step, std::uint32_t batch) : step_(step) {
            for (auto now = step_.next_.load(); now != batch; now = step_.next_.load())
                step_.next_.wait(now);
        }
        ~Turn() {
            ++step_.next_;
            step_.next_.notify_all();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        Turn(Turn&&) = delete;
        Turn& operator=(Turn&&) = delete;

      private:
        Step& step_;
    };

  private:
    std::atomic<std::uint32_t> next_ = 0;
};

class ParallelPrinter {
  public:
    ParallelPrinter(capture::FileSource& source, Printer& printer, std::uint64_t count)
        : source_(source), printer_(printer), formatter_(printer.formatter()), count_(count) {}

    void run(unsigned threads);

  private:
    void work(Batch& batch);
    bool read(Batch& batch);
    void take(Batch& batch);
    void format(Batch& batch, Formatter& formatter) const;
    void write(Batch& batch, const wire::Listing& begin, Formatter& formatter);

    capture::FileSource& source_;
    Printer& printer_;
    const Formatter formatter_;  // at the beginning
    std::uint64_t count_;
    std::mutex reading_;
    std::uint32_t batches_ = 0;
    std::atomic<bool> has_ended_ = false;  // nothing more is read
    Step taking_;
    Step writing_;
    std::exception_ptr failure_;  // nothing more is written
};

// An exception ends the output behind the lines before it.
template <typename Work>
void attempt(Batch& batch, Work work) {
    try {
        work();
    } catch (...) {
        batch.failure = std::current_exception();
    }
}

void ParallelPrinter::run(unsigned threads) {
    std::vector<Batch> batches(threads);  // threads must not run out of memory where they begin
    {
        std::vector<std::jthread> others;
        try {
            while (others.size() + 1 < threads)
                others.emplace_back([&, i = others.size()] { work(batches[i]); });
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): fewer also do
        }
        work(batches.back());
    }
    if (failure_)
        std::rethrow_exception(failure_);
}

void ParallelPrinter::work(Batch& batch) {
    Formatter formatter = formatter_;
    while (read(batch)) {
        for (std::size_t i = 0; i < batch.size; ++i)
            printer_.decode(batch.frames[i]);
        {
            const Step::Turn turn(taking_, batch.number);
            attempt(batch, [&] { take(batch); });
        }
        const wire::Listing begin = formatter.listing;
        attempt(batch, [&] { format(batch, formatter); });
        const Step::Turn turn(writing_, batch.number);
        write(batch, begin, formatter);
    }
}

bool ParallelPrinter::read(Batch& batch) {
    const std::lock_guard lock(reading_);
    if (has_ended_)
        return false;
    batch.clear();
    batch.number = batches_++;
    attempt(batch, [&] {
        while (batch.size < batch_frames && batch.bytes.size() < batch_bytes && !has_ended_) {
            if (const auto frame = source_.next())
                batch.add(*frame);
            else
                has_ended_ = true;
        }
    });
    if (batch.failure)
        has_ended_ = true;
    batch.point_to_bytes();
    return true;
}

void ParallelPrinter::take(Batch& batch) {
    for (std::size_t i = 0; i < batch.size && printer_.printed() < count_; ++i)
        if (Decoded& decoded = batch.frames[i]; printer_.take(decoded))
            batch.printed.push_back(&decoded);
    if (printer_.printed() < count_)
        return;
    has_ended_ = true;
    batch.failure = nullptr;  // that of a frame which is not wanted
}

void ParallelPrinter::format(Batch& batch, Formatter& formatter) const {
    batch.text.clear();
    batch.lines.clear();
    for (const Decoded* decoded : batch.printed) {
        printer_.format(batch.text, *decoded, formatter);
        batch.lines.push_back({batch.text.size(), decoded->packet->malformed.has_value()});
    }
}

// The lines were formatted as if no batch of another thread had widened the columns.
void ParallelPrinter::write(Batch& batch, const wire::Listing& begin, Formatter& formatter) {
    if (failure_)
        return;
    attempt(batch, [&] {
        if (wire::Listing& listing = printer_.formatter().listing; begin != listing) {
            formatter.listing = listing;
            format(batch, formatter);
        }
        printer_.formatter().listing = formatter.listing;
        std::size_t at = 0;
        for (const Batch::Line& line : batch.lines) {
            printer_.put(std::string_view(batch.text).substr(at, line.end - at), line.is_malformed);
            at = line.end;
        }
    });
    failure_ = batch.failure;
    if (failure_)
        has_ended_ = true;
}

}  // namespace

unsigned usable_cpus() {
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? static_cast<unsigned>(CPU_COUNT(&cpus))
                                                         : 1;
}

void print_in_parallel(unsigned cpus, capture::FileSource& source, Printer& printer,
                       std::uint64_t count) {
    ParallelPrinter(source, printer, count).run(std::min(cpus, most_threads));
}

}  // namespace rocecap
