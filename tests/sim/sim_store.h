// The simulation's store double: a disk that outlives masters, a queue of commits in flight, and a power failure that may
// keep any part of what was written and not yet told.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "procedure/store/procedure_store.h"

namespace ratchet::sim {

// Single-threaded, like the whole simulation.
struct SimDisk {
  std::map<ProcId, procedure::ProcedureUpsert> records;
  std::map<std::string, std::string> system_records;
  ProcId max_pid;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
};

class SimStore final : public procedure::ProcedureStore {
 public:
  explicit SimStore(SimDisk& disk) : disk_(disk) {}

  Result<procedure::LoadedState> Claim() override;
  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override;
  Status Check() override;
  std::uint64_t TakeSequence() override { return ++disk_.sequence; }
  Status Admit() override { return Ok(); }
  void Stop() override {}
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return {}; }

  // Completes the oldest commit; false when none is in flight.
  bool Pump();
  [[nodiscard]] std::size_t in_flight() const { return queue_.size(); }
  // Power failure: of what is in flight the oldest `survivors` are on disk, untold; the rest is gone. The store is dead.
  void PowerFailure(std::size_t survivors);
  // Not empty: a record came whose version does not follow (S11).
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  void Apply(procedure::StoreBatch& batch);

  SimDisk& disk_;
  std::uint64_t epoch_ = 0;
  bool dead_ = false;
  std::string violation_;
  std::deque<std::pair<procedure::StoreBatch, procedure::CommitDone>> queue_;
};

}  // namespace ratchet::sim
