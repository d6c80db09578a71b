#include "tests/sim/sim_store.h"

#include <fmt/format.h>

namespace ratchet::sim {

Result<procedure::LoadedState> SimStore::Claim() {
  epoch_ = ++disk_.epoch;
  procedure::LoadedState loaded;
  loaded.epoch = Epoch(epoch_);
  loaded.records.reserve(disk_.records.size());
  for (const auto& [pid, record] : disk_.records) loaded.records.push_back(record);
  loaded.system_records = disk_.system_records;
  loaded.max_pid = disk_.max_pid;
  loaded.last_sequence = disk_.sequence;
  return loaded;
}

Status SimStore::Check() {
  if (dead_ || disk_.epoch != epoch_) return Error(Code::kFenced, "this master is dead");
  return Ok();
}

void SimStore::Commit(procedure::StoreBatch batch, procedure::CommitDone done) {
  if (!dead_) queue_.emplace_back(std::move(batch), std::move(done));
}

void SimStore::Apply(procedure::StoreBatch& batch) {
  for (procedure::ProcedureUpsert& record : batch.upserts) {
    const auto found = disk_.records.find(record.pid);
    const std::uint64_t expected = found == disk_.records.end() ? 1 : found->second.version + 1;
    if (record.version != expected && violation_.empty()) {
      violation_ = fmt::format("S11: pid {} version {} where {} follows", record.pid, record.version, expected);
    }
    if (disk_.max_pid < record.pid) disk_.max_pid = record.pid;
    disk_.records.insert_or_assign(record.pid, std::move(record));
  }
  for (const ProcId pid : batch.deletes) disk_.records.erase(pid);
  for (procedure::SystemPut& put : batch.system_puts) disk_.system_records[put.key] = std::move(put.value);
  for (const std::string& key : batch.system_deletes) disk_.system_records.erase(key);
  ++disk_.sequence;
}

bool SimStore::Pump() {
  if (queue_.empty()) return false;
  auto [batch, done] = std::move(queue_.front());
  queue_.pop_front();
  Apply(batch);
  done(disk_.sequence);
  return true;
}

void SimStore::PowerFailure(std::size_t survivors) {
  for (std::size_t i = 0; i < survivors && !queue_.empty(); ++i) {
    Apply(queue_.front().first);
    queue_.pop_front();
  }
  queue_.clear();
  dead_ = true;
}

}  // namespace ratchet::sim
