// A client load that runs while the cluster is being broken, and that can check afterwards whether data was lost.
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

// One check after the cluster has settled, and its result in a sentence.
struct Finding {
  bool good = false;
  std::string text;
};

struct WorkloadCounters {
  std::uint64_t ok = 0;       // answered, and the answer is part of the evidence
  std::uint64_t failed = 0;   // refused: certainly not done
  std::uint64_t unknown = 0;  // no answer within the time limit: may be done or not
  std::optional<TimePoint> last_ok;
  Millis longest_gap{0};  // between two answers of any of its threads
};

struct WorkloadContext {
  client::Connection& connection;  // outlives the workload; thread-safe
  std::uint64_t seed = 0;          // source of all choices of the workload
  int threads = 4;
  int regions = 12;                 // number of regions of its tables
  std::string table_prefix;         // separates runs on one cluster
  bool whole_history = false;       // keep the evidence of good results, too (ratchet-chaos --history)
  SecondCluster* second = nullptr;  // outlives the workload; null if there is none
  Millis settle{60'000};            // time limit of a check's waits
  std::filesystem::path exports{};  // directory to which masters may export snapshots; empty: exports are not allowed
  // For clients in other languages, which have their own connections.
  std::filesystem::path clients{};     // directory of their programs
  std::string zookeeper{};             // HOST:PORT,...
  std::vector<std::string> masters{};  // HOST:PORT each
};

class Workload {
 public:
  Workload() = default;
  virtual ~Workload() = default;  // stops the load
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Status Prepare() = 0;
  virtual void Start() = 0;
  // Begins no new operation. The driver asks all loads first, so that they stop in parallel.
  virtual void AskToStop() {}
  virtual void Stop() = 0;  // ends after the operations in progress; bounded by their time limits
  [[nodiscard]] virtual WorkloadCounters counters() const = 0;
  [[nodiscard]] virtual std::vector<Finding> Check() = 0;
  // Writes the history and the other data for a repeated check, below `folder`.
  [[nodiscard]] virtual Status WriteEvidence(const std::filesystem::path& folder) = 0;
};

// "registers", "lists", "bank", "ddl", "huge-rows", "splits", "snapshots", "alter", "drain", "balance", "scans",
// "java", "replication": in the order of their checks: drained servers are back when the shares are checked.
[[nodiscard]] std::vector<std::string_view> WorkloadNames();
// Returns the workloads that run by default: all that need only one cluster and no program in another language.
[[nodiscard]] std::vector<std::string_view> UsualWorkloadNames();
[[nodiscard]] bool NeedsSecondCluster(std::string_view name);
// The workloads whose clients are programs in other languages.
[[nodiscard]] bool NeedsClientProgram(std::string_view name);
// Returns why the workload cannot run here with the programs in `clients`; nullopt if it can.
[[nodiscard]] std::optional<std::string> WhyNoWorkload(std::string_view name, const std::filesystem::path& clients);
// kInvalidArgument for an unknown name lists the existing ones.
[[nodiscard]] Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name, WorkloadContext context);

}  // namespace ratchet::chaos
