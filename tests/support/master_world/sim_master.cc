#include "tests/support/master_world/sim_master.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/lock_keys.h"
#include "master/env/file_actions.h"
#include "master/procedures/register.h"
#include "procedure/api/lock_procedure.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::sim {

// hbase:meta by the simulated wire: a request may be lost before it is applied, its answer after.
class SimMaster::Meta final : public master::MetaTable {
 public:
  explicit Meta(SimMaster& master) : master_(master) {}

  void Write(std::vector<master::MetaEdit> edits, std::function<void(Status)> done) override {
    master_.Point();
    ++master_.cluster_.sent.meta_writes;
    master_.cluster_.sent.meta_rows += edits.size();
    const Millis late = master_.cluster_.meta_write_delay ? master_.cluster_.meta_write_delay(edits) : Millis(0);
    Call(
        [&cluster = master_.cluster_, edits = std::move(edits), epoch = master_.epoch()](SimServer& server) -> Status {
          RATCHET_TRY(server.AdmitMetaWrite(epoch));
          for (const master::MetaEdit& edit : edits) RATCHET_TRY(cluster.meta().Apply(edit));
          return Ok();
        },
        std::move(done), late);
  }

  // S41 (atomic conditional commit). The network may also deliver it twice, the second time late and without an answer.
  void Commit(master::MetaCommit commit, std::function<void(Result<master::CommitOutcome>)> done) override {
    if (RATCHET_MUTANT("meta.commit_row_by_row")) return CommitRowByRow(std::move(commit.edits), std::move(done));
    master_.Point();
    SimCluster& cluster = master_.cluster_;
    ++cluster.sent.meta_writes;
    cluster.sent.meta_rows += commit.edits.size();
    auto outcome = std::make_shared<master::CommitOutcome>();
    const auto apply = [&cluster, commit = std::move(commit), epoch = master_.epoch(),
                        outcome](SimServer& server) -> Status {
      RATCHET_TRY(server.AdmitMetaWrite(epoch));
      *outcome = cluster.meta().Apply(commit);
      return Ok();
    };
    if (cluster.Duplicated()) {
      if (SimServer* server = MetaServer(); server != nullptr)
        cluster.time().After(cluster.LongDelay(), [apply, server] { (void)apply(*server); });
    }
    Call(apply, [outcome, done = std::move(done)](const Status& status) {
      if (!status.ok()) return done(status.error());
      done(*outcome);
    });
  }

  void Scan(std::function<void(Result<master::MetaContents>)> done) override {
    master_.Point();
    auto contents = std::make_shared<master::MetaContents>();
    Call(
        [&cluster = master_.cluster_, contents](SimServer& server) -> Status {
          if (!server.reachable() || !server.IsOpen(std::string(kMetaEncodedName)))
            return Error(Code::kUnavailable, "no meta");
          *contents = cluster.meta().Contents();
          return Ok();
        },
        [contents, done = std::move(done)](const Status& status) {
          if (!status.ok()) return done(status.error());
          done(*contents);
        });
  }

 private:
  [[nodiscard]] SimServer* MetaServer() const {
    const auto location = master_.logic_.regions.MetaLocation();
    return location ? master_.cluster_.Find(*location) : nullptr;
  }
  // The mutant: one request for each row, as RpcMetaTable sends under the same mutant.
  void CommitRowByRow(std::vector<master::MetaEdit> edits, std::function<void(Result<master::CommitOutcome>)> done) {
    if (edits.empty()) return done(master::CommitOutcome::kApplied);
    const master::MetaEdit first = edits.front();
    edits.erase(edits.begin());
    Write({first}, [this, edits = std::move(edits), done = std::move(done)](const Status& written) mutable {
      if (!written.ok()) return done(written.error());
      CommitRowByRow(std::move(edits), std::move(done));
    });
  }
  void Call(std::function<Status(SimServer&)> act, std::function<void(Status)> done, Millis late = Millis(0)) {
    SimCluster& cluster = master_.cluster_;
    const auto answer = [&cluster, alive = std::weak_ptr(master_.alive_), done = std::move(done)](const Status& status,
                                                                                                  Millis delay) {
      cluster.time().After(delay, [alive, done, status] {
        if (!alive.expired()) done(status);
      });
    };
    SimServer* server = MetaServer();
    if (server == nullptr) return answer(Error(Code::kUnavailable, "hbase:meta has no location"), Millis(1));
    if (cluster.Lost()) return answer(Error(Code::kTimeout, "request lost"), Millis(20));
    const bool answer_lost = cluster.Lost();
    cluster.time().After(cluster.Delay() + late, [&cluster, server, act = std::move(act), answer, answer_lost] {
      const Status status = act(*server);
      if (answer_lost) return answer(Error(Code::kTimeout, "answer lost"), Millis(20));
      answer(status, cluster.Delay());
    });
  }
  SimMaster& master_;
};

// The remote dispatcher: CHECK before each sending (S18: check before each send), repeated until accepted, then expiry.
class SimMaster::Orders final : public master::RegionServers {
 public:
  explicit Orders(SimMaster& master) : master_(master) {}
  void Dispatch(const ServerName& server, master::Order order) override {
    master_.Point();
    ++master_.cluster_.sent.orders;
    Send(server, std::move(order), 1);
  }
  void Forget(const ServerName& /*server*/) override {}

 private:
  void Send(const ServerName& name, master::Order order, int attempt) {
    if (!master_.logic_.servers.IsOnline(name)) return;
    if (!master_.store_.Check().ok()) return;
    SimCluster& cluster = master_.cluster_;
    SimServer* server = cluster.Find(name);
    // From here on the order is on the network. It may arrive twice or late, whatever happens to its sender.
    const auto deliver = [server, order, epoch = master_.epoch()] {
      if (server->alive()) server->Receive(epoch, order);
    };
    if (cluster.Duplicated()) cluster.time().After(cluster.LongDelay(), deliver);
    const bool lost = cluster.Lost();
    if (!lost && server->reachable()) return void(cluster.time().After(cluster.Delay(), deliver));
    if (!lost && server->alive() && server->paused()) cluster.time().After(cluster.LongDelay(), deliver);
    constexpr int kGiveUp = 40;
    if (attempt >= kGiveUp) return master_.logic_.server_manager.Expire(name, "orders cannot be delivered");
    cluster.time().After(Millis(50),
                         [this, alive = std::weak_ptr(master_.alive_), name, order = std::move(order), attempt] {
                           if (!alive.expired()) Send(name, order, attempt + 1);
                         });
  }
  SimMaster& master_;
};

class SimMaster::Live final : public master::LiveServers {
 public:
  explicit Live(SimMaster& master) : master_(master) {}
  Result<std::vector<ServerName>> Read() override {
    master_.Point();
    const std::set<ServerName>& live = master_.cluster_.live();
    return std::vector(live.begin(), live.end());
  }

 private:
  SimMaster& master_;
};

// The clock of the logic: at each read of it other workers may run. Never called under a lock of the logic.
class SimMaster::Ticks final : public Clock {
 public:
  explicit Ticks(SimMaster& master) : master_(master) {}
  [[nodiscard]] TimePoint Now() const override {
    master_.Point();
    return master_.cluster_.time().Now();
  }
  [[nodiscard]] std::int64_t WallMillis() const override { return master_.cluster_.time().WallMillis(); }

 private:
  SimMaster& master_;
};

// The threads for actions on files: each action runs after a delay of its own, so in any order.
class SimMaster::Actions final : public master::FileActions {
 public:
  explicit Actions(SimMaster& master) : master_(master) {}
  [[nodiscard]] bool Run(std::function<void()> action, bool /*urgent*/) override {
    if (master_.cluster_.prng().Chance(master_.cluster_.options().refused_actions_permille, 1000)) return false;
    master_.cluster_.time().After(master_.cluster_.ActionDelay(),
                                  [alive = std::weak_ptr(master_.alive_), action = std::move(action)] {
                                    if (!alive.expired()) action();
                                  });
    return true;
  }

 private:
  SimMaster& master_;
};

SimMaster::SimMaster(SimCluster& cluster, testing::CrashPlan plan, const master::MasterOptions& options)
    : cluster_(cluster),
      store_(cluster.disk(), plan),
      files_(cluster.storage(), cluster.time(), [this] { Point(); }),
      meta_(std::make_unique<Meta>(*this)),
      orders_(std::make_unique<Orders>(*this)),
      live_(std::make_unique<Live>(*this)),
      ticks_(std::make_unique<Ticks>(*this)),
      actions_(std::make_unique<Actions>(*this)),
      logic_({.meta = *meta_,
              .region_servers = *orders_,
              .files = files_,
              .live_servers = *live_,
              .clock = *ticks_,
              .timers = cluster.time()},
             options, [this](master::ActivationStep step) {
               if (cluster_.on_activation) cluster_.on_activation(*this, step);
             }) {
  master::RegisterMasterProcedures(registry_);
  registry_.Register<procedure::LockProcedure>();
  procedure::Executor::Options executor_options;
  executor_options.seed = options.seed;
  executor_options.system_tables = master::MasterSystemTables();
  executor_options.evict_interval = Millis(0);
  executor_options.stuck_check_interval = Millis(0);
  executor_options.log_steps = cluster.verbose;
  if (std::exchange(cluster.start_paused, false))
    executor_options.start_paused = procedure::OperatorNote{"sim", "start paused"};
  executor_ = std::make_unique<procedure::Executor>(
      procedure::Executor::Deps{store_, registry_, workers_, cluster.time(), cluster.time(), logic_.env_ref()},
      executor_options);
  if (cluster.listener) executor_->AddListener(cluster.listener);
  logic_.Attach(*executor_);
  if (cluster.options().longest_action) logic_.env.file_actions = actions_.get();
}

master::MetaTable& SimMaster::meta_table() { return *meta_; }

SimMaster::~SimMaster() { executor_->Stop(); }

Status SimMaster::Activate() {
  RATCHET_TRY(logic_.activation.RunUntilWorkersStarted());
  logic_.activation.LoadMeta([this](const Status& loaded) { ready_ = loaded.ok(); });
  return Ok();
}

void SimMaster::Point() {
  if (!cluster_.on_point || at_point_ || dead()) return;
  at_point_ = true;
  cluster_.on_point(*this);
  at_point_ = false;
}

bool SimMaster::RunOne() {
  if (dead()) return false;
  return cluster_.ordinary_workers_stuck ? workers_.RunOneUrgent() : workers_.RunOne();
}

bool SimMaster::AllFinished() const { return Unfinished().empty(); }

std::string SimMaster::Unfinished() const {
  std::string text;
  for (const procedure::ProcedureInfo& info : executor_->List()) {
    if (procedure::IsTerminal(info.state)) continue;
    text += fmt::format("pid={} ppid={} {}:{} {} waits: {} {}{}\n", info.pid, info.parent, info.type, info.step_name,
                        info.description.text(), procedure::WaitingKindName(info.waiting.kind), info.waiting.detail,
                        info.last_error ? ", " + info.last_error->ToString() : "");
  }
  return text;
}

Result<ProcId> SimMaster::Ask(const std::function<void(master::TableAdmin::Done)>& request) {
  auto answer = std::make_shared<std::optional<Result<ProcId>>>();
  request([answer](Result<ProcId> pid) { *answer = std::move(pid); });
  cluster_.RunUntil([&] { return answer->has_value() || dead(); });
  if (!answer->has_value()) return Error(Code::kUnavailable, "the master died");
  return **answer;
}

}  // namespace ratchet::sim
