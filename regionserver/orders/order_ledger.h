// What a region server remembers, for life, of the orders that masters gave it (rules S19, S20; model:
// assignment.pml). The ledger decides whether an order is executed, and to which master its answer goes; it executes
// nothing.
//
// Rules, for each region: the highest order accepted is remembered. A lower one is refused. The same one is never
// executed a second time, but it is always answered again, to the newest (epoch, attempt) that asked; asking again
// while the order is executed or its answer is on its way moves the answer's address. Orders that belong to no region
// (splitting a log) are remembered one by one. What is answered is kept until the master's lowest live procedure has
// passed it; from then on it is refused, like all below it, because it is below that. So the memory is bounded by what
// lives, and nothing is forgotten by age.
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

// Which memory an order belongs to: its region's (encoded name), or, without a region, its own pid's.
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

// What the execution of an order came to; kept for as long as the order is remembered.
struct OrderAnswer {
  OrderOutcome outcome = OrderOutcome::kFailed;
  std::uint64_t open_sequence = 0;  // kOpened: the first sequence number of the opening
  std::uint64_t descriptor = 0;     // kOpened: of the descriptor with which the region is open (S48); 0: unknown
  std::string region_info;          // region orders: serialized RegionInfo, as the order named it
  std::string error_class;          // kFailedOpen, kFailed: HBase exception class name
  std::string error_message;
  std::string payload;  // kDone: what the procedure asked for
};

// An answer that is to be sent, as it stands now.
struct OrderReport {
  OrderKey key;
  ProcId pid;
  OrderAddress address;
  OrderAnswer answer;
};

enum class Admission : std::uint8_t {
  kExecute,       // new: execute it now
  kExecuteLater,  // new, but an older order of this region is still being executed; Executed() will name it
  kReaddressed,   // known and under way: its answer goes to the newest asker
  kAnswerAgain,   // known and executed: its answer is due again
  kRefused,       // lower than what is remembered, or below the lowest live procedure
};

class OrderLedger {
 public:
  // kRefused also for an invalid pid.
  Admission Admit(const OrderKey& key, ProcId pid, OrderAddress from);

  // The lowest procedure that the master still has. Raises only. Forgets
  // answered orders below.
  void RaiseFloor(ProcId lowest_live);
  [[nodiscard]] ProcId floor() const { return floor_; }

  // The execution of `pid` has ended. When a higher order of the region was accepted meanwhile, the answer is no
  // master's any more (its order was settled, or its master deposed) and that order's pid is returned: execute it now.
  std::optional<ProcId> Executed(const OrderKey& key, ProcId pid, OrderAnswer answer);

  // The report for `key` as it must be sent now, or nothing when none is due.
  [[nodiscard]] std::optional<OrderReport> BuildReport(const OrderKey& key) const;
  // Keys whose report has become due since the last call, in that order. From then on the caller looks after each until
  // Acknowledged() returns true or RefusedAsStale() returns false.
  [[nodiscard]] std::vector<OrderKey> TakeNewlyDue() { return std::exchange(newly_due_, {}); }

  // The master has taken the report that was sent as (pid, sent_to). True when nothing more is to be sent; false when
  // the answer has been re-addressed since, so that it is due again.
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
    ProcId executing;  // what is being executed: `pid`, or an older one that has not ended yet
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
