#include "procedure/store/tracker.h"

#include <algorithm>

#include "common/base/check.h"

namespace ratchet::procedure {

void Tracker::Begin(SegmentId id) {
  segments_.emplace_back();
  segments_.back().entry.id = id;
}

void Tracker::Load(const StoreContents& contents, bool with_head) {
  RATCHET_CHECK(segments_.empty(), "Load after Begin");
  const std::size_t closed = contents.chain.size() - (contents.has_head && !with_head ? 1 : 0);
  for (std::size_t i = 0; i < closed; ++i) {
    Begin(contents.chain[i].id);
    segments_.back().entry = contents.chain[i];
  }
  for (const LoadedRecord& loaded : contents.records) {
    if (!loaded.record.pid.valid() || loaded.segment >= closed) continue;
    PidTable::Entry& entry = pids_.Put(loaded.record.pid);
    entry.version = loaded.record.version;
    entry.place = loaded.segment;
    entry.bytes = static_cast<std::uint32_t>(loaded.record.bytes.size() + kRecordOverhead);
    live_bytes_ += entry.bytes;
    segments_[loaded.segment].live.add(loaded.record.pid.value());
  }
  for (const auto& [key, loaded] : contents.system) {
    if (loaded.segment >= closed) continue;
    system_.emplace(key, System{loaded.value, loaded.segment});
    ++segments_[loaded.segment].live_system;
  }
}

Status Tracker::Judge(const StoreBatch& batch) {
  scratch_.clear();
  for (const ProcedureUpsert& upsert : batch.upserts) {
    const PidTable::Entry* known = pids_.Find(upsert.pid);
    const std::uint64_t expected = known == nullptr ? 1 : known->version + 1;
    if (!upsert.pid.valid() || upsert.version != expected) {
      return Error(Code::kStale, fmt::format("pid {}: version {} does not follow, expected {}", upsert.pid,
                                             upsert.version, expected));
    }
    scratch_.push_back(upsert.pid.value());
  }
  for (const ProcId pid : batch.deletes) {
    if (pids_.Find(pid) == nullptr) return Error(Code::kStale, fmt::format("pid {}: deleted, but not stored", pid));
    scratch_.push_back(pid.value());
  }
  if (scratch_.size() < 2) return Ok();
  std::sort(scratch_.begin(), scratch_.end());
  const auto twice = std::adjacent_find(scratch_.begin(), scratch_.end());
  if (twice != scratch_.end()) return Error(Code::kStale, fmt::format("pid {} is twice in one batch", *twice));
  return Ok();
}

void Tracker::Upsert(ProcId pid, std::uint64_t version, std::uint64_t bytes) {
  PidTable::Entry& entry = pids_.Put(pid);
  const std::uint32_t newest = NewestPlace();
  if (entry.version == 0 || entry.place != newest) {
    if (entry.version != 0) At(entry.place).live.remove(pid.value());
    At(newest).live.add(pid.value());
    At(newest).touched.add(pid.value());
  }
  entry.version = version;
  entry.place = newest;
  live_bytes_ -= entry.bytes;
  entry.bytes = static_cast<std::uint32_t>(bytes + kRecordOverhead);
  live_bytes_ += entry.bytes;
  ++At(newest).upserts;
}

void Tracker::Delete(ProcId pid) {
  if (const PidTable::Entry* entry = pids_.Find(pid)) {
    At(entry->place).live.remove(pid.value());
    live_bytes_ -= entry->bytes;
    pids_.Erase(pid);
  }
  At(NewestPlace()).touched.add(pid.value());
  ++At(NewestPlace()).deletes;
}

void Tracker::PutSystem(const std::string& key, const std::string& value) {
  System& record = system_.try_emplace(key, System{{}, UINT32_MAX}).first->second;
  if (record.place != UINT32_MAX) --At(record.place).live_system;
  record.value = value;
  record.place = NewestPlace();
  ++At(record.place).live_system;
}

void Tracker::DeleteSystem(const std::string& key) {
  const auto found = system_.find(key);
  if (found == system_.end()) return;
  --At(found->second.place).live_system;
  system_.erase(found);
}

void Tracker::CloseNewest(std::uint64_t length, std::uint64_t last_sequence) {
  segments_.back().entry.length = length;
  segments_.back().entry.last_sequence = last_sequence;
  segments_.back().touched = Roaring64Map();  // is in the summary now
}

bool Tracker::DropDeadSegments() {
  bool dropped = false;
  while (segments_.size() > 1 && segments_.front().live_system == 0 && segments_.front().live.isEmpty()) {
    segments_.pop_front();
    ++first_place_;
    dropped = true;
  }
  return dropped;
}

std::vector<ChainEntry> Tracker::Chain() const {
  std::vector<ChainEntry> chain;
  for (std::size_t i = 0; i + 1 < segments_.size(); ++i) chain.push_back(segments_[i].entry);
  return chain;
}

bool Tracker::IsStraggler(ProcId pid, std::uint64_t version) const {
  const PidTable::Entry* entry = pids_.Find(pid);
  return entry != nullptr && entry->version == version && entry->place == first_place_ && segments_.size() > 1;
}

std::optional<SystemPut> Tracker::StragglingSystemRecord() const {
  if (segments_.size() < 2 || segments_.front().live_system == 0) return std::nullopt;
  for (const auto& [key, record] : system_) {
    if (record.place == first_place_) return SystemPut{key, record.value};
  }
  return std::nullopt;
}

std::string Tracker::NewestSummaryPids() const {
  const Roaring64Map& touched = segments_.back().touched;
  std::string bytes(touched.getSizeInBytes(), '\0');
  touched.write(bytes.data());
  return bytes;
}

}  // namespace ratchet::procedure
