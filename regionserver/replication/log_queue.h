// The logs of one server in their order, and a reader that continues from a position. Pure except for the files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// A reader's position. File numbers begin at 1; 0 means the oldest existing file.
struct LogPosition {
  std::uint64_t file = 0;
  std::uint64_t offset = 0;  // offset of a record's begin
  auto operator<=>(const LogPosition&) const = default;
};
// Converts to and from the stored form, "3:4711".
[[nodiscard]] std::string ToText(const LogPosition& position);
[[nodiscard]] Result<LogPosition> ParseLogPosition(std::string_view text);

struct QueueFile {
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  // readable bytes: in a live server's file, those that have passed their CHECK
  bool closed = true;       // the file gets no more entries
};

// Must outlive its readers.
struct LogQueue {
  std::string server;                                     // the logs' owner: part of the files' identity
  std::function<Result<std::vector<QueueFile>>()> files;  // lists the files by number
  std::function<Result<std::unique_ptr<io::ReadableFile>>(const std::string& name)> open;
};

// Returns the queue of a dead server's directory, whose files no longer change.
[[nodiscard]] LogQueue QueueOfDead(std::string server, std::shared_ptr<io::Directory> directory);

enum class Take : std::uint8_t {
  kMore,    // the entry is taken; continue
  kLast,    // the entry is taken; stop after it
  kNotYet,  // stop before the entry
};
struct QueueRead {
  LogPosition next;
  bool at_end = false;    // whether all entries that exist now were read
  std::size_t files = 0;  // files that are not read to their end
};
// Calls `take` for each entry with a replication part, from `from` on, until it stops or all entries are read.
// kCorruption: acknowledged bytes are damaged.
[[nodiscard]] Result<QueueRead> ReadOn(const LogQueue& queue, LogPosition from,
                                       const std::function<Take(const LogEntry&)>& take);

}  // namespace ratchet::regionserver
