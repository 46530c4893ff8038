// Buffered output to a file, a pipe or a terminal, without avoidable loss: completes short writes,
// distinguishes a closed reader from a failure, and after a failed write leaves no partial record
// at the end of a file and does not destroy its old content.
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

/// The reading end of a pipe was closed (`| head`). This is not a failure. Needs SIGPIPE ignored.
class ReaderGone : public util::Error {
    using util::Error::Error;
};

class Sink {
  public:
    /// Creates the file at `path`, or empties it with the first write; is_new(): it did not exist.
    /// Throws as open_output().
    static Sink create(const std::string& path, const util::OutputOptions& options = {});
    /// The same for a file that is replaced as a whole: close() replaces the file at `path`, which
    /// keeps its mode. Until then, or without close(), the old file is unchanged, and no other file
    /// is left beside it even if the program is killed (if the file system has O_TMPFILE, open(2)).
    /// Throws as open_output().
    static Sink replace(const std::string& path);
    /// A duplicate of standard output; the original stays open. Throws util::Error if it is closed.
    static Sink standard_output();
    /// Takes ownership of a descriptor; `name` is for error messages.
    Sink(util::Fd fd, std::string name);
    Sink(Sink&&) = default;
    Sink& operator=(Sink&&) = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    /// Writes the rest and reports a failure on standard error; close() throws it instead. With
    /// replace(): discards what was written.
    ~Sink();

    /// Errors begin with "capture incomplete: ".
    void holds_capture() { loss_ = "capture incomplete: "; }

    /// Adds one complete record (a line, a block). It is written with the next flush(), or
    /// immediately if the buffer is full. Throws as flush() does.
    void append(std::span<const std::byte> record);
    /// Text: control sequences are escaped, as in util::printable_lines().
    void append(std::string_view line);
    /// Number of bytes appended, written or not.
    std::uint64_t appended() const { return appended_; }

    /// Maximum backlog before append() waits for a slow reader; default 256 KiB.
    void set_buffer_limit(std::size_t bytes) { buffer_limit_ = bytes; }

    /// Writes what the reader accepts without waiting. Throws as flush() does.
    void flush_some();
    bool has_backlog() const { return written_ != buffer_.size(); }

    /// Writes everything appended so far. Throws ReaderGone, or util::Error with the reason, and
    /// then discards the unwritten rest.
    void flush();
    void close();

    /// From now on a stalled reader cannot block the program: once a stop is requested or `end` has
    /// passed, flush() throws after two seconds without progress. `stop` must outlive the sink.
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
    void write_once(bool may_block);
    void forget_written();
    void drop_older_content();
    void cut_at(off_t size) const;
    bool is_writable() const;
    bool wait_writable() const;  // false: gave up on the reader

    util::Fd fd_;
    std::string name_;
    Kind kind_ = Kind::pipe;
    bool is_new_ = false;
    bool has_older_content_ = false;  // the first write replaces it
    bool ends_with_ours_ = false;     // files only: nobody else has written after us
    bool replaces_ = false;
    std::string path_, temporary_;  // temporary_: if there is no O_TMPFILE
    std::string_view loss_;
    util::StopSignal* stop_ = nullptr;
    util::Deadline end_;
    std::size_t buffer_limit_ = std::size_t{256} * 1024;
    std::uint64_t appended_ = 0;
    std::vector<std::byte> buffer_;
    std::size_t written_ = 0;               // part of buffer_
    std::vector<std::size_t> record_ends_;  // in buffer_, if ends_with_ours_
};

}  // namespace capture
