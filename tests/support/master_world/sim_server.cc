#include "tests/support/master_world/sim_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/model/proto/admin.pb.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::sim {

using regionserver::OrderAdmission;
using regionserver::OrderKey;
using regionserver::OrderOutcome;
using regionserver::OrderReport;

namespace {

bool HasDirectory(const Storage& storage, const std::string& table_directory, const std::string& encoded) {
  const auto table = storage.tables.find(table_directory);
  return table != storage.tables.end() && table->second.regions.contains(encoded);
}

// A region that was never open has the acknowledged data of all regions that it was made from.
void InheritTruth(Storage& storage, const std::string& encoded) {
  std::uint64_t truth = 0;
  for (const std::string& parent : storage.parents[encoded]) truth += storage.acknowledged[parent];
  storage.acknowledged[encoded] = truth;
}

}  // namespace

SimServer::SimServer(SimCluster& cluster, ServerName name) : cluster_(cluster), name_(std::move(name)) {}

Millis SimServer::Jitter(Millis most) {
  return Millis(cluster_.prng().Between(0, std::max<std::int64_t>(most.count(), 0)));
}

bool SimServer::fenced() const {
  const auto it = cluster_.storage().logs.find(name_);
  return it == cluster_.storage().logs.end() ||
         it->second.fenced;  // positive: what must be seen is there to be seen (S2: check is positive)
}

// Events for a paused process happen when it resumes; a dead process gets none.
void SimServer::Later(Millis delay, std::function<void()> call) {
  cluster_.time().After(delay, [this, call = std::move(call)]() mutable {
    if (!alive_) return;
    if (paused_) {
      stalled_.push_back(std::move(call));
    } else {
      call();
    }
  });
}

void SimServer::Pause() { paused_ = true; }

void SimServer::Resume() {
  paused_ = false;
  for (auto& call : std::exchange(stalled_, {})) {
    if (alive_) call();
  }
}

void SimServer::Exit(const std::string& why) {
  if (!alive_) return;
  cluster_.Trace(fmt::format("{} exits: {}", name_.ToString(), why));
  alive_ = false;
  regions_.clear();
  cluster_.SessionEnds(name_, Millis(0));
}

void SimServer::Receive(Epoch epoch, const master::Order& order) {
  if (const auto* several = std::get_if<master::OpenBatchOrder>(&order)) {
    for (const master::OpenOrder& open : several->opens) Receive(epoch, open);
    return;
  }
  if (epoch < epoch_) return;  // S23 (epochs are a second safeguard)
  epoch_ = epoch;
  const OrderKey key = std::visit(
      [](const auto& o) {
        if constexpr (requires { o.region; })
          return OrderKey::ForRegion(o.region.encoded_name());
        else
          return OrderKey::ForProcedure(o.id.pid);
      },
      order);
  const master::OrderId& id = master::IdOf(order);
  switch (ledger_.Admit(key, id.pid, {epoch, id.attempt})) {
    case OrderAdmission::kExecute:
      orders_.insert_or_assign(key, order);
      Start(key, order);
      break;
    case OrderAdmission::kExecuteLater: orders_.insert_or_assign(key, order); break;
    case OrderAdmission::kReaddressed: break;
    case OrderAdmission::kAnswerAgain: SendDue(); break;
    case OrderAdmission::kRefused: cluster_.Trace(fmt::format("{} refuses order {}", name_.ToString(), id.pid)); break;
  }
}

void SimServer::Start(const OrderKey& key, const master::Order& order) {
  Later(Jitter(order_time), [this, key, pid = master::IdOf(order).pid] { Execute(key, pid); });
}

void SimServer::Execute(const OrderKey& key, ProcId pid) {
  const master::Order& order = orders_.at(key);
  Answer answer;
  if (master::IdOf(order).pid == pid) {
    if (!executed_.insert({key, pid}).second) {
      cluster_.Violation(fmt::format("{} executes order {} a second time", name_.ToString(), pid));
    }
    answer = std::visit([this](const auto& o) { return Perform(o); }, order);
  } else {
    answer.outcome = OrderOutcome::kFailed;  // replaced before it began; no caller waits for it
  }
  if (!alive_) return;
  if (const auto next = ledger_.Executed(key, pid, std::move(answer))) {
    Later(Jitter(order_time), [this, key, next = *next] { Execute(key, next); });
  }
  SendDue();
}

SimServer::Answer SimServer::Perform(const master::OpenOrder& order) {
  const std::string encoded = order.region.encoded_name();
  Answer answer;
  answer.outcome = OrderOutcome::kOpened;
  RegionData& data = cluster_.storage().regions[encoded];
  if (!order.schema || order.schema->families.empty()) {  // S68 (unreadable schema is an error)
    cluster_.Violation(fmt::format("{} has an order to open {} without a schema", name_.ToString(), encoded));
  }
  if (const auto open = regions_.find(encoded); open != regions_.end()) {
    answer.open_sequence = open->second.value + 1;
    answer.schema_number = open->second.schema_number;
    answer.open_number = open->second.open_number;
    return answer;
  }
  if (refuse_opens > 0 || data.unopenable) {
    if (refuse_opens > 0) --refuse_opens;
    answer.outcome = OrderOutcome::kFailedOpen;
    answer.error_class = "java.io.IOException";
    answer.error_message = "told to refuse";
    return answer;
  }
  if (fenced()) {
    Exit("found its fence while opening a region");
    return answer;
  }
  if (data.open_number >= order.open_number) {  // S21 (numbered openings)
    answer.outcome = OrderOutcome::kFailedOpen;
    answer.error_message = "a higher manifest is there";
    return answer;
  }
  if (const auto error = JudgePast(order, data)) {
    answer.outcome = OrderOutcome::kFailedOpen;
    answer.error_class = *error;
    answer.error_message = fmt::format("number {} is there, flushed up to {}", data.open_number, data.flushed);
    return answer;
  }
  if (cluster_.storage().damaged.contains(encoded)) {
    answer.outcome = OrderOutcome::kFailedOpen;
    answer.error_class = "java.io.IOException";
    answer.error_message = "manifest.5: the checksum is wrong";
    return answer;
  }
  if (!order.region.IsMeta() && !HasDirectory(cluster_.storage(), order.table_directory, encoded)) {
    answer.outcome = OrderOutcome::kFailedOpen;
    answer.error_class = "java.io.IOException";
    answer.error_message = "the region has no directory";
    return answer;
  }
  if (data.built < order.build_number) {  // S38 (no empty opening over data)
    cluster_.Violation(
        fmt::format("{} opens {}: build {} is not there", name_.ToString(), encoded, order.build_number));
  }
  if (data.built != 0 && data.open_number == data.built) InheritTruth(cluster_.storage(), encoded);
  data.open_number = data.served = order.open_number;
  data.closed = false;
  const std::uint64_t value = std::max(data.flushed, data.recovered);
  const std::uint64_t truth = cluster_.storage().acknowledged[encoded];
  if (value != truth) {
    cluster_.Violation(
        fmt::format("{} opened {} with value {}, acknowledged is {}", name_.ToString(), encoded, value, truth));
  }
  data.flushed = value;  // S25 (recovered edits stay until flushed)
  if (order.region.IsMeta()) cluster_.storage().logs[name_].meta = true;
  regions_[encoded] = {order.open_number, value};
  regions_[encoded].schema_number = answer.schema_number = order.schema_number;
  cluster_.Trace(fmt::format("{} opened {} by order {}", name_.ToString(), encoded, order.open_number));
  answer.open_sequence = value + 1;
  answer.open_number = order.open_number;
  return answer;
}

SimServer::Answer SimServer::Perform(const master::CloseOrder& order) {
  const std::string encoded = order.region.encoded_name();
  Answer answer;
  answer.outcome = OrderOutcome::kClosed;
  const auto open = regions_.find(encoded);
  if (open == regions_.end()) return answer;
  if (fenced()) {
    Exit("found its fence while closing a region");
    return answer;
  }
  RegionData& data = cluster_.storage().regions[encoded];
  if (data.open_number ==
      open->second.open_number) {  // S22 (close drains, flushes, checks); else a zombie's, invisible
    data.flushed = open->second.value;
    data.closed = true;
    answer.flushed = data.flushed;
  }
  regions_.erase(open);
  moved_[encoded] = order.destination;
  cluster_.Trace(fmt::format("{} closed {} by order {}", name_.ToString(), encoded, order.id.pid));
  return answer;
}

// S35 (proof of a clean close) to S37 (numbered build output): seals all parents, reads them, and makes the children.
SimServer::Answer SimServer::Perform(const master::BuildOrder& order) {
  Answer answer;
  answer.outcome = OrderOutcome::kFailed;
  const std::uint64_t number = order.id.pid.value();
  Storage& storage = cluster_.storage();
  if (fenced()) {
    Exit("found its fence while building regions");
    return answer;
  }
  if (refuse_splits > 0) {
    --refuse_splits;
    answer.error_message = "told to refuse";
    return answer;
  }
  std::uint64_t value = 0;
  std::string not_clean;
  for (const RegionInfo& parent : order.parents) {
    RegionData& data = storage.regions[parent.encoded_name()];
    if (data.open_number >= number) {
      answer.error_message = "a higher manifest is there";
      return answer;
    }
    data.open_number = number;
  }
  for (const RegionInfo& parent : order.parents) {
    const RegionData& data = storage.regions[parent.encoded_name()];
    if (!data.closed || data.recovered > data.flushed) not_clean = parent.encoded_name() + " was not closed cleanly";
    value += data.flushed;
  }
  hbase::pb::BuildRegionsResult result;
  if (not_clean.empty()) {
    for (const RegionInfo& child : order.children) {
      if (!HasDirectory(storage, order.table_directory, child.encoded_name())) {
        answer.error_message = "the region has no directory";
        return answer;
      }
      RegionData& data = storage.regions[child.encoded_name()];
      if (data.built >= number) continue;
      data.built = number;
      data.flushed = value;
      data.open_number = std::max(data.open_number, number);
      std::vector<std::string>& parents = storage.parents[child.encoded_name()];
      parents.clear();
      for (const RegionInfo& parent : order.parents) parents.push_back(parent.encoded_name());
    }
    result.set_sequence(value);
  } else {
    result.set_not_clean(not_clean);
  }
  cluster_.Trace(fmt::format("{} built {} regions by order {}{}", name_.ToString(), order.children.size(), number,
                             not_clean.empty() ? "" : ": not clean"));
  answer.outcome = OrderOutcome::kDone;
  answer.payload = result.SerializeAsString();
  return answer;
}

SimServer::Answer SimServer::Perform(const master::SplitLogOrder& order) {
  Answer answer;
  answer.outcome = OrderOutcome::kDone;
  if (refuse_splits > 0) {
    --refuse_splits;
    answer.outcome = OrderOutcome::kFailed;
    answer.error_message = "told to refuse";
    return answer;
  }
  const auto logs = cluster_.storage().logs.find(order.dead_server);
  if (logs == cluster_.storage().logs.end()) return answer;  // retired: a late repetition
  if (!logs->second.sealed) cluster_.Violation("split of a log that is not sealed: " + order.path);
  for (const auto& hint : order.regions) {
    const auto edit = logs->second.edits.find(hint.encoded_region);
    const bool meta = hint.encoded_region == kMetaEncodedName;
    if (edit == logs->second.edits.end() || meta != order.log.meta) continue;
    if (!meta && order.log.name != UserLogName(UserLogOf(logs->second, hint.encoded_region))) continue;
    RegionData& data = cluster_.storage().regions[hint.encoded_region];
    data.recovered = std::max(data.recovered, edit->second);
  }
  return answer;
}

void SimServer::SendDue() {
  for (const OrderKey& key : ledger_.DrainNewlyDue()) {
    if (hold_reports > 0) {
      --hold_reports;
      held_.push_back(key);
    } else {
      SendReport(key, Jitter(order_time));
    }
  }
}

void SimServer::ReleaseReports() {
  for (const OrderKey& key : std::exchange(held_, {})) SendReport(key, Millis(0));
}

void SimServer::SendReport(const OrderKey& key, Millis delay) {
  Later(delay, [this, key] {
    const auto report = ledger_.BuildReport(key);
    if (!report) return;
    const bool waits = reported_.contains(key) || (cluster_.whole_reports && IsUnderWay(report->pid));
    if (waits) return SendReport(key, Millis(1));
    const auto sent = WithOthersOfTheOrder(*report);
    for (const OrderReport& each : sent) reported_.insert(each.key);
    const auto judge = [this, key, sent](const Result<master::ReportAnswer>& answer) {
      Later(Jitter(Millis(2)), [this, key, sent, answer] {
        // Each of the others has an event of its own, which sends it again if that is necessary.
        for (const OrderReport& each : sent) reported_.erase(each.key);
        for (const OrderReport& each : sent) {
          if (Judge(each, answer) && each.key == key) SendReport(key, answer.ok() ? Millis(5) : Millis(50));
        }
      });
    };
    if (!cut_off && cluster_.CarryReports(*this, sent, judge)) return;
    for (const OrderReport& each : sent) reported_.erase(each.key);
    SendReport(key, Millis(50));
  });
}

bool SimServer::IsUnderWay(ProcId pid) const {
  return std::any_of(orders_.begin(), orders_.end(), [&](const auto& order) {
    return master::IdOf(order.second).pid == pid && ledger_.UnderWay(order.first);
  });
}

// Like the real reporter, one message has the answers of some of the regions of an order.
std::vector<OrderReport> SimServer::WithOthersOfTheOrder(const OrderReport& report) {
  std::vector<OrderReport> reports{report};
  if (report.key.region.empty()) return reports;
  for (const auto& [key, order] : orders_) {
    if (key == report.key || master::IdOf(order).pid != report.pid || reported_.contains(key)) continue;
    const auto other = ledger_.BuildReport(key);
    const bool held = std::find(held_.begin(), held_.end(), key) != held_.end();
    if (other && other->pid == report.pid && other->address == report.address && !held &&
        (cluster_.whole_reports || cluster_.prng().Chance(2, 3)))
      reports.push_back(*other);
  }
  return reports;
}

// Returns true if the report must be sent again.
bool SimServer::Judge(const OrderReport& sent, const Result<master::ReportAnswer>& answer) {
  if (!answer.ok()) {
    const bool dead = answer.error().remote_class().find("YouAreDead") != std::string::npos;
    if (dead) Exit("the master calls it dead");
    return !dead;
  }
  epoch_ = std::max(epoch_, answer->epoch);
  bool again = false;
  if (answer->stale) {
    again = ledger_.RefusedAsStale(sent.key, sent.pid, sent.address,
                                   regionserver::OrderAddress{answer->epoch, answer->expected_attempt.value_or(0)});
  } else {
    again = !ledger_.Acknowledged(sent.key, sent.pid, sent.address);
  }
  return again;
}

void SimServer::Write(const std::string& encoded) {
  if (!alive_ || paused_) return;
  const auto open = regions_.find(encoded);
  if (open == regions_.end()) return;
  Storage& storage = cluster_.storage();
  const auto logs = storage.logs.find(name_);
  // Append, CHECK (fence and opening), acknowledge.
  if (fenced()) return Exit("found its fence while writing");
  if (storage.regions[encoded].open_number != open->second.open_number)
    return Exit("found a younger opening while writing");
  std::uint64_t& truth = storage.acknowledged[encoded];
  if (truth != open->second.value) {
    cluster_.Violation(fmt::format("{} acknowledges a write to {} at {}, but {} was acknowledged elsewhere",
                                   name_.ToString(), encoded, open->second.value, truth));
  }
  truth = ++open->second.value;
  logs->second.edits[encoded] = truth;
}

Status SimServer::AdmitMetaWrite(Epoch epoch) {
  const std::string meta(kMetaEncodedName);
  if (!reachable() || !IsOpen(meta)) return Error(Code::kUnavailable, "hbase:meta is not there");
  if (epoch < epoch_) return Error(Code::kFenced, "a higher epoch is known");
  epoch_ = epoch;
  Write(meta);
  return IsOpen(meta) ? Ok() : Status(Error(Code::kUnavailable, "hbase:meta is no longer open here"));
}

master::RegionList SimServer::NextList() {
  std::vector<std::string> gone;
  for (const auto& [encoded, open_number] : online_list_.open()) {
    const auto open = regions_.find(encoded);
    if (open == regions_.end() || open->second.open_number != open_number) gone.push_back(encoded);
  }
  for (const std::string& encoded : gone) online_list_.Closed(encoded);
  for (const auto& [encoded, region] : regions_) {
    if (!online_list_.open().contains(encoded)) online_list_.Opened(encoded, region.open_number);
  }
  return AsTold(online_list_.Next());
}

master::RegionList AsTold(const regionserver::OnlineList::List& told) {
  master::RegionList list;
  list.number = told.number;
  list.base = told.base;
  for (const auto& [encoded, open_number] : told.open) list.open.push_back({encoded, open_number});
  list.closed = told.closed;
  list.size = told.size;
  list.digest = told.digest;
  return list;
}

}  // namespace ratchet::sim
