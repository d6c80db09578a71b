#include "master/files/log_seal.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/crc32c.h"
#include "common/base/log.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kLogPrefix = "log.";
constexpr std::string_view kMetaPrefix = "meta.";

Result<SealedLog> SealFile(io::Directory& directory, const std::string& name, bool meta) {
  // Before it is measured: a zombie's last append may be in the page cache only, and what is sealed must stay (S26).
  const Status synced = directory.SyncFile(name);
  if (!io::DieOnFailedSync(synced, name)) return synced.error();
  RATCHET_ASSIGN(const std::string bytes, directory.ReadAll(name));
  io::RecordReader reader(bytes, io::RecordReader::Options{});
  io::Record record;
  while (reader.Next(&record)) {
  }
  const io::LogTail& tail = reader.tail();
  if (tail.end == io::LogEnd::kDamage) {
    return Error(Code::kCorruption, fmt::format("{}/{} is damaged at offset {} ({}); the next valid record is at {}",
                                                directory.path(), name, tail.offset, tail.reason, tail.next_valid));
  }
  SealedLog sealed{name, tail.offset, Crc32c(std::string_view(bytes).substr(0, tail.offset)), tail.last_sequence, meta};
  RATCHET_LOG(kInfo, "Sealed {}/{} at {} bytes of {}, last sequence {}{}", directory.path(), name, sealed.length,
              bytes.size(), sealed.last_sequence, tail.end == io::LogEnd::kTorn ? ", torn tail cut" : "");
  return sealed;
}

}  // namespace

bool IsServerLogName(std::string_view name, bool* meta) {
  *meta = name.starts_with(kMetaPrefix);
  if (!*meta && !name.starts_with(kLogPrefix)) return false;
  name.remove_prefix(*meta ? kMetaPrefix.size() : kLogPrefix.size());
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory) {
  const Status synced = directory.Sync();
  if (!io::DieOnFailedSync(synced, directory.path())) return synced.error();
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  std::vector<SealedLog> logs;
  for (const std::string& name : names) {
    bool meta = false;
    if (!IsServerLogName(name, &meta)) continue;
    RATCHET_ASSIGN(SealedLog log, SealFile(directory, name, meta));
    if (log.length > 0) logs.push_back(std::move(log));
  }
  return logs;
}

}  // namespace ratchet::master
