// Remembers the orders that masters gave this region server, as long as the process lives (S19: executed orders are
// remembered; S20: answers are repeated; model: assignment.pml). The ledger decides whether an order is executed and
// which master gets its answer; it executes nothing.
//
// Rules, for each region: the highest order accepted is remembered. A lower one is refused. An order is never executed
// a second time, but it is always answered again, to the newest (epoch, attempt) that asked; asking again while the
// order is executed or its answer is on its way moves the answer's address. Orders that belong to no region (splitting
// a log) are remembered one by one. An answered order is kept until the master's lowest live procedure has a higher
// pid; from then on every order below that pid is refused. So the live procedures bound the memory, and no order is
// forgotten by age.
//
// Not thread-safe: the order queue owns it and holds its mutex.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/strong_id.h"

namespace ratchet::regionserver {

// Key of an order: its region (encoded name), or, without a region, its own pid.
struct OrderKey {
  std::string region;
  ProcId procedure;  // set only when `region` is empty

  static OrderKey ForRegion(std::string encoded_name) { return {std::move(encoded_name), ProcId{}}; }
  static OrderKey ForProcedure(ProcId pid) { return {{}, pid}; }
  [[nodiscard]] std::string ToString() const;
  auto operator<=>(const OrderKey&) const = default;
};

// The master that wants the answer. Attempts only route answers; they never decide whether something is executed.
struct OrderAddress {
  Epoch epoch;
  std::uint32_t attempt = 0;
  auto operator<=>(const OrderAddress&) const = default;
};

enum class OrderOutcome : std::uint8_t { kOpened, kFailedOpen, kClosed, kDone, kFailed };
[[nodiscard]] std::string_view OutcomeName(OrderOutcome outcome);

// Result of an order; kept for as long as the order is remembered.
struct OrderAnswer {
  OrderOutcome outcome = OrderOutcome::kFailed;
  std::uint64_t open_sequence = 0;  // kOpened: the first sequence number of the opening
  // kOpened: number of the descriptor with which the region is open (S48: schema pinned in the order); 0: unknown
  std::uint64_t schema_number = 0;
  std::uint64_t open_number = 0;  // kOpened: number of the opening; 0: unknown (S118: older copy stays closed)
  std::uint64_t flushed = 0;      // kClosed: the flushed sequence of the region that was closed; 0: unknown (S118)
  std::string region_info;        // region orders: serialized RegionInfo, as the order named it
  std::string error_class;        // kFailedOpen, kFailed: HBase exception class name
  std::string error_message;
  std::string payload;  // kDone: what the procedure asked for
};

// An answer as it must be sent now.
struct OrderReport {
  OrderKey key;
  ProcId pid;
  OrderAddress address;
  OrderAnswer answer;
};

enum class OrderAdmission : std::uint8_t {
  kExecute,       // new: execute it now
  kExecuteLater,  // new, but an older order of this region is still being executed; Executed() will name it
  kReaddressed,   // known and in progress: its answer goes to the newest asker
  kAnswerAgain,   // known and executed: its answer must be sent again
  kRefused,       // lower than the remembered order, or below the lowest live procedure
};

class OrderLedger {
 public:
  // Returns kRefused also for an invalid pid.
  OrderAdmission Admit(const OrderKey& key, ProcId pid, OrderAddress from);

  // Sets the lowest procedure that the master still has; it never falls. Forgets answered orders below it.
  void RaiseFloor(ProcId lowest_live);
  [[nodiscard]] ProcId floor() const { return floor_; }

  // Records that the execution of `pid` has ended. If a higher order of the region was accepted meanwhile, no master
  // waits for the answer (the order was settled, or its master deposed). The pid of the higher order is then returned:
  // execute it now.
  std::optional<ProcId> Executed(const OrderKey& key, ProcId pid, OrderAnswer answer);

  // Returns the report for `key` as it must be sent now, or nullopt when none is due.
  [[nodiscard]] std::optional<OrderReport> BuildReport(const OrderKey& key) const;
  // Keys whose report has become due since the last call, in that order. From then on the caller looks after each until
  // Acknowledged() returns true or RefusedAsStale() returns false.
  [[nodiscard]] std::vector<OrderKey> DrainNewlyDue() { return std::exchange(newly_due_, {}); }

  // Records that the master accepted the report that was sent as (pid, sent_to). True when the report is finished;
  // false when the answer was re-addressed since, so that it is due again.
  bool Acknowledged(const OrderKey& key, ProcId pid, OrderAddress sent_to);
  // The master refused the report as stale. With `expected` it waits for this very order under another address: the
  // answer goes there. True when the report is due again.
  bool RefusedAsStale(const OrderKey& key, ProcId pid, OrderAddress sent_to, std::optional<OrderAddress> expected);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // The order remembered for `key`, for status pages and tests.
  [[nodiscard]] std::optional<ProcId> Remembered(const OrderKey& key) const;
  // True while the order for `key` is accepted and its execution has not ended.
  [[nodiscard]] bool UnderWay(const OrderKey& key) const;

 private:
  enum class Stage : std::uint8_t { kUnderWay, kReportDue, kAnswered };
  struct Entry {
    ProcId pid;        // the highest order accepted
    ProcId executing;  // the order in execution: `pid`, or an older one that has not ended yet
    OrderAddress address;
    Stage stage = Stage::kUnderWay;
    OrderAnswer answer;
  };
  Entry* FindCurrent(const OrderKey& key, ProcId pid);
  void ForgetBelowFloor();

  std::map<OrderKey, Entry> entries_;
  std::vector<OrderKey> newly_due_;
  ProcId floor_;
};

}  // namespace ratchet::regionserver
