// Buffered output to a file, a pipe or a terminal that loses nothing it can keep: short writes are
// completed, a reader that went away is told apart from a failure, and a failed write leaves neither
// half a record at the end of a file nor destroys what was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "util/error.hpp"
#include "util/fd.hpp"
#include "util/output_file.hpp"
#include "util/stop_signal.hpp"

namespace capture {

/// The reading end of a pipe was closed (`| head`): the reader has had enough, which is no failure.
/// Needs SIGPIPE ignored.
class ReaderGone : public util::Error {
    using util::Error::Error;
};

class Sink {
  public:
    /// Makes the file at `path`, or empties it with the first write; is_new(): nothing was there.
    /// Throws as open_output().
    static Sink create(const std::string& path, const util::OutputOptions& options = {});
    /// The same for what is made as a whole: close() replaces the file at `path`, which keeps its
    /// mode. Until then, or without close(), that one is as it was, and nothing is left beside it
    /// even if the program is killed (where the file system has O_TMPFILE, open(2)). Throws as
    /// open_output().
    static Sink replace(const std::string& path);
    /// A duplicate of standard output; the original stays open. Throws util::Error where it is
    /// closed.
    static Sink standard_output();
    /// Takes a descriptor over; `name` is for error messages.
    Sink(util::Fd fd, std::string name);
    Sink(Sink&&) = default;
    Sink& operator=(Sink&&) = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    /// Writes what is left and reports a failure on standard error; close() throws it instead. Of
    /// replace(): drops what was written.
    ~Sink();

    /// Errors begin with "capture incomplete: ".
    void holds_capture() { loss_ = "capture incomplete: "; }

    /// Adds one whole record (a line, a block). It is written with the next flush(), or at once
    /// where the buffer is full. Throws as flush() does.
    void append(std::span<const std::byte> record);
    /// Text: what would drive a terminal is escaped, as util::printable_lines().
    void append(std::string_view line);
    /// Bytes, written or not yet.
    std::uint64_t appended() const { return appended_; }

    /// How much may gather before append() waits for a slow reader; at first 256 KiB.
    void set_buffer_limit(std::size_t bytes) { buffer_limit_ = bytes; }

    /// Writes what the other end takes without waiting. Throws as flush() does.
    void flush_some();
    bool has_backlog() const { return written_ != buffer_.size(); }

    /// Writes everything appended so far. Throws ReaderGone, or util::Error with the reason; the
    /// unwritten rest is then dropped.
    void flush();
    void close();

    /// From here on a reader that does not read cannot hold the program up: once a stop is
    /// requested, or `end` has come, flush() throws after two seconds in which nothing was read.
    /// `stop` must outlive the sink.
    void give_up_on(util::StopSignal& stop, util::Deadline end = std::nullopt) {
        stop_ = &stop;
        end_ = end;
    }

    const std::string& name() const { return name_; }
    bool is_new() const { return is_new_; }
    int fd() const { return fd_.get(); }

  private:
    enum class Kind { file, pipe, socket };  // pipe: also a terminal

    [[noreturn]] void fail(int error);
    void write_once();
    void forget_written();
    void drop_older_content();
    void cut_at(off_t size) const;
    bool is_writable() const;
    bool wait_writable() const;  // false: gave up on the reader

    util::Fd fd_;
    std::string name_;
    Kind kind_ = Kind::pipe;
    bool is_new_ = false;
    bool has_older_content_ = false;  // which the first write replaces
    bool ends_with_ours_ = false;     // of a file: nobody else has written behind us
    bool replaces_ = false;
    std::string path_, temporary_;  // temporary_: where there is no O_TMPFILE
    std::string_view loss_;
    util::StopSignal* stop_ = nullptr;
    util::Deadline end_;
    std::size_t buffer_limit_ = std::size_t{256} * 1024;
    std::uint64_t appended_ = 0;
    std::vector<std::byte> buffer_;
    std::size_t written_ = 0;               // of buffer_
    std::vector<std::size_t> record_ends_;  // in buffer_, where ends_with_ours_
};

}  // namespace capture
