#include "regionserver/replication/log_queue.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"

namespace ratchet::regionserver {
namespace {

// Reads one file from `offset` on. Returns the offset after the last entry that was taken.
Result<std::uint64_t> ReadFile(const LogQueue& queue, const QueueFile& file, std::uint64_t offset,
                               const std::function<Take(const LogEntry&)>& take, bool* stopped) {
  RATCHET_ASSIGN(const auto readable, queue.open(file.name));
  const std::string full_name = queue.server + "/" + file.name;
  io::RecordReader::Options options;
  options.expected = {kServerLogKind, io::LogFileId(full_name)};
  options.start = offset;
  io::RecordReader reader(*readable, file.bytes, options);
  io::Record record;
  while (!*stopped && reader.Next(&record)) {
    if (record.type == kEntryRecordType && record.version != kEntryVersion) {
      RATCHET_ASSIGN(const LogEntry entry, DecodeLogEntry(record.payload));
      const Take taken = take(entry);
      *stopped = taken != Take::kMore;
      if (taken == Take::kNotYet) return offset;
    }
    offset = record.end;
  }
  if (*stopped) return offset;
  if (!reader.status().ok()) return reader.status().error().Annotate("log " + full_name);
  if (reader.tail().end == io::LogEnd::kDamage) {
    return Error(Code::kCorruption, fmt::format("log {} is damaged at offset {}: {}", full_name, reader.tail().offset,
                                                reader.tail().reason));
  }
  return offset;
}

}  // namespace

std::string ToText(const LogPosition& position) { return fmt::format("{}:{}", position.file, position.offset); }

Result<LogPosition> ParseLogPosition(std::string_view text) {
  LogPosition position;
  const char* const end = text.data() + text.size();
  const auto file = std::from_chars(text.data(), end, position.file);
  const bool colon = file.ec == std::errc() && file.ptr != end && *file.ptr == ':';
  const auto offset = std::from_chars(colon ? file.ptr + 1 : end, end, position.offset);
  if (colon && offset.ec == std::errc() && offset.ptr == end) return position;
  return Error(Code::kCorruption, fmt::format("'{}' is not a valid position in a log", text));
}

LogQueue QueueOfDead(std::string server, std::shared_ptr<io::Directory> directory) {
  LogQueue queue;
  queue.server = std::move(server);
  // Lists the directory once: it appears and disappears as a whole.
  queue.files = [directory,
                 known = std::optional<std::vector<QueueFile>>()]() mutable -> Result<std::vector<QueueFile>> {
    if (known) return *known;
    RATCHET_ASSIGN(const std::vector<std::string> names, directory->List());
    std::vector<QueueFile> files;
    for (const std::string& name : names) {
      const auto log = io::ParseLogFileName(name);
      if (!log || log->prefix != io::kRegionLogPrefix) continue;
      RATCHET_ASSIGN(const auto file, directory->OpenForRead(name));
      RATCHET_ASSIGN(const std::uint64_t size, file->size());
      files.push_back({name, log->number, size, true});
    }
    std::sort(files.begin(), files.end(), [](const QueueFile& a, const QueueFile& b) { return a.number < b.number; });
    known = std::move(files);
    return *known;
  };
  queue.open = [directory](const std::string& name) { return directory->OpenForRead(name); };
  return queue;
}

Result<QueueRead> ReadOn(const LogQueue& queue, LogPosition from, const std::function<Take(const LogEntry&)>& take) {
  RATCHET_ASSIGN(const std::vector<QueueFile> files, queue.files());
  QueueRead read{from, true, 0};
  bool stopped = false;
  for (const QueueFile& file : files) {
    if (file.number < read.next.file) continue;
    if (file.number > read.next.file && !stopped) read.next = {file.number, 0};
    if (stopped) {
      ++read.files;
      continue;
    }
    if (file.bytes > std::max<std::uint64_t>(read.next.offset, io::kLogHeaderSize)) {
      RATCHET_ASSIGN(read.next.offset, ReadFile(queue, file, read.next.offset, take, &stopped));
    }
    if (stopped || !file.closed) {
      read.files += stopped ? 1 : 0;
      continue;
    }
    read.next = {file.number + 1, 0};
  }
  read.at_end = !stopped;
  return read;
}

}  // namespace ratchet::regionserver
