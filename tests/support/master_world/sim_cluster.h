// The whole simulated cluster in one thread, from a seed: clock, wires, shared storage, ZooKeeper's list of the living,
// hbase:meta's rows, region servers, and one master after another (also several at a time, of which only the youngest
// owns the store). Its checkers know what no part knows: which writes were acknowledged and by which server.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/prng.h"
#include "master/env/meta_table.h"
#include "master/procedures/core/master_options.h"
#include "tests/support/crash_store.h"
#include "tests/support/manual_time.h"
#include "tests/support/master_world/sim_master.h"
#include "tests/support/master_world/sim_server.h"
#include "tests/support/master_world/sim_storage.h"

namespace ratchet::sim {

// The rows of hbase:meta with their conditions (S28: conditional meta writes). Durable as soon as applied; whether
// meta's own log is recovered in time is judged by meta's number, like any region's.
class SimMetaRows {
 public:
  Status Apply(const master::MetaEdit& edit);
  [[nodiscard]] master::CommitOutcome Apply(const master::MetaCommit& commit);
  [[nodiscard]] master::MetaContents Contents() const;
  [[nodiscard]] const std::map<std::string, master::RegionRow>& regions() const { return regions_; }  // by encoded name
  [[nodiscard]] const std::map<TableName, master::TableRow>& tables() const { return tables_; }
  // For tests that begin with a damaged world.
  std::map<std::string, master::RegionRow>& mutable_regions() { return regions_; }
  std::map<TableName, master::TableRow>& mutable_tables() { return tables_; }

 private:
  // The row's transition number; nullopt: there is none.
  [[nodiscard]] std::optional<std::uint64_t> NumberOf(const master::MetaEdit& row) const;
  std::map<std::string, master::RegionRow> regions_;
  std::map<TableName, master::TableRow> tables_;
};

// Counts what the masters have sent, for tests.
struct SimSent {
  std::uint64_t meta_writes = 0;  // requests that write to hbase:meta
  std::uint64_t meta_rows = 0;    // rows in these requests
  std::uint64_t orders = 0;
  std::uint64_t reports = 0;  // of servers, answers to orders
};

struct SimOptions {
  std::uint64_t seed = 1;
  Millis max_delay{3};
  Millis session{100};  // of ZooKeeper
  std::uint32_t lost_permille = 0;
  std::uint32_t duplicated_permille = 0;
  bool heartbeats = false;  // every 200 ms
  // Actions on files of steps take up to this time, in which other steps run; empty: a step acts on its own thread.
  std::optional<Millis> longest_action;
  std::uint32_t refused_actions_permille = 0;  // as if too many were queued
};

// The options of the masters of every cluster, unless a test changes them.
[[nodiscard]] inline master::MasterOptions UsualMasterOptions() {
  master::MasterOptions options;
  options.snapshot_export_dir = "/exports";
  return options;
}

class SimCluster {
 public:
  explicit SimCluster(SimOptions options = {});
  ~SimCluster();

  // ---- servers ----
  SimServer& AddServer(const std::string& host);  // registers itself as soon as there is a master
  SimServer* Find(const ServerName& name);
  void Kill(SimServer& server);  // the process; its session ends later
  void SessionEnds(const ServerName& name, Millis delay);
  [[nodiscard]] std::vector<SimServer*> Alive();

  // ---- masters ----
  // The next master claims the store and becomes the one that servers send to. `keep_old`: the previous one continues
  // to act on its old state.
  SimMaster& StartMaster(testing::CrashPlan plan = {}, bool keep_old = false);
  SimMaster& master() { return *masters_.back(); }
  [[nodiscard]] bool has_master() const { return !masters_.empty(); }
  void KillMaster();
  void DropOldMasters();

  // ---- running ----
  // Runs until `done` returns true; false when `limit` of simulated time has passed or no event is left.
  bool RunUntil(const std::function<bool()>& done, Millis limit = Millis(60'000));
  bool RunFor(Millis span);
  // The active master is ready, and every procedure has ended.
  bool Settle(Millis limit = Millis(120'000));
  // Boots a master and `servers` servers, and waits until meta is loaded.
  void Boot(int servers);

  // ---- the wires ----
  [[nodiscard]] bool Lost() { return options_.lost_permille > 0 && prng_.Chance(options_.lost_permille, 1000); }
  [[nodiscard]] bool Duplicated() {
    return options_.duplicated_permille > 0 && prng_.Chance(options_.duplicated_permille, 1000);
  }
  [[nodiscard]] Millis Delay() { return Millis(prng_.Between(0, options_.max_delay.count())); }
  // An action on files: one in ten takes up to the longest time.
  [[nodiscard]] Millis ActionDelay() {
    const Millis longest = options_.longest_action.value_or(Millis(0));
    return Millis(prng_.Between(0, prng_.Chance(1, 10) ? longest.count() : std::min<std::int64_t>(longest.count(), 5)));
  }
  [[nodiscard]] Millis LongDelay() { return Millis(prng_.Between(1, 3000)); }
  // Sends the report; sometimes again, much later, and sometimes to a deposed master. Returns false if there is no
  // master.
  // `reports`: not empty, of one order.
  using Reports = std::vector<regionserver::OrderReport>;
  bool CarryReports(SimServer& from, const Reports& reports,
                    std::function<void(const Result<master::ReportAnswer>&)> done);

  // ---- the checkers ----
  void Violation(const std::string& what);
  [[nodiscard]] const std::vector<std::string>& violations() const { return storage_.violations; }
  // When all work has ended: every region is where meta names it, and only there. Empty: correct.
  [[nodiscard]] std::string CheckSettled();
  bool any_ranges = false;  // regions may have a hole or an overlap: a test has made it
  // At any time: the first region that two servers have open of which neither is fenced. Empty: there is none.
  [[nodiscard]] std::string OpenTwice();
  // One write to every region of every server.
  void WriteEverywhere();
  // For comparing final states: tables and their states, regions and their states, without servers and numbers.
  [[nodiscard]] std::string Fingerprint() const;
  // The keys of each table, without a hole and without an overlap. Empty: correct; else the error.
  [[nodiscard]] std::string RangesInMeta() const;

  void Trace(const std::string& line);
  [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }

  ManualTime& time() { return time_; }
  Prng& prng() { return prng_; }
  Storage& storage() { return storage_; }
  SimMetaRows& meta() { return meta_; }
  testing::StoredState& disk() { return disk_; }
  std::set<ServerName>& live() { return live_; }
  SimOptions& options() { return options_; }
  master::MasterOptions master_options = UsualMasterOptions();
  std::shared_ptr<procedure::ProcedureListener> listener;  // of every master that is started from now on
  // Called when each step of the start-up begins.
  std::function<void(SimMaster&, master::ActivationStep)> on_activation;
  // Called at each call that the logic makes to the outside (meta, orders, clock), also from within a step: the
  // function runs in the middle of that step, as if by another worker.
  std::function<void(SimMaster&)> on_point;
  // Additional delay of a write to hbase:meta; empty: none.
  std::function<Millis(const std::vector<master::MetaEdit>&)> meta_write_delay;
  bool ordinary_workers_stuck = false;  // only urgent work is done
  bool whole_reports = false;           // servers report all regions of an order at once, so that costs are equal
  bool start_paused = false;            // the next master starts paused; then it is false again
  bool verbose = false;
  SimSent sent;

 private:
  using ReportDone = std::function<void(const Result<master::ReportAnswer>&)>;
  void Hand(SimMaster& to, const ServerName& from, const Reports& reports, ReportDone done);
  SimMaster& MasterForReport();
  void TryRegister(SimServer& server);
  void Heartbeats();
  bool RunMasters();

  SimOptions options_;
  Prng prng_;
  ManualTime time_;
  Storage storage_;
  SimMetaRows meta_;
  testing::StoredState disk_;
  std::set<ServerName> live_;
  std::vector<std::unique_ptr<SimServer>> servers_;
  std::vector<std::unique_ptr<SimMaster>> masters_;  // the last one is the youngest
  std::uint64_t next_start_code_ = 100;
  std::uint64_t beats_ = 0;
  std::uint64_t answers_ = 0;  // answers to heartbeats
  std::vector<std::string> trace_;
};

}  // namespace ratchet::sim
