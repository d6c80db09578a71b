#include "master/files/log_seal.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"
#include "common/io/torn_write.h"
#include "common/io/unneeded_files.h"
#include "master/files/log_chain.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kStep = 1U << 20;        // read at once
constexpr std::uint32_t kServerLogKind = 'L';  // what region servers write into the header of their logs

// `again`: this is the second look at a log whose last record is bad and whole. The first one may have met a zombie in
// the middle of copying its last append; the sync in between waits for that (S81).
Result<MeasuredLog> SealFile(io::Directory& directory, const std::string& server, const io::LogFileName& log_name,
                             bool again = false) {
  const std::string name = io::ToString(log_name);
  // One that cannot be opened (no descriptor, no file) was not synced, which is no failed sync. One that is gone was
  // covered, and taken by an earlier master's cleaner since the directory was listed: the next look at it tells.
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(name));
  // Before it is measured: a zombie's last append may be in the page cache only, and what is sealed must stay (S26).
  const Status synced = file->Sync();
  if (!io::DieOnFailedSync(synced, name)) return synced.error();
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  // Also without a header that can be read, its records are known for this file's.
  io::RecordReader::Options options;
  options.expected = {kServerLogKind, io::LogFileId(fmt::format("{}/{}", server, name))};
  io::RecordReader reader(*file, size, options);
  std::string damage;
  MeasuredLog measured;
  measured.name = log_name;
  do {
    io::Record record;
    while (reader.Next(&record)) {
      if (measured.first_sequence == 0) measured.first_sequence = record.sequence;
    }
    const io::LogTail& tail = reader.tail();
    if (tail.end == io::LogEnd::kDamage && damage.empty())
      damage = fmt::format("damaged at offset {} ({}); the next valid record is at {}", tail.offset, tail.reason,
                           tail.next_valid);
  } while (reader.SkipDamage());
  const io::LogTail& tail = reader.tail();
  if (!reader.status().ok()) return reader.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  io::LogBytes bytes(*file, size, kStep);
  if (tail.end == io::LogEnd::kTorn && !RATCHET_MUTANT("log.any_tail") && io::WasWrittenWhole(bytes, tail.offset)) {
    if (!again) return SealFile(directory, server, log_name, true);
    damage = fmt::format("damaged at offset {} ({}), where its last record was written to its end", tail.offset,
                         tail.reason);
  }
  // S57: a damaged log is sealed as a whole. Its splitter will say what is wrong, and what depends on it waits; nothing
  // else does.
  const std::uint64_t length = damage.empty() ? tail.offset : size;
  measured.log = {name, length, io::ChecksumOf(bytes, 0, length), tail.last_sequence,
                  log_name.prefix == io::kMetaLogPrefix};
  measured.damaged = !damage.empty();
  if (!bytes.status().ok()) return bytes.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (!damage.empty()) {
    RATCHET_LOG(kError, "Sealed {}/{} as it is, {} bytes: {}", directory.path(), name, size, damage);
    return measured;
  }
  RATCHET_LOG(kInfo, "Sealed {}/{} at {} bytes of {}, last sequence {}{}", directory.path(), name, length, size,
              tail.last_sequence, tail.end == io::LogEnd::kTorn ? ", torn tail cut" : "");
  return measured;
}

}  // namespace

Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory, const std::string& server) {
  const Status synced = directory.Sync();
  if (!io::DieOnFailedSync(synced, directory.path())) return synced.error();
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  std::map<std::string, std::vector<MeasuredLog>> by_prefix;
  for (const std::string& name : names) {
    const auto log_name = io::ParseLogFileName(name);
    if (!log_name) continue;
    if (io::IsCovered(names, *log_name)) {
      RATCHET_LOG(kInfo, "{}/{} needs no splitting: manifests cover it", directory.path(), name);
      continue;
    }
    RATCHET_ASSIGN(MeasuredLog log, SealFile(directory, server, *log_name));
    by_prefix[log_name->prefix].push_back(std::move(log));
  }
  std::vector<SealedLog> logs;
  for (auto& [prefix, measured] : by_prefix) {
    std::sort(measured.begin(), measured.end(),
              [](const MeasuredLog& a, const MeasuredLog& b) { return a.name.number < b.name.number; });
    for (const std::string& finding : ExpectMissingRecords(measured, io::CoveredUpTo(names, prefix)))
      RATCHET_LOG(kError, "{}/{}; the split will say so", directory.path(), finding);
    for (MeasuredLog& log : measured) {
      if (log.log.length > 0 || log.log.last_sequence > 0) logs.push_back(std::move(log.log));
    }
  }
  return logs;
}

std::vector<std::string> UnsplitLogs(const std::vector<std::string>& names, const std::vector<SealedLog>& sealed) {
  std::vector<std::string> unsplit;
  for (const SealedLog& log : sealed) {
    const auto name = io::ParseLogFileName(log.name);
    const auto there = [&names](const std::string& file) {
      return std::find(names.begin(), names.end(), file) != names.end();
    };
    if (name && there(log.name) && !there("split." + log.name) && !io::IsCovered(names, *name))
      unsplit.push_back(log.name);
  }
  return unsplit;
}

namespace {

Result<bool> HasHeader(io::Directory& directory, const std::string& name) {
  RATCHET_ASSIGN(const auto file, directory.OpenForRead(name));
  std::string bytes(io::kLogHeaderSize, '\0');
  RATCHET_ASSIGN(const std::size_t got, file->ReadAt(0, bytes.data(), bytes.size()));
  bytes.resize(got);
  io::RecordReader reader(bytes, io::RecordReader::Options{});
  io::Record record;
  while (reader.Next(&record)) {
  }
  return reader.tail().offset > 0;
}

}  // namespace

Status GiveBackUnusedSpace(io::Directory& directory, const std::vector<SealedLog>& sealed,
                           const std::function<Status()>& check) {
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  for (const std::string& name : names) {
    if (!io::ParseLogFileName(name)) continue;
    const auto seal =
        std::find_if(sealed.begin(), sealed.end(), [&name](const SealedLog& log) { return log.name == name; });
    std::uint64_t used = 0;
    if (seal != sealed.end()) {
      used = seal->length;
    } else {
      RATCHET_ASSIGN(const bool written, HasHeader(directory, name));
      if (written) continue;
    }
    RATCHET_TRY(check());
    RATCHET_TRY(directory.Cut(name, used));
  }
  return Ok();
}

}  // namespace ratchet::master
