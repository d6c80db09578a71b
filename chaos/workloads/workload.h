// A client load that goes on while the cluster is being broken, and that can tell afterwards whether anything was lost.
//
// A workload owns its tables, its threads and its evidence. Life: Prepare, Start, Stop, (the driver waits until the
// cluster has settled), Check, WriteEvidence. All by the driver's thread; counters() from any thread at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::client {
class Connection;
}

namespace ratchet::chaos {

class SecondCluster;

// One thing that was looked at when the dust had settled, in a sentence.
struct Finding {
  bool good = false;
  std::string text;
};

struct WorkloadCounters {
  std::uint64_t ok = 0;       // answered, and the answer is part of the evidence
  std::uint64_t failed = 0;   // refused: certainly not done
  std::uint64_t unknown = 0;  // no answer within the deadline: may be done or not
  std::optional<TimePoint> last_ok;
  Millis longest_gap{0};  // between two answers of any of its threads
};

struct WorkloadContext {
  client::Connection& connection;  // outlives the workload; thread-safe
  std::uint64_t seed = 0;          // all of the workload's choices come from it
  int threads = 4;
  int regions = 12;                 // its tables are pre-split into this many
  std::string table_prefix;         // keeps runs on one cluster apart
  bool whole_history = false;       // keep all evidence of what was good (ratchet-chaos --history)
  SecondCluster* second = nullptr;  // outlives the workload; null where there is none
  Millis settle{60'000};            // how long what a check waits for may take
  std::filesystem::path exports{};  // where masters may export snapshots to; empty: nowhere
};

class Workload {
 public:
  Workload() = default;
  virtual ~Workload() = default;  // stops
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Status Prepare() = 0;
  virtual void Start() = 0;
  // Nothing new is begun. Asked of all loads first, they stop side by side instead of one after the other.
  virtual void AskToStop() {}
  virtual void Stop() = 0;  // ends after the operations under way; bounded by their deadlines
  [[nodiscard]] virtual WorkloadCounters counters() const = 0;
  [[nodiscard]] virtual std::vector<Finding> Check() = 0;
  // History and what else a reader needs to check again, below `folder`.
  [[nodiscard]] virtual Status WriteEvidence(const std::filesystem::path& folder) = 0;
};

// "registers", "lists", "bank", "ddl", "huge-rows", "splits", "snapshots", "alter", "drain", "balance", "replication":
// in the order in which they are checked: what is drained is back when the shares are looked at.
[[nodiscard]] std::vector<std::string_view> WorkloadNames();
// Those that run where none is named: all that do with one cluster.
[[nodiscard]] std::vector<std::string_view> UsualWorkloadNames();
[[nodiscard]] bool NeedsSecondCluster(std::string_view name);
// kInvalid, naming those that exist, for an unknown name.
[[nodiscard]] Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name, WorkloadContext context);

}  // namespace ratchet::chaos
