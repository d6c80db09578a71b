// A WalStore on the disk double, driven by hand, and a model of the data that must survive.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/io/fatal.h"
#include "procedure/store/claim.h"
#include "procedure/store/wal_store.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::procedure {

// A failed sync ends a process (S6: failed sync ends the process); in these tests it only ends the store.
inline int deaths = [] {
  io::SetFatalHandler([](const std::string&) { ++deaths; });
  return 0;
}();

inline WalStoreOptions SmallOptions() {
  WalStoreOptions options;
  options.segment_bytes = 2048;
  options.max_segments = 3;
  options.max_frame_bytes = 4096;
  options.spares = 0;
  options.threads = false;
  options.owner = "test";
  return options;
}

// One simulated master process with its store.
struct StoreProcess {
  explicit StoreProcess(io::SimDisk& disk, WalStoreOptions options = SmallOptions())
      : process(disk.NewProcess()), options_(std::move(options)) {}

  // Opens the directories and builds the store. Returns false if the process died meanwhile.
  bool Open() {
    auto store_directory = process->OpenOrMake("/procedures");
    if (!store_directory.ok()) return false;
    auto quarantine = process->OpenOrMake("/quarantine");
    if (!quarantine.ok()) return false;
    auto root = process->OpenOrMake("/");
    if (!root.ok()) return false;
    auto guard = RootGuard::Open(std::move(root).value());
    if (!guard.ok()) return false;
    store = std::make_unique<WalStore>(std::move(store_directory).value(), std::move(quarantine).value(), time,
                                       options_, std::move(guard).value());
    return true;
  }
  Result<LoadedState> Claim() {
    if (!Open()) return Error(Code::kIo, "the process died");
    return store->Claim();
  }
  void StepAll() {
    while (store->StepOnce() || store->StepHousekeeping()) {
    }
  }
  // Commits, and steps until the commit is completed. Returns nullopt if it never is.
  std::optional<Result<std::uint64_t>> CommitNow(StoreBatch batch) {
    auto outcome = std::make_shared<std::optional<Result<std::uint64_t>>>();
    store->Commit(std::move(batch),
                  [outcome](Result<std::uint64_t> sequence) { outcome->emplace(std::move(sequence)); });
    while (!outcome->has_value() && store->StepOnce()) {
    }
    return *outcome;
  }

  std::unique_ptr<io::SimDisk::Process> process;
  ManualTime time;
  WalStoreOptions options_;
  std::unique_ptr<WalStore> store;
};

inline StoreBatch Put(std::uint64_t pid, std::uint64_t version, std::string bytes) {
  StoreBatch batch;
  batch.upserts.push_back({ProcId(pid), version, std::move(bytes)});
  return batch;
}
inline StoreBatch Remove(std::uint64_t pid) {
  StoreBatch batch;
  batch.deletes.push_back(ProcId(pid));
  return batch;
}
inline StoreBatch PutSystem(std::string key, std::string value) {
  StoreBatch batch;
  batch.system_puts.push_back({std::move(key), std::move(value)});
  return batch;
}

// What is stored, as a plain map: pid -> "version:bytes", key -> value.
struct StoreState {
  std::map<std::uint64_t, std::string> records;
  std::map<std::string, std::string> system;
  bool operator==(const StoreState&) const = default;

  void Apply(const StoreBatch& batch) {
    for (const auto& upsert : batch.upserts) {
      records[upsert.pid.value()] = std::to_string(upsert.version) + ":" + upsert.bytes;
    }
    for (const ProcId pid : batch.deletes) records.erase(pid.value());
    for (const auto& put : batch.system_puts) system[put.key] = put.value;
    for (const auto& key : batch.system_deletes) system.erase(key);
  }
};
inline StoreState StateOf(const LoadedState& loaded) {
  StoreState state;
  for (const auto& record : loaded.records) {
    state.records[record.pid.value()] = std::to_string(record.version) + ":" + record.bytes;
  }
  state.system = loaded.system_records;
  return state;
}
inline void PrintTo(const StoreState& state, std::ostream* out) {
  for (const auto& [pid, text] : state.records) *out << pid << "=" << text.substr(0, 12) << " ";
  for (const auto& [key, value] : state.system) *out << key << "=" << value.substr(0, 12) << " ";
}

}  // namespace ratchet::procedure
