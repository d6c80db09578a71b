#include "regionserver/orders/order_ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/mutant.h"

namespace ratchet::regionserver {

std::string_view OutcomeName(OrderOutcome outcome) {
  switch (outcome) {
    case OrderOutcome::kOpened: return "OPENED";
    case OrderOutcome::kFailedOpen: return "FAILED_OPEN";
    case OrderOutcome::kClosed: return "CLOSED";
    case OrderOutcome::kDone: return "DONE";
    case OrderOutcome::kFailed: return "FAILED";
  }
  return "UNKNOWN";
}

std::string OrderKey::ToString() const {
  return region.empty() ? fmt::format("procedure {}", procedure) : fmt::format("region {}", region);
}

OrderAdmission OrderLedger::Admit(const OrderKey& key, ProcId pid, OrderAddress from) {
  if (!pid.valid()) return OrderAdmission::kRefused;
  if (pid < floor_ && !RATCHET_MUTANT("orders.no_floor")) return OrderAdmission::kRefused;
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    entries_.emplace(key, Entry{pid, pid, from, Stage::kUnderWay, {}});
    return OrderAdmission::kExecute;
  }
  Entry& entry = found->second;
  if (pid < entry.pid) return OrderAdmission::kRefused;
  if (pid > entry.pid) {
    // A region has one order at a time. An older order that still runs was settled with its master, but its effects
    // have not ended.
    const bool busy = entry.executing.valid();
    entry = Entry{pid, busy ? entry.executing : pid, from, Stage::kUnderWay, {}};
    return busy ? OrderAdmission::kExecuteLater : OrderAdmission::kExecute;
  }
  if (!RATCHET_MUTANT("orders.no_readdress")) entry.address = std::max(entry.address, from);
  if (entry.stage != Stage::kAnswered) return OrderAdmission::kReaddressed;
  entry.stage = Stage::kReportDue;
  newly_due_.push_back(key);
  return OrderAdmission::kAnswerAgain;
}

void OrderLedger::RaiseFloor(ProcId lowest_live) {
  if (lowest_live <= floor_) return;
  floor_ = lowest_live;
  ForgetBelowFloor();
}

void OrderLedger::ForgetBelowFloor() {
  // From now on the floor itself refuses the remembered orders below it, so they can be forgotten.
  std::erase_if(entries_,
                [this](const auto& item) { return item.second.stage == Stage::kAnswered && item.second.pid < floor_; });
}

std::optional<ProcId> OrderLedger::Executed(const OrderKey& key, ProcId pid, OrderAnswer answer) {
  const auto found = entries_.find(key);
  RATCHET_CHECK(found != entries_.end(), "pid={} ended, but {} has no order", pid, key.ToString());
  Entry& entry = found->second;
  RATCHET_CHECK(entry.executing == pid, "pid={} ended, but pid={} was being executed", pid, entry.executing);
  if (entry.pid != pid) {
    entry.executing = entry.pid;
    return entry.pid;
  }
  entry.executing = ProcId{};
  entry.answer = std::move(answer);
  entry.stage = Stage::kReportDue;
  newly_due_.push_back(key);
  return std::nullopt;
}

std::optional<OrderReport> OrderLedger::BuildReport(const OrderKey& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.stage != Stage::kReportDue) return std::nullopt;
  const Entry& entry = found->second;
  return OrderReport{key, entry.pid, entry.address, entry.answer};
}

OrderLedger::Entry* OrderLedger::FindCurrent(const OrderKey& key, ProcId pid) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.pid != pid || found->second.stage != Stage::kReportDue) return nullptr;
  return &found->second;
}

bool OrderLedger::Acknowledged(const OrderKey& key, ProcId pid, OrderAddress sent_to) {
  Entry* entry = FindCurrent(key, pid);
  if (entry == nullptr) return true;  // a higher order has taken its place
  if (entry->address != sent_to) return false;
  entry->stage = Stage::kAnswered;
  if (pid < floor_ || RATCHET_MUTANT("orders.forget_executed")) entries_.erase(key);
  return true;
}

bool OrderLedger::RefusedAsStale(const OrderKey& key, ProcId pid, OrderAddress sent_to,
                                 std::optional<OrderAddress> expected) {
  Entry* entry = FindCurrent(key, pid);
  if (entry == nullptr) return false;
  if (expected.has_value()) entry->address = std::max(entry->address, *expected);
  if (entry->address != sent_to) return true;
  // No master waits for this report under a newer address. The master that needs it sends the order again (S20: answers
  // are repeated).
  entry->stage = Stage::kAnswered;
  if (pid < floor_) entries_.erase(key);
  return false;
}

std::optional<ProcId> OrderLedger::Remembered(const OrderKey& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second.pid;
}

bool OrderLedger::UnderWay(const OrderKey& key) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.stage == Stage::kUnderWay;
}

}  // namespace ratchet::regionserver
