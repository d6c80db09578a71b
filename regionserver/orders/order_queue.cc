#include "regionserver/orders/order_queue.h"

#include <memory>
#include <utility>

#include "common/base/log.h"

namespace ratchet::regionserver {

OrderQueue::OrderQueue(EpochGuard& epochs, Lanes& lanes, std::function<void()> on_report_due)
    : epochs_(epochs), lanes_(lanes), on_report_due_(std::move(on_report_due)) {}

Status OrderQueue::Take(Epoch epoch, ProcId lowest_live, std::vector<Order> orders) {
  RATCHET_TRY(epochs_.Admit(epoch));
  std::vector<Order> to_start;
  bool report_due = false;
  {
    MutexLock lock(mutex_);
    ledger_.RaiseFloor(lowest_live);
    for (Order& order : orders) {
      const OrderAdmission admission = ledger_.Admit(order.key, order.pid, order.address);
      switch (admission) {
        case OrderAdmission::kExecute: to_start.push_back(std::move(order)); break;
        case OrderAdmission::kExecuteLater: {
          // A lower order that still waits here is superseded: it was settled before the master gave the higher one.
          const OrderKey key = order.key;
          waiting_.insert_or_assign(key, std::move(order));
          break;
        }
        case OrderAdmission::kReaddressed:
        case OrderAdmission::kAnswerAgain:
          RATCHET_LOG(kInfo, "pid={} Received again: {}; epoch={}, attempt={}", order.pid, order.what,
                      order.address.epoch, order.address.attempt);
          report_due = true;
          break;
        case OrderAdmission::kRefused:
          RATCHET_LOG(kWarn, "pid={} Refused: {}; a later order is known (epoch={}, attempt={}, lowest live pid={})",
                      order.pid, order.what, order.address.epoch, order.address.attempt, ledger_.floor());
          break;
      }
    }
  }
  for (Order& order : to_start) Start(std::move(order));
  if (report_due) on_report_due_();
  return Ok();
}

void OrderQueue::Start(Order order) {
  RATCHET_LOG(kInfo, "pid={} Received order: {}; epoch={}, attempt={}", order.pid, order.what, order.address.epoch,
              order.address.attempt);
  if (order.begin) {
    const auto begin = std::move(order.begin);
    order.execute = nullptr;
    return begin([this, shared = std::make_shared<Order>(std::move(order))](OrderAnswer answer) {
      Finish(*shared, std::move(answer));
    });
  }
  const Lane lane = order.lane;
  lanes_.Run(lane, [this, shared = std::make_shared<Order>(std::move(order))] { Finish(*shared, shared->execute()); });
}

void OrderQueue::Finish(const Order& order, std::optional<OrderAnswer> answer) {
  if (!answer.has_value()) {
    RATCHET_LOG(kError, "pid={} No answer: {}; this process ends", order.pid, order.what);
    return;
  }
  std::optional<Order> next;
  {
    MutexLock lock(mutex_);
    if (ledger_.Executed(order.key, order.pid, std::move(*answer)).has_value()) {
      const auto found = waiting_.find(order.key);
      next = std::move(found->second);
      waiting_.erase(found);
    }
  }
  if (next.has_value()) {
    Start(std::move(*next));
  } else {
    on_report_due_();
  }
}

std::vector<OrderKey> OrderQueue::DrainNewlyDue() {
  MutexLock lock(mutex_);
  return ledger_.DrainNewlyDue();
}

std::optional<OrderReport> OrderQueue::BuildReport(const OrderKey& key) const {
  MutexLock lock(mutex_);
  return ledger_.BuildReport(key);
}

bool OrderQueue::Acknowledged(const OrderReport& sent) {
  MutexLock lock(mutex_);
  return ledger_.Acknowledged(sent.key, sent.pid, sent.address);
}

bool OrderQueue::RefusedAsStale(const OrderReport& sent, std::optional<OrderAddress> expected) {
  MutexLock lock(mutex_);
  return ledger_.RefusedAsStale(sent.key, sent.pid, sent.address, expected);
}

bool OrderQueue::UnderWay(const std::string& encoded_region) const {
  MutexLock lock(mutex_);
  return ledger_.UnderWay(OrderKey::ForRegion(encoded_region));
}

}  // namespace ratchet::regionserver
