// A simulated region server: the order ledger of the real one, regions that are numbers, logs on the simulated storage.
// It follows the rules that the master relies on (S19: executed orders are remembered, to S22: close drains, flushes,
// checks), may be slow, may be killed, paused, cut off, and may refuse to open regions. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/base/strong_id.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/server_name.h"
#include "common/rights/rights_holder.h"
#include "master/cluster/reported_regions.h"
#include "master/env/orders.h"
#include "master/requests/report_handler.h"
#include "regionserver/host/online_list.h"
#include "regionserver/orders/order_ledger.h"
#include "tests/support/master_world/sim_storage.h"

namespace ratchet::sim {

class SimCluster;

class SimServer {
 public:
  SimServer(SimCluster& cluster, ServerName name);

  // ---- events ----
  void Receive(Epoch epoch, const master::Order& order);
  void Pause();
  void Resume();
  // The process is gone, at once.
  void Exit(const std::string& why);
  // One client write; acknowledged or not.
  void Write(const std::string& encoded);
  // It may apply a change to hbase:meta: has it open, is not fenced, the epoch is not an old one.
  [[nodiscard]] Status AdmitMetaWrite(Epoch epoch);

  // ---- state ----
  struct OpenRegion {
    std::uint64_t open_number = 0;
    std::uint64_t value = 0;
    std::uint64_t schema_number = 0;  // S48 (schema pinned in the order)
  };
  [[nodiscard]] const ServerName& name() const { return name_; }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] bool fenced() const;
  [[nodiscard]] bool reachable() const { return alive_ && !paused_ && !cut_off; }
  [[nodiscard]] const std::map<std::string, OpenRegion>& regions() const { return regions_; }
  // The hint for clients: where a region that it closed has gone; nullopt: unknown.
  [[nodiscard]] std::optional<ServerName> MovedTo(const std::string& encoded) const {
    const auto moved = moved_.find(encoded);
    return moved == moved_.end() ? std::nullopt : moved->second;
  }
  [[nodiscard]] const OpenRegion* Served(const std::string& encoded) const {
    const auto open = regions_.find(encoded);
    return open == regions_.end() ? nullptr : &open->second;
  }
  [[nodiscard]] bool IsOpen(const std::string& encoded) const { return regions_.contains(encoded); }

  bool cut_off = false;            // no RPC reaches it or leaves it; its liveness registration stays
  std::uint32_t refuse_opens = 0;  // number of openings that are answered with FAILED_OPEN
  std::uint32_t refuse_splits = 0;
  std::uint32_t hold_reports = 0;  // number of reports that are held back until ReleaseReports
  void ReleaseReports();
  bool registered = false;
  // The list in its next heartbeat; only changes, like the real one's.
  master::RegionList NextList();
  void ListAnswered(std::uint64_t taken) { online_list_.Answered(taken); }
  hbase::pb::PeerList peers;  // the newest list that it received
  void Learn(const hbase::pb::PeerList& list);
  ratchet::rights::RightsHolder rights;
  void LearnRights(const std::string& image);
  Millis order_time{2};  // how long the execution of an order takes, at most

 private:
  regionserver::OnlineList online_list_;
  using Answer = regionserver::OrderAnswer;
  void Start(const regionserver::OrderKey& key, const master::Order& order);
  void Execute(const regionserver::OrderKey& key, ProcId pid);
  Answer Perform(const master::OpenOrder& order);
  Answer Perform(const master::OpenBatchOrder& /*order*/) { return {}; }  // Receive takes it apart
  [[nodiscard]] std::optional<std::string> JudgePast(const master::OpenOrder& order, const RegionData& data) const;
  Answer Perform(const master::CloseOrder& order);
  Answer Perform(const master::SplitLogOrder& order);
  // The data of a region that is open here; null, with the refusal in `answer`, if it is not.
  RegionData* DataOf(const RegionInfo& region, Answer& answer);
  Answer Perform(const master::FlushOrder& order);
  Answer Perform(const master::CompactOrder& order);
  Answer Perform(const master::RefreshPeersOrder& order);
  Answer Perform(const master::TakeRightsOrder& order);
  Answer Perform(const master::BuildOrder& order);
  Answer Perform(const master::CopyOrder& order);
  void SendDue();
  void SendReport(const regionserver::OrderKey& key, Millis delay);
  [[nodiscard]] bool IsUnderWay(ProcId pid) const;  // an order of this number is not executed yet
  std::vector<regionserver::OrderReport> WithOthersOfTheOrder(const regionserver::OrderReport& report);
  bool Judge(const regionserver::OrderReport& sent, const Result<master::ReportAnswer>& answer);
  void Later(Millis delay, std::function<void()> call);
  [[nodiscard]] Millis Jitter(Millis most);

  SimCluster& cluster_;
  const ServerName name_;
  bool alive_ = true;
  bool paused_ = false;
  Epoch epoch_;
  regionserver::OrderLedger ledger_;
  std::map<regionserver::OrderKey, master::Order> orders_;  // the newest accepted
  std::map<std::string, OpenRegion> regions_;
  // S19 (executed orders are remembered): each order once, for life
  std::set<std::pair<regionserver::OrderKey, ProcId>> executed_;
  std::vector<std::function<void()>> stalled_;  // events while it was paused
  std::vector<regionserver::OrderKey> held_;
  std::set<regionserver::OrderKey> reported_;  // in a report without an answer yet
  std::map<std::string, std::optional<ServerName>> moved_;
};

// A server's list of open regions as the master gets it, without the network.
[[nodiscard]] master::RegionList AsTold(const regionserver::OnlineList::List& told);

}  // namespace ratchet::sim
