#include <deque>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "procedure/core/record.h"
#include "tests/procedure_sim/store_double.h"

namespace ratchet::sim {
namespace {

struct Disk {
  std::map<ProcId, procedure::ProcedureUpsert> records;
  std::map<std::string, std::string> system_records;
  ProcId max_pid;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
};

class MemoryDouble final : public StoreDouble {
 public:
  explicit MemoryDouble(Disk& disk) : disk_(disk) {}

  Result<procedure::LoadedState> Claim() override {
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
  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override {
    if (!dead_) queue_.emplace_back(std::move(batch), std::move(done));
  }
  Status Check() override {
    if (dead_ || disk_.epoch != epoch_) return Error(Code::kFenced, "this master is dead");
    return Ok();
  }
  std::uint64_t NextSequence() override { return ++disk_.sequence; }
  Status Admit() override { return Ok(); }
  void Stop() override {}
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return {}; }

  bool Pump() override {
    if (queue_.empty()) return false;
    auto [batch, done] = std::move(queue_.front());
    queue_.pop_front();
    Apply(batch);
    done(disk_.sequence);
    return true;
  }
  [[nodiscard]] std::size_t in_flight() const override { return queue_.size(); }
  void PowerFailure(CrashPhase phase, Prng& prng) override {
    std::size_t survivors = 0;
    if (phase == CrashPhase::kWritten) survivors = prng.Below(queue_.size() + 1);
    if (phase == CrashPhase::kSynced) survivors = queue_.size();
    for (; survivors > 0; --survivors) {
      Apply(queue_.front().first);
      queue_.pop_front();
    }
    queue_.clear();
    dead_ = true;
  }
  [[nodiscard]] const std::string& violation() const override { return violation_; }

 private:
  void Note(std::string text) {
    if (violation_.empty()) violation_ = std::move(text);
  }
  void Apply(procedure::StoreBatch& batch) {
    for (procedure::ProcedureUpsert& record : batch.upserts) {
      const auto found = disk_.records.find(record.pid);
      const bool fresh = found == disk_.records.end();
      const std::uint64_t expected = fresh ? 1 : found->second.version + 1;
      if (record.version != expected) {
        Note(fmt::format("versions: pid {} version {} where {} follows", record.pid, record.version, expected));
      }
      if (fresh && record.pid <= disk_.max_pid && !fresh_.contains(record.pid)) {
        Note(fmt::format("one end: pid {} comes back, the largest is {}", record.pid, disk_.max_pid));
      }
      if (disk_.max_pid < record.pid) {
        // Pids are assigned in order, but batches of one master may arrive in another order.
        for (ProcId pid = disk_.max_pid.Next(); pid < record.pid; pid = pid.Next()) fresh_[pid] = true;
        disk_.max_pid = record.pid;
      }
      disk_.records.insert_or_assign(record.pid, std::move(record));
    }
    for (const ProcId pid : batch.deletes) {
      if (disk_.records.erase(pid) == 0) Note(fmt::format("one end: pid {} is deleted, but is not there", pid));
      fresh_.erase(pid);
    }
    for (procedure::SystemPut& put : batch.system_puts) disk_.system_records[put.key] = std::move(put.value);
    for (const std::string& key : batch.system_deletes) disk_.system_records.erase(key);
    ++disk_.sequence;
  }

  Disk& disk_;
  std::uint64_t epoch_ = 0;
  bool dead_ = false;
  std::string violation_;
  std::map<ProcId, bool> fresh_;  // pids below the largest that this master assigned and has not written yet
  std::deque<std::pair<procedure::StoreBatch, procedure::CommitDone>> queue_;
};

class MemoryMedium final : public Medium {
 public:
  std::unique_ptr<StoreDouble> Open() override { return std::make_unique<MemoryDouble>(disk_); }
  std::unique_ptr<Medium> Copy() const override { return std::make_unique<MemoryMedium>(*this); }
  void ForgetSystemRecords(const std::string& prefix) override {
    disk_.system_records.erase(disk_.system_records.lower_bound(prefix),
                               disk_.system_records.upper_bound(prefix + '\x7f'));
  }
  std::string Describe() const override {
    std::string text;
    for (const auto& [pid, record] : disk_.records) {
      const auto decoded = procedure::DecodeRecord(record.bytes);
      if (!decoded.ok()) continue;
      const procedure::Durable& durable = decoded->durable;
      text +=
          fmt::format("disk: pid {} ppid {} root {} {} {}:{} v{} past={} undo={} locks=", pid, decoded->identity.parent,
                      decoded->identity.root, decoded->identity.type, ProcStateName(durable.state), durable.step,
                      durable.version, durable.past_no_return, durable.undo.size());
      for (const auto& lock : durable.locks) {
        text += fmt::format(" {}{}", lock.key.ToString(), lock.mode == procedure::LockMode::kExclusive ? "!" : "");
      }
      text += "\n";
    }
    return text;
  }

 private:
  Disk disk_;
};

}  // namespace

std::unique_ptr<Medium> MakeMemoryMedium() { return std::make_unique<MemoryMedium>(); }

}  // namespace ratchet::sim
