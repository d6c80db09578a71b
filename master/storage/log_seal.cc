#include "master/storage/log_seal.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/accepted_mark.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"
#include "common/io/torn_write.h"
#include "common/io/unneeded_files.h"
#include "common/model/log_entry_key.h"
#include "master/storage/log_chain.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kStep = 1U << 20;  // bytes per read

// S171 (seal makes an index): the regions that the records of a log name. A record that a splitter would report as
// damage makes it unknown, and so do too many names.
class IndexMaker {
 public:
  void Add(const io::Record& record) {
    if (!regions_) return;
    const Result<LogEntryKey> key = KeyOfLogRecord(record.type, record.version, record.payload);
    if (!key.ok()) return regions_.reset();
    if (regions_->contains(key->region)) return;
    bytes_ += key->region.size();
    if (bytes_ > kMostIndexedBytes) return regions_.reset();
    regions_->emplace(key->region);
  }
  [[nodiscard]] std::optional<RegionNames> Take() { return std::move(regions_); }

 private:
  std::optional<RegionNames> regions_ = RegionNames();
  std::size_t bytes_ = 0;
};

// `again`: second check of a log whose last record is complete and invalid. The first check may have seen a partly
// copied last append of a zombie; the sync in between waits for that append (S81: whole bad record is damage).
Result<MeasuredLog> SealFile(io::Directory& directory, const std::string& server, const io::LogFileName& log_name,
                             bool again = false) {
  const std::string name = io::ToString(log_name);
  // A log that cannot be opened (no descriptor, no file) was not synced, which is not a failed sync. A log that is gone
  // was covered and archived by an earlier master's cleaner after the listing; the next listing shows this.
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(name));
  std::uint64_t indexed_to = UINT64_MAX;
  if (RATCHET_MUTANT("seal.index_before_sync")) indexed_to = file->size().value();
  // Syncs before the measurement: a zombie's last append may be only in the page cache, and sealed bytes must be
  // durable (S26: split up to the seal).
  const Status synced = file->Sync();
  if (!io::DieOnFailedSync(synced, name)) return synced.error();
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  // Even without a readable header, the records identify this file.
  io::RecordReader::Options options;
  options.expected = {kServerLogKind, io::LogFileId(fmt::format("{}/{}", server, name))};
  io::RecordReader reader(*file, size, options);
  std::string damage;
  IndexMaker index;
  MeasuredLog measured;
  measured.name = log_name;
  do {
    io::Record record;
    while (reader.Next(&record)) {
      if (measured.first_sequence == 0) measured.first_sequence = record.sequence;
      if (record.end <= indexed_to) index.Add(record);
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
    damage = fmt::format("damaged at offset {} ({}), in its last record, which was written completely", tail.offset,
                         tail.reason);
  }
  // S57 (damaged log is split as far as readable): seals a damaged log in full length. Its splitter reports the damage,
  // and only work that depends on this log waits.
  const std::uint64_t length = damage.empty() ? tail.offset : size;
  measured.log = {name, length, io::ChecksumOf(bytes, 0, length), tail.last_sequence,
                  log_name.prefix == io::kMetaLogPrefix};
  measured.damaged = !damage.empty();
  const bool whole = damage.empty() || RATCHET_MUTANT("seal.index_of_damaged");
  if (whole && !measured.log.meta) measured.log.regions = index.Take();
  if (!bytes.status().ok()) return bytes.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (!damage.empty()) {
    RATCHET_LOG(kError, "Sealed damaged log {}/{} at {} bytes: {}", directory.path(), name, size, damage);
    return measured;
  }
  RATCHET_LOG(kInfo, "Sealed {}/{} at {} bytes of {}, last sequence {}{}", directory.path(), name, length, size,
              tail.last_sequence, tail.end == io::LogEnd::kTorn ? ", torn tail cut" : "");
  return measured;
}

// Returns the greatest number of a log of this prefix that was made.
std::uint64_t OwedUpTo(const std::vector<std::string>& names, const std::string& prefix, const LogOwner& owner) {
  if (const std::uint64_t made = io::MadeUpTo(names, prefix); made > 0) return made;
  if (prefix == io::kRegionLogPrefix) return owner.registered ? 1 : 0;
  // A log counts as missing only if the other log is lost too, because then the directory was emptied. Otherwise a
  // server with an order to open hbase:meta may have died before it made this log.
  const bool emptied = owner.registered && io::MadeUpTo(names, io::kRegionLogPrefix) == 0 &&
                       io::CoveredUpTo(names, io::kRegionLogPrefix) == 0 &&
                       std::none_of(names.begin(), names.end(),
                                    [](const std::string& name) { return io::ParseLogFileName(name).has_value(); });
  return emptied && owner.carried_meta ? 1 : 0;
}

// S119 (made logs are required): an operator continues without this log.
bool IsAccepted(const std::vector<std::string>& names, const std::string& log) {
  return std::find(names.begin(), names.end(), AcceptedMark(log)) != names.end();
}

// S171 (seal makes an index): one log whose regions are unknown makes the others' useless, and all of them together
// have a limit too. Keeps each name once.
void CompareIndexes(std::vector<SealedLog>& logs, bool known) {
  std::size_t bytes = 0;
  RegionNames all;
  for (SealedLog& log : logs) {
    if (log.meta) continue;
    known = known && log.regions;
    if (!known) break;
    std::erase_if(*log.regions, [&all](const std::string& region) { return all.contains(region); });
    for (const std::string& region : *log.regions) bytes += region.size();
    all.insert(log.regions->begin(), log.regions->end());
  }
  if (known && bytes <= kMostIndexedBytes) return;
  for (SealedLog& log : logs) log.regions.reset();
}

}  // namespace

Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory, const std::string& server,
                                             const LogOwner& owner) {
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
  for (const std::string_view known : {io::kRegionLogPrefix, io::kMetaLogPrefix}) {
    const std::string prefix(known);
    std::vector<MeasuredLog> lost = by_prefix[prefix];
    for (const std::string& name :
         AddMissingLogs(lost, prefix, io::CoveredUpTo(names, prefix), OwedUpTo(names, prefix, owner)))
      RATCHET_LOG(kError, "{}/{} is missing; its split waits for it", directory.path(), name);
    by_prefix[prefix] = std::move(lost);
  }
  std::vector<SealedLog> logs;
  bool all_sealed = true;
  for (auto& [prefix, measured] : by_prefix) {
    std::sort(measured.begin(), measured.end(),
              [](const MeasuredLog& a, const MeasuredLog& b) { return a.name.number < b.name.number; });
    for (const std::string& finding : ExpectMissingRecords(measured, io::CoveredUpTo(names, prefix)))
      RATCHET_LOG(kError, "{}/{}; its split will report the damage", directory.path(), finding);
    for (MeasuredLog& log : measured) {
      if (log.log.missing && IsAccepted(names, log.log.name)) {
        all_sealed = false;  // what it named is unknown
        continue;
      }
      if (log.log.length > 0 || log.log.last_sequence > 0 || log.log.missing) logs.push_back(std::move(log.log));
    }
  }
  CompareIndexes(logs, all_sealed);
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
      if (seal->missing) continue;  // the log has reappeared, and its expected length is unknown
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
