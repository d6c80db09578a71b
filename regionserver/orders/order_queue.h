// Accepts masters' orders, executes each once in its lane, and keeps the answers until the master has acknowledged them
// (S19: executed orders are remembered; S20: answers are repeated). The work of an order is a function that the order
// carries.
//
// Owner: the server process. Thread-safe. An order's function runs on a lane's thread, outside the queue's mutex.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/orders/lane_pool.h"
#include "regionserver/orders/order_ledger.h"

namespace ratchet::regionserver {

struct Order {
  OrderKey key;
  ProcId pid;
  OrderAddress address;
  Lane lane = Lane::kRegions;
  std::string what;  // "open of region 56f9...", for the log
  // Called at most once. Returns the answer; nullopt only when the process is about to end without one.
  std::function<std::optional<OrderAnswer>()> execute;
  // Set for orders that are executed together with others; then it is called instead of `execute`, not on a lane's
  // thread. It must not wait, and calls `done` once.
  std::function<void(const std::function<void(OrderAnswer)>& done)> begin{};
};

class OrderQueue {
 public:
  // `on_report_due` is called without the queue's mutex held whenever a report may have become due.
  OrderQueue(EpochGuard& epochs, Lanes& lanes, std::function<void()> on_report_due);

  // One batch from the owner of `epoch`. kStale when that master is deposed: nothing of the batch is taken. Otherwise
  // each order is executed, answered again, or refused (logged) by the ledger's rules; returns before anything is
  // executed. `lowest_live`: the lowest procedure that the master still has; invalid when it did not say.
  [[nodiscard]] Status Take(Epoch epoch, ProcId lowest_live, std::vector<Order> orders);

  // For the reporter; see OrderLedger.
  [[nodiscard]] std::vector<OrderKey> DrainNewlyDue();
  [[nodiscard]] std::optional<OrderReport> BuildReport(const OrderKey& key) const;
  bool Acknowledged(const OrderReport& sent);
  bool RefusedAsStale(const OrderReport& sent, std::optional<OrderAddress> expected);

  // True while an order of this region is accepted and not yet executed.
  [[nodiscard]] bool UnderWay(const std::string& encoded_region) const;

 private:
  void Start(Order order);
  void Finish(const Order& order, std::optional<OrderAnswer> answer);

  EpochGuard& epochs_;
  Lanes& lanes_;
  const std::function<void()> on_report_due_;
  mutable Mutex mutex_;
  OrderLedger ledger_ GUARDED_BY(mutex_);
  std::map<OrderKey, Order> waiting_ GUARDED_BY(mutex_);  // accepted behind an older order of the same region
};

}  // namespace ratchet::regionserver
