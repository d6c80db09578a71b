#include "chaos/faults/point_faults.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/ranges.h>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/occasions.h"
#include "chaos/faults/victims.h"
#include "common/base/fault_point.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kReachedWithin{20'000};
constexpr Millis kTakesOverWithin{30'000};

class PointFault : public Fault {
 public:
  [[nodiscard]] std::string_view Needs() const override {
    return "processes of this machine, 2 masters, 2 region servers";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "processes of this target cannot be started with a fault point armed";
    if (target.Names(Role::kMaster).size() < 2 || target.Names(Role::kRegionServer).size() < 2) {
      return "this fault needs two masters and two region servers";
    }
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const PointOrder order, Choose(target, prng));
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    record.kills_master = IsMastersPoint(order) && order.action == "crash";
    const Status done = Break(target, prng, order, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return done.error().Annotate(order.ToText());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(0, 2'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    const auto keep = [&first](const Status& status) {
      if (!status.ok() && first.ok()) first = status;
    };
    const std::string armed = std::exchange(armed_, "");
    if (!armed.empty() && target.Running(armed)) keep(target.Kill(armed));
    if (!armed.empty()) broken_.insert(armed);
    for (const auto& name : broken_) {
      if (!target.Running(name)) keep(target.Start(name));
    }
    broken_.clear();
    lost_.clear();
    if (std::exchange(drains_, false)) {
      if (auto client = ClusterClient::Open(target); client.ok())
        IgnoreResult((*client)->RecommissionAll(),
                     "a drained server serves its regions, and the next drain takes it back");
    }
    return first;
  }

 protected:
  [[nodiscard]] virtual Result<PointOrder> Choose(Target& target, Prng& prng) = 0;

 private:
  Status Break(Target& target, Prng& prng, const PointOrder& order, FaultRecord& record) {
    if (IsMastersPoint(order)) {
      RATCHET_TRY(TakeOverArmed(target, prng, order));
    } else {
      RATCHET_ASSIGN(const auto victims, PickServer(target, prng));
      RATCHET_TRY(StartArmed(target, victims.front(), order));
    }
    record.victims = {armed_};
    const auto until = SystemClock().Now() + kReachedWithin;
    // The point may be reached at once, and then the process is gone.
    for (int round = 0; !Reached(target, order, record.evidence); ++round) {
      if (SystemClock().Now() > until) {
        return Error(Code::kTimeout, fmt::format("not reached within {} ms by {}; servers killed for it: {}",
                                                 kReachedWithin.count(), armed_, fmt::join(broken_, ", ")));
      }
      if (round % 32 == 0) Provoke(target, prng, order);
      target.Meanwhile();
      PollPause(round);
    }
    // Excludes the work of the armed master's takeover, and procedures that it finished before it died.
    record.injected = SystemClock().Now();
    return Ok();
  }

  Status StartArmed(Target& target, const std::string& name, const PointOrder& order) {
    if (target.Running(name)) RATCHET_TRY(target.Kill(name));
    armed_ = name;
    return target.Start(name, ArmedWith(order.ToText()));
  }

  // Makes an armed standby the active master by killing the active one.
  Status TakeOverArmed(Target& target, Prng& prng, const PointOrder& order) {
    RATCHET_ASSIGN(const auto standby, PickStandby(target, prng));
    RATCHET_ASSIGN(const auto active, target.ActiveMaster());
    RATCHET_TRY(StartArmed(target, standby.front(), order));
    RATCHET_TRY(target.Kill(active));
    broken_.insert(active);
    // Other masters must not win the election.
    for (const auto& name : RunningOnes(target, Role::kMaster)) {
      if (name == armed_) continue;
      RATCHET_TRY(target.Kill(name));
      broken_.insert(name);
    }
    RATCHET_TRY(WaitUntil(armed_ + " takes over", kTakesOverWithin, [&] {
      target.Meanwhile();
      const auto now = target.ActiveMaster();
      return (now.ok() && *now == armed_) || !target.Running(armed_);
    }));
    return target.Start(active);
  }

  bool Reached(Target& target, const PointOrder& order, std::string& evidence) {
    if (order.action == "crash") {
      if (target.Running(armed_)) return false;
      const int code = target.processes()->Info(armed_).exit_code.value_or(-1);
      evidence = fmt::format("{} ended at {} with exit code {}", armed_, order.ToText(), code);
      return code == kFaultExitCode;
    }
    const auto lines = target.processes()->LogLines(armed_, fmt::format("fault point {} ", order.name));
    if (!lines.empty()) evidence = fmt::format("{} said: {}", armed_, lines.front());
    return !lines.empty();
  }

  // Gives the cluster work that reaches the point. Errors are expected, because the master may be gone.
  void Provoke(Target& target, Prng& prng, const PointOrder& order) {
    const auto occasion = OccasionOf(order);
    if (!occasion.ok() || *occasion == Occasion::kNone) return;  // only the cluster's own background work reaches it
    if (*occasion == Occasion::kServerCrash) return LoseAServer(target, prng);
    if (*occasion == Occasion::kServerReturn) {
      LoseAServer(target, prng);
      for (const auto& name : broken_) {
        if (!target.Running(name)) IgnoreResult(target.Start(name), "Heal restarts it");
      }
      return;
    }
    auto client = ClusterClient::Open(target);
    if (!client.ok()) return;
    if (*occasion == Occasion::kTable || *occasion == Occasion::kExport)
      return PassThroughATable(target, prng, **client);
    if (*occasion == Occasion::kDrain) {
      drains_ = true;
      IgnoreResult((*client)->DrainAndRecommission(prng), "only an occasion");
      return;
    }
    if (*occasion == Occasion::kSettings) {
      IgnoreResult((*client)->ChangeSettings(), "only an occasion");
      return;
    }
    const auto servers = (*client)->OnlineServers();
    if (!servers.ok()) return;
    for (const auto& server : *servers) {
      const bool to_victim = server.port == target.processes()->Info(armed_).port;
      if (!to_victim && !IsMastersPoint(order)) continue;
      for (int i = 0; i < 2; ++i) IgnoreResult((*client)->MoveSomething(prng, &server), "only an occasion");
    }
    IgnoreResult((*client)->MoveSomething(prng), "only an occasion");
  }

  // Kills one server first. The crash of a server without regions reaches few points, and another server than the armed
  // one may split its logs. So after a while all other servers are killed, and the armed one must split all logs.
  void LoseAServer(Target& target, Prng& prng) {
    const auto now = SystemClock().Now();
    if (!lost_.empty() && now < lose_another_at_) return;
    Victims servers = WithRegions(target);
    const bool all = !lost_.empty() && !IsMastersArmed(target) && !servers.empty();
    if (!all) {
      for (const auto& before : lost_) {
        if (!target.Running(before)) IgnoreResult(target.Start(before), "Heal restarts it");
      }
      servers = RandomSubset(std::move(servers), 1, prng);
    }
    lost_ = servers;
    lose_another_at_ = now + target.session_timeout() * 3;
    for (const auto& name : lost_) {
      broken_.insert(name);
      IgnoreResult(target.Kill(name), "only an occasion");
    }
  }
  [[nodiscard]] bool IsMastersArmed(Target& target) const {
    const auto masters = target.Names(Role::kMaster);
    return std::find(masters.begin(), masters.end(), armed_) != masters.end();
  }

  // Returns running region servers except the armed one; only those with regions, according to the master.
  Victims WithRegions(Target& target) {
    Victims servers = RunningOnes(target, Role::kRegionServer);
    std::erase(servers, armed_);
    auto client = ClusterClient::Open(target);
    const auto regions = client.ok() ? (*client)->Regions() : client.error();
    if (!regions.ok()) return servers;
    std::set<std::string> holders;
    for (const auto& region : *regions) holders.insert(target.NameOf(region.server));
    Victims with_regions = servers;
    std::erase_if(with_regions, [&](const std::string& name) { return holders.count(name) == 0; });
    return with_regions.empty() ? servers : with_regions;
  }

  // Splits the first region of a table, merges its daughters, and truncates the first region.
  static void SplitAndMerge(const TableName& table, client::Admin& admin) {
    const auto before = admin.Regions(table);
    if (!before.ok() || before->empty()) return;
    IgnoreResult(admin.WaitOk(admin.SplitRegion(before->front().region, "g")), "only an occasion");
    const auto after = admin.Regions(table);
    if (!after.ok() || after->size() < 2) return;
    IgnoreResult(
        admin.WaitOk(admin.MergeRegions({after->front().region.encoded_name(), (*after)[1].region.encoded_name()})),
        "only an occasion");
    const auto merged = admin.Regions(table);
    if (!merged.ok() || merged->empty()) return;
    IgnoreResult(admin.WaitOk(admin.TruncateRegion(merged->front().region)), "only an occasion");
  }

  // Takes a snapshot of a table, exports and imports it if that is allowed, clones it, and drops the clone. Returns the
  // name of the snapshot, or an empty string.
  static std::string SnapshotAndClone(Target& target, const TableName& table, client::Admin& admin,
                                      client::Snapshots& snapshots) {
    const std::string name = table.qualifier + "_s";
    if (!admin.WaitOk(snapshots.Take(name, table, {})).ok()) return {};
    if (const auto exports = target.Exports()) {
      const std::string place = (*exports / name).string();
      IgnoreResult(admin.WaitOk(snapshots.Export(name, place)), "only an occasion");
      IgnoreResult(admin.WaitOk(snapshots.Import(place, name + "_i")), "only an occasion");
      IgnoreResult(snapshots.Delete(name + "_i"), "it may not exist");
      std::error_code failed;
      std::filesystem::remove_all(place, failed);
    }
    const TableName clone(table.ns, table.qualifier + "_c");
    IgnoreResult(admin.WaitOk(snapshots.PutBack(name, clone)), "only an occasion");
    IgnoreResult(admin.WaitOk(admin.DisableTable(clone)), "it may not exist");
    IgnoreResult(admin.WaitOk(admin.DeleteTable(clone)), "it may be gone");
    return name;
  }

  // Creates, alters, compacts, splits, merges, empties, snapshots, disables, repairs, enables, disables, truncates,
  // disables, restores and deletes a table of its own.
  void PassThroughATable(Target& target, Prng& prng, ClusterClient& client) {
    TableDescriptor table;
    table.name = TableName("default", fmt::format("chaos_{:x}", prng.Next() & 0xffffffU));
    table.families.push_back(DefaultFamily("f"));
    client::Admin admin = client.admin();
    const auto step = [&](const Result<std::uint64_t>& pid) {
      return admin.WaitOk(pid).ok() && target.Running(armed_);
    };
    const bool created = step(admin.CreateTable(table, {"m"}));
    const bool altered = created && step(admin.AddFamily(table.name, DefaultFamily("g"))) &&
                         step(admin.FlushTable(table.name)) && step(admin.CompactTable(table.name, true));
    if (altered) SplitAndMerge(table.name, admin);
    client::Snapshots snapshots = client.snapshots();
    const std::string snapshot = altered ? SnapshotAndClone(target, table.name, admin, snapshots) : std::string();
    if (altered && step(admin.DisableTable(table.name))) {
      if (const auto regions = admin.Regions(table.name); regions.ok() && !regions->empty()) {
        IgnoreResult(admin.WaitOk(admin.GiveUpRegion(regions->front().region.encoded_name())), "only an occasion");
      }
      IgnoreResult(admin.WaitOk(admin.EnableTable(table.name)), "only an occasion");
    }
    IgnoreResult(admin.WaitOk(admin.DisableTable(table.name)), "it may be disabled");
    if (altered && step(admin.TruncateTable(table.name, true))) {
      IgnoreResult(admin.WaitOk(admin.DisableTable(table.name)), "only an occasion");
    }
    if (!snapshot.empty()) {
      IgnoreResult(admin.WaitOk(snapshots.PutBack(snapshot, table.name)), "only an occasion");
      IgnoreResult(snapshots.Delete(snapshot), "it may be gone");
    }
    IgnoreResult(admin.WaitOk(admin.DeleteTable(table.name)), "it may be gone");
  }

  std::string armed_;
  Victims lost_;         // killed by LoseAServer
  bool drains_ = false;  // servers may remain drained
  TimePoint lose_another_at_;
  std::set<std::string> broken_;
};

// Returns the points that every cluster reaches when provoked.
std::vector<PointFacts> PointsReached() {
  std::vector<PointFacts> points;
  for (const PointFacts& facts : AllPoints()) {
    if (facts.reached != PointFacts::Reached::kSeldom) points.push_back(facts);
  }
  return points;
}

class RandomPoint final : public PointFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "fault-point"; }

 protected:
  Result<PointOrder> Choose(Target& /*target*/, Prng& prng) override {
    const std::vector<PointFacts> points = PointsReached();
    const PointFacts& point = points[prng.Below(points.size())];
    PointOrder order{std::string(point.name), "", "crash", 0};
    if (prng.Chance(1, 4)) order.action = fmt::format("delay:{}", prng.Between(50, 3'000));
    const bool once = point.reached == PointFacts::Reached::kOnce;
    order.skip = once ? 0 : static_cast<std::uint64_t>(prng.Between(0, 2));
    return order;
  }
};

class RandomStep final : public PointFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "kill-at-step"; }

 protected:
  Result<PointOrder> Choose(Target& target, Prng& prng) override {
    if (steps_.empty()) {
      RATCHET_ASSIGN(steps_,
                     ListSteps(target.processes()->spec().bin / "ratchet-master", target.Exports().has_value()));
    }
    PointOrder order{prng.Chance(1, 2) ? "executor.before_commit" : "executor.after_commit", "", "crash", 0};
    order.match = steps_[prng.Below(steps_.size())];
    return order;
  }

 private:
  // Parses the output of the program's --list-steps: "Type", then indented "<number> STEP <kind of undo>".
  static Result<std::vector<std::string>> ListSteps(const std::filesystem::path& program, bool exports) {
    FILE* const pipe = ::popen(("'" + program.string() + "' --list-steps").c_str(), "r");
    if (pipe == nullptr) return Error(Code::kIo, "cannot run " + program.string());
    std::vector<std::string> steps;
    std::string type;
    char line[512];
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
      char word[256] = "";
      if (line[0] != ' ') {
        if (std::sscanf(line, "%255s", word) == 1) type = word;
      } else if (std::sscanf(line, "%*u %255s", word) == 1 && MayBeProvoked(type, word, exports)) {
        steps.push_back(type + ":" + word);
      }
    }
    ::pclose(pipe);
    if (steps.empty()) return Error(Code::kInternal, program.string() + " --list-steps lists no known step");
    return steps;
  }

  // Excludes the steps that need a server to refuse or die at an exact moment, or to stop permanently, those of drops
  // that find rights, and those in which only records of earlier versions are.
  static bool MayBeProvoked(std::string_view type, std::string_view step, bool exports) {
    constexpr std::array kRare = {"REPORT_SUCCEED", "DISPATCH_FAIL", "SERVER_CRASH", "SPLIT_META_LOG",
                                  "ASSIGN_META",    "STOP_SERVER",   "TAKE_RIGHTS"};
    if (std::find(kRare.begin(), kRare.end(), step) != kRare.end()) return false;
    const Occasion occasion = OccasionOfType(type).value_or(Occasion::kNone);
    return occasion != Occasion::kNone && (exports || occasion != Occasion::kExport);
  }

  std::vector<std::string> steps_;
};

class FixedPoint final : public PointFault {
 public:
  FixedPoint(std::string_view kind, PointOrder order) : kind_(kind), order_(std::move(order)) {}
  [[nodiscard]] std::string_view kind() const override { return kind_; }

 protected:
  Result<PointOrder> Choose(Target& /*target*/, Prng& /*prng*/) override { return order_; }

 private:
  const std::string kind_;
  const PointOrder order_;
};

}  // namespace

std::unique_ptr<Fault> MakeRandomPoint() { return std::make_unique<RandomPoint>(); }
std::unique_ptr<Fault> MakeRandomStep() { return std::make_unique<RandomStep>(); }

Result<std::unique_ptr<Fault>> MakePoint(std::string_view kind) {
  const auto colon = kind.find(':');
  const std::string_view what = kind.substr(colon + 1);
  auto order = kind.substr(0, colon) == "step" ? ParseStep(what) : ParsePoint(what);
  if (!order.ok()) return order.error();
  if (const auto occasion = OccasionOf(*order); !occasion.ok()) return occasion.error();
  return std::unique_ptr<Fault>(std::make_unique<FixedPoint>(kind, std::move(*order)));
}

}  // namespace ratchet::chaos
