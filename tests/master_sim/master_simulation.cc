#include "tests/master_sim/master_simulation.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/region_directory.h"
#include "master/cluster/split_workers.h"
#include "master/requests/server_manager.h"
#include "tests/master_sim/end_check.h"
#include "tests/support/hang_guard.h"

namespace ratchet::simulation {
namespace {

sim::SimOptions World(const MasterSimOptions& options) {
  Prng prng(options.seed ^ 0x5eed);
  sim::SimOptions world;
  world.seed = options.seed;
  world.max_delay = Millis(prng.Between(0, 20));
  world.heartbeats = true;
  // Most seeds have threads for actions on files; the others act on the workers, as a test without such threads does.
  if (prng.Chance(4, 5)) {
    world.longest_action = Millis(prng.Between(0, 3) * prng.Between(0, 800));
    world.refused_actions_permille = prng.Chance(1, 3) ? 50 : 0;
  }
  return world;
}

}  // namespace

// Gets ends of procedures after their commits, from any master.
class MasterSimulation::Endings final : public procedure::ProcedureListener {
 public:
  explicit Endings(MasterSimulation& simulation) : simulation_(simulation) {}
  void OnFinished(const procedure::ProcedureInfo& info) override {
    ++simulation_.summary_.procedures;
    if (!ended_.insert(info.pid).second) simulation_.cluster_.Violation(fmt::format("pid {} ended twice", info.pid));
  }

 private:
  MasterSimulation& simulation_;
  std::set<ProcId> ended_;
};

MasterSimulation::MasterSimulation(const MasterSimOptions& options)
    : options_(options),
      prng_(~options.seed),  // a different sequence than that of the network
      endings_(std::make_shared<Endings>(*this)),
      cluster_(World(options)),
      client_(cluster_, prng_.Fork(), options.reshapes,
              options.upkeep ? &upkeep_.emplace(cluster_, options.seed ^ 0x0cafe) : nullptr),
      operators_(cluster_, prng_.Fork()) {
  cluster_.verbose = options.verbose;
  // Tables of simulations have few regions, so one half of the runs allows batches of two.
  cluster_.master_options.batch_least = options.seed % 2 == 0 ? 2 : 8;
  cluster_.listener = endings_;
  cluster_.on_point = [this, prng = prng_.Fork()](sim::SimMaster& master) mutable {
    if (!calm_ && !stalled_ && prng.Chance(1, 300)) return Stall(master, prng);
    if (!prng.Chance(1, 30)) return;
    for (std::uint64_t steps = prng.Between(1, 4); steps > 0 && master.RunOne(); --steps) {
    }
  };
}

MasterSimulation::~MasterSimulation() = default;

sim::SimServer* MasterSimulation::AnyServer() {
  const auto alive = cluster_.Alive();
  return alive.empty() ? nullptr : alive[prng_.Below(alive.size())];
}

// Returns a server that takes part in a running procedure, if there is one.
sim::SimServer* MasterSimulation::ServerInTheMiddle(sim::SimMaster& master, Prng& prng) {
  std::vector<sim::SimServer*> found;
  for (const master::RegionNode& node : master.logic().regions.InTransition()) {
    sim::SimServer* server = node.location ? cluster_.Find(*node.location) : nullptr;
    if (server != nullptr && server->alive()) found.push_back(server);
  }
  return found.empty() ? AnyServer() : found[prng.Below(found.size())];
}

// Delays the thread of a step while the world continues. Half of the time a server also dies, and the master is
// notified at once.
void MasterSimulation::Stall(sim::SimMaster& master, Prng& prng) {
  stalled_ = true;
  sim::SimServer* server = cluster_.Alive().size() > 1 && prng.Chance(1, 2) ? ServerInTheMiddle(master, prng) : nullptr;
  if (server != nullptr) {
    ++summary_.server_faults;
    ReplaceLater(fmt::format("rs{}", ++hosts_));
    cluster_.Kill(*server);
    cluster_.SessionEnds(server->name(), Millis(0));
  }
  const auto over = std::make_shared<bool>(false);
  const Millis span(prng.Between(1, 400));
  cluster_.time().After(span, [over] { *over = true; });
  cluster_.RunUntil(
      [&] {
        if (const std::string twice = cluster_.OpenTwice(); !twice.empty()) cluster_.Violation(twice);
        return *over || !cluster_.violations().empty();
      },
      span + Millis(10));
  stalled_ = false;
}

// Called before every step and timer.
void MasterSimulation::Watch() {
  if (const std::string twice = cluster_.OpenTwice(); !twice.empty()) cluster_.Violation(twice);
  if (!cluster_.master().dead() || electing_) return;
  ++summary_.died_at_commit;
  if (prng_.Chance(1, 2)) return NextMaster(/*keep_old=*/false);
  electing_ = true;
  ElectAfter(Millis(prng_.Between(1, 400)));
}

// Not while a step of the previous master is stalled, because its thread needs that master.
void MasterSimulation::ElectAfter(Millis delay) {
  cluster_.time().After(delay, [this] {
    if (stalled_) return ElectAfter(Millis(1));
    if (std::exchange(electing_, false) && cluster_.master().dead()) NextMaster(/*keep_old=*/false);
  });
}

void MasterSimulation::Pass(Millis span) {
  const auto over = std::make_shared<bool>(false);
  cluster_.time().After(span, [over] { *over = true; });
  cluster_.RunUntil(
      [&] {
        Watch();
        return *over || !cluster_.violations().empty();
      },
      span + Millis(10));
  client_.Look();
  operators_.Beat();
  CheckSettlement();
  // If no move edits meta by hand, meta and memory agree, and every region has an owner or a server.
  if (!cluster_.master().ready() || cluster_.master().deposed() || operators_.verbs() > 0) return;
  for (const master::ReconcilerFinding& finding : cluster_.master().logic().reconciler.Findings()) {
    // If the abort of a take-over left a table in ENABLING or DISABLING, the transition is finished (S70: take over a
    // table in transition).
    if (finding.encoded.empty() && aborted_) continue;
    // So is the removal of a parent whose GCRegion was aborted.
    if (aborted_ && finding.what.find("which has ended: ownership released") != std::string::npos) continue;
    if (finding.server.empty()) cluster_.Violation(fmt::format("region {}: {}", finding.encoded, finding.what));
  }
}

// Checks that each stuck procedure shows its obstacle, and that each log split has its slot.
void MasterSimulation::CheckSettlement() {
  sim::SimMaster& master = cluster_.master();
  if (master.dead() || master.deposed() || !master.executor().Idle()) return;
  const std::vector<ProcId> holders = master.logic().env.split_workers.Holders();
  for (const procedure::ProcedureInfo& info : master.executor().List()) {
    if (procedure::IsTerminal(info.state)) continue;
    const std::string text =
        fmt::format("pid {} {}:{} {}", info.pid, info.type, info.step_name, info.description.text());
    if (info.waiting.kind == procedure::WaitingOn::Kind::kNone && info.paused.empty() && info.parked.empty()) {
      cluster_.Violation(text + " stands, and nothing is shown to be in its way");
    }
    const bool splits = info.type == "SplitWal" && info.state == procedure::ProcState::kWaiting;
    if (splits && std::find(holders.begin(), holders.end(), info.pid) == holders.end()) {
      cluster_.Violation(text + " splits without a place");
    }
  }
  if (!master.ready() || operators_.verbs() > 0) return;
  // Without operators that end procedures, a region is at a server that serves, or a procedure is about to move it.
  const auto placed = [](const master::RegionNode& node) { return node.location && !node.owner.valid(); };
  for (const master::RegionNode& node : master.logic().regions.Select(placed)) {
    if (master.logic().servers.PhaseOf(*node.location).has_value()) continue;
    cluster_.Violation(fmt::format("region {} is {} at {}, which is gone, and nothing looks after it",
                                   node.info.encoded_name(), RegionStateText(node.state), node.location->ToString()));
  }
}

void MasterSimulation::NextMaster(bool keep_old) {
  testing::CrashPlan plan;
  if (!calm_ && prng_.Chance(1, 2)) {
    std::uint64_t& at = prng_.Chance(1, 2) ? plan.before : plan.after;
    at = 1 + prng_.Below(prng_.Chance(1, 3) ? 5 : 80);
  }
  electing_ = false;
  cluster_.StartMaster(plan, keep_old);
  client_.OnNewMaster();
}

void MasterSimulation::BreakMaster() {
  switch (prng_.Below(4)) {
    case 0: ++summary_.killed; return NextMaster(/*keep_old=*/false);
    case 1:
      cluster_.DropOldMasters();
      ++summary_.deposed;
      return NextMaster(/*keep_old=*/true);
    default: {
      // An operator's abort is refused if it is too late.
      const auto all = cluster_.master().executor().List();
      if (all.empty() || cluster_.master().deposed()) return;
      const procedure::ProcedureInfo& any = all[prng_.Below(all.size())];
      aborted_ = true;
      operators_.Aborting(any);
      cluster_.master().executor().Abort(any.pid, {"sim", "chance"}, [](const Status&) {});  // may be too late
    }
  }
}

void MasterSimulation::ReplaceLater(const std::string& host) {
  cluster_.time().After(Millis(prng_.Between(0, 600)), [this, host] { cluster_.AddServer(host); });
}

void MasterSimulation::BreakServer() {
  sim::SimServer* server = AnyServer();
  if (server == nullptr) return;
  ++summary_.server_faults;
  switch (prng_.Below(11)) {
    case 0:
    case 1:
      // The next server starts at the same address, or at another.
      ReplaceLater(prng_.Chance(1, 2) ? server->name().host : fmt::format("rs{}", ++hosts_));
      return cluster_.Kill(*server);
    case 2: {
      const Millis length(prng_.Between(10, 3000));
      cluster_.Trace("pause " + server->name().ToString());
      server->Pause();
      if (length > cluster_.options().session) {
        cluster_.SessionEnds(server->name(), cluster_.options().session);
        ReplaceLater(fmt::format("rs{}", ++hosts_));
      }
      cluster_.time().After(length, [server] { server->Resume(); });
      return;
    }
    case 3:
      cluster_.Trace("cut off " + server->name().ToString());
      server->cut_off = true;
      if (prng_.Chance(1, 3)) {
        cluster_.SessionEnds(server->name(), cluster_.options().session);
        ReplaceLater(fmt::format("rs{}", ++hosts_));
      }
      cluster_.time().After(Millis(prng_.Between(10, 4000)), [server] { server->cut_off = false; });
      return;
    case 4: server->refuse_opens = static_cast<std::uint32_t>(prng_.Between(1, 12)); return;
    case 5: server->refuse_splits = static_cast<std::uint32_t>(prng_.Between(1, 3)); return;
    case 6:
    case 7:
      server->hold_reports = static_cast<std::uint32_t>(prng_.Between(1, 3));
      cluster_.time().After(Millis(prng_.Between(10, 2000)), [server] {
        server->hold_reports = 0;
        server->ReleaseReports();
      });
      return;
    case 8: server->order_time = Millis(prng_.Chance(1, 2) ? 2 : prng_.Between(0, 700)); return;
    case 9: return DamageDescriptor();
    default: {
      const auto up_to = [this](std::int64_t most) {
        return prng_.Chance(1, 2) ? 0 : static_cast<std::uint32_t>(prng_.Between(1, most));
      };
      cluster_.options().lost_permille = up_to(150);
      cluster_.options().duplicated_permille = up_to(300);
    }
  }
}

// The damage lasts for a while, or until all faults are healed. A master reads the descriptor when it loads hbase:meta.
void MasterSimulation::DamageDescriptor() {
  auto& tables = cluster_.storage().tables;
  if (tables.empty()) return;
  const auto chosen = std::next(tables.begin(), static_cast<std::ptrdiff_t>(prng_.Below(tables.size())));
  cluster_.Trace("damage to the descriptor in " + chosen->first);
  chosen->second.descriptor_damaged = true;
  if (prng_.Chance(1, 4)) return;
  cluster_.time().After(Millis(prng_.Between(10, 3000)), [&tables, directory = chosen->first] {
    if (const auto it = tables.find(directory); it != tables.end()) it->second.descriptor_damaged = false;
  });
}

void MasterSimulation::Move() {
  switch (prng_.Below(10)) {
    case 0: BreakServer(); break;
    case 1:
      if (prng_.Chance(1, 2)) BreakMaster();
      break;
    case 2:
    case 3:
    case 4:
    case 5: client_.Invent(); break;
    default: cluster_.WriteEverywhere();
  }
  if (upkeep_) upkeep_->Act(client_.requests());
  if (options_.operators && options_.seed % 4 != 0 && prng_.Chance(1, 6)) operators_.Act();
  Pass(Millis(prng_.Chance(1, 10) ? prng_.Between(100, 1000) : prng_.Between(0, 60)));
}

void MasterSimulation::Heal() {
  calm_ = true;
  cluster_.options().lost_permille = 0;
  cluster_.options().duplicated_permille = 0;
  cluster_.options().refused_actions_permille = 0;
  for (auto& [directory, table] : cluster_.storage().tables) table.descriptor_damaged = false;
  for (sim::SimServer* server : cluster_.Alive()) {
    server->cut_off = false;
    server->refuse_opens = 0;
    server->refuse_splits = 0;
    server->hold_reports = 0;
    server->order_time = Millis(2);
    server->Resume();
    server->ReleaseReports();
  }
  cluster_.AddServer(fmt::format("rs{}", ++hosts_));
  operators_.GoHome();
  NextMaster(/*keep_old=*/false);
  cluster_.DropOldMasters();
}

void MasterSimulation::Drain() {
  Heal();
  constexpr int kRounds = 240;
  int round = 0;
  const auto rested = [this] {
    const bool shipped = !upkeep_ || upkeep_->AtRest();
    return cluster_.master().ready() && cluster_.master().AllFinished() && client_.AllOver() && shipped;
  };
  // Requires a settled state twice, with heartbeats in between, so that a disagreeing server would have been detected.
  const int enough = operators_.verbs() == 0 ? 3 : 15;  // leftovers of a bypass are repaired after the second check
  for (int calm = 0; round < kRounds && calm < enough && cluster_.violations().empty(); ++round) {
    operators_.GoHome();
    if (upkeep_) upkeep_->GoHome();
    Pass(Millis(1000));
    calm = rested() ? calm + 1 : 0;
  }
  if (round == kRounds) cluster_.Violation("not at rest:\n" + cluster_.master().Unfinished());
  if (!cluster_.violations().empty()) return;
  cluster_.WriteEverywhere();
  CheckEnd(cluster_, client_, operators_);
  if (upkeep_) upkeep_->CheckEnd(client_.requests(), operators_.bypassed());
}

MasterSimSummary MasterSimulation::Run() {
  const testing::HangGuard guard(fmt::format("ratchet-master-sim --seed {} --moves {}", options_.seed, options_.moves));
  const auto servers = static_cast<int>(prng_.Between(2, 4));
  hosts_ = static_cast<std::uint64_t>(servers);
  cluster_.Boot(servers);
  for (std::uint64_t i = 0; i < options_.moves && cluster_.violations().empty(); ++i) {
    guard.Progress();
    Move();
  }
  guard.Progress();
  if (cluster_.violations().empty()) Drain();
  for (const Request& request : client_.requests()) {
    ++summary_.requests;
    ++(request.refused ? summary_.refused : request.succeeded() ? summary_.succeeded : summary_.failed);
  }
  summary_.verbs = operators_.verbs();
  summary_.commits = cluster_.disk().CommitCount();
  summary_.violations = cluster_.violations();
  summary_.trace = cluster_.trace();
  return summary_;
}

}  // namespace ratchet::simulation
