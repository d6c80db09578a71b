// The logs of one server in their order, and reading on in them from a position. Pure but for the files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/log/log_entry.h"

namespace ratchet::regionserver {

// Where a reader goes on. File numbers begin at 1; 0: at the oldest file that is there.
struct LogPosition {
  std::uint64_t file = 0;
  std::uint64_t offset = 0;  // where a record begins
  auto operator<=>(const LogPosition&) const = default;
};
// "3:4711", as it is stored.
[[nodiscard]] std::string ToText(const LogPosition& position);
[[nodiscard]] Result<LogPosition> ParseLogPosition(std::string_view text);

struct QueueFile {
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  // that may be read: of a live server, those that have passed their CHECK
  bool closed = true;       // nothing is added any more
};

// Outlived by what it reads from.
struct LogQueue {
  std::string server;                                     // whose logs: part of the files' identity
  std::function<Result<std::vector<QueueFile>>()> files;  // by number
  std::function<Result<std::unique_ptr<io::ReadableFile>>(const std::string& name)> open;
};

// A dead server's directory, where nothing is written any more.
[[nodiscard]] LogQueue QueueOfDead(std::string server, std::shared_ptr<io::Directory> directory);

enum class Take : std::uint8_t {
  kMore,    // and go on
  kLast,    // and stop behind it
  kNotYet,  // stop in front of it
};
struct QueueRead {
  LogPosition next;
  bool at_end = false;    // of all that is there now
  std::size_t files = 0;  // not read to their end
};
// Calls `take` for each entry that says something to replication, from `from` on, until it stops or everything is read.
// kCorruption: bytes that were acknowledged are wrong.
[[nodiscard]] Result<QueueRead> ReadOn(const LogQueue& queue, LogPosition from,
                                       const std::function<Take(const LogEntry&)>& take);

}  // namespace ratchet::regionserver
