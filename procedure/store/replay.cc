#include "procedure/store/replay.h"

#include <algorithm>

namespace ratchet::procedure {
namespace {

// Limits that leave room for later pids and versions, which must be positive numbers, S55 (checked input).
constexpr std::uint64_t kGreatest = 1ULL << 62;

}  // namespace

bool Replay::Apply(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why) {
  switch (entry.kind) {
    case EntryKind::kBatch:
      if (entry.sequence > kGreatest) {
        *why = {fmt::format("a batch of sequence {}, which no batch can have", entry.sequence), DamageKind::kBytes};
        return false;
      }
      contents_.last_sequence = std::max(contents_.last_sequence, entry.sequence);
      return true;
    case EntryKind::kUpsert:
    case EntryKind::kRewrite:
    case EntryKind::kCopy: return Upsert(entry, segment, in_head, why);
    case EntryKind::kDelete: return Delete(entry.pid, in_head, why);
    case EntryKind::kSystemPut:
      if (!in_head) system_in_older_.emplace(entry.key);
      contents_.system.insert_or_assign(std::string(entry.key), LoadedSystemRecord{std::string(entry.bytes), segment});
      return true;
    case EntryKind::kSystemDelete: {
      const auto found = contents_.system.find(entry.key);
      if (found != contents_.system.end()) contents_.system.erase(found);
      if (in_head) system_deleted_in_head_.emplace(entry.key);
      return true;
    }
    case EntryKind::kLowWater: return true;  // read beforehand
    case EntryKind::kStart:
      if (entry.start.max_pid.value() > kGreatest) {
        *why = {fmt::format("a segment that begins after pid {}, which no procedure can have", entry.start.max_pid),
                DamageKind::kBytes};
        return false;
      }
      contents_.max_pid = std::max(contents_.max_pid, entry.start.max_pid);
      return true;
    case EntryKind::kSummary: return true;
  }
  *why = {"an entry of an unknown kind", DamageKind::kBytes};
  return false;
}

// Returns true if the entry may follow `known`, the newest record of the same pid so far.
bool Replay::MayFollow(const FrameEntry& entry, const LoadedRecord& known) const {
  const std::uint64_t version = known.record.version;
  switch (entry.kind) {
    case EntryKind::kRewrite:
      if (entry.version == version) return entry.bytes == known.record.bytes;
      break;
    // The versions between are in the segment that was open, which is not read again. The rewriting of a straggler
    // whose older copy still exists is there too.
    case EntryKind::kCopy:
      if (entry.version == version) return entry.bytes == known.record.bytes;
      return entry.version > version;
    default:
      if (entry.version == version + 1) return true;
  }
  return order_ == RecordOrder::kGaps && entry.version > version;
}

bool Replay::Upsert(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why) {
  if (!in_head) in_older_.add(entry.pid.value());
  if (!entry.pid.valid() || entry.version == 0) {
    *why = {"a record without pid or version", DamageKind::kBytes};
    return false;
  }
  if (entry.pid.value() > kGreatest || entry.version > kGreatest) {
    *why = {fmt::format("version {} of pid {}, which no procedure can have", entry.version, entry.pid),
            DamageKind::kBytes};
    return false;
  }
  if (deleted_.contains(entry.pid.value())) {
    if (order_ == RecordOrder::kAny) return true;
    *why = {fmt::format("a record of pid {}, which was deleted before", entry.pid), DamageKind::kOrder};
    return false;
  }
  contents_.max_pid = std::max(contents_.max_pid, entry.pid);
  PidTable::Entry& known = contents_.index.Put(entry.pid);
  if (known.version == 0) {
    known = {entry.pid.value(), entry.version, static_cast<std::uint32_t>(contents_.records.size()), 0};
    contents_.records.push_back({{entry.pid, entry.version, std::string(entry.bytes)}, segment});
    return true;
  }
  LoadedRecord& loaded = contents_.records[known.place];
  const bool again = entry.version == known.version;
  if (!MayFollow(entry, loaded)) {
    if (order_ != RecordOrder::kAny) {
      *why = {fmt::format("version {} of pid {} after version {}", entry.version, entry.pid, known.version),
              DamageKind::kOrder};
      return false;
    }
    if (entry.version <= known.version) return true;
  }
  known.version = entry.version;
  loaded.record.version = entry.version;
  if (!again) loaded.record.bytes.assign(entry.bytes);
  loaded.segment = segment;
  return true;
}

bool Replay::Delete(ProcId pid, bool in_head, Refused* why) {
  if (pid.value() > kGreatest) {
    *why = {fmt::format("a tombstone of pid {}, which no procedure can have", pid), DamageKind::kBytes};
    return false;
  }
  contents_.max_pid = std::max(contents_.max_pid, pid);
  if (deleted_.contains(pid.value())) {
    // Only a claimer writes a tombstone a second time: it copies those of the segment that was open.
    return true;
  }
  const PidTable::Entry* known = contents_.index.Find(pid);
  if (known != nullptr) {
    contents_.records[known->place] = LoadedRecord{};
    contents_.index.Erase(pid);
  } else if (!pid.valid()) {
    *why = {"a tombstone without pid", DamageKind::kBytes};
    return false;
  }
  deleted_.add(pid.value());
  if (in_head) deleted_in_head_.push_back(pid);
  return true;
}

void Replay::Finish() {
  for (const ProcId pid : deleted_in_head_) {
    if (in_older_.contains(pid.value())) contents_.head_deletes.push_back(pid);
  }
  for (const std::string& key : system_deleted_in_head_) {
    if (!contents_.system.contains(key) && system_in_older_.contains(key)) contents_.head_system_deletes.push_back(key);
  }
}

}  // namespace ratchet::procedure
