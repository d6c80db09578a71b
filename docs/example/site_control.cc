// A small control plane on the procedure framework alone: it publishes web sites. docs/writing-procedures.md explains
// it.
//
//   site_control DIR publish NAME REPLICAS   asks for a site and waits for its end
//   site_control DIR go-on                   takes up what an earlier run has left, and waits for its end
//
// Its world is the files in DIR/world. The file DIR/full makes replica 3 fail. DIE_AT=n ends the process in its nth
// step.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "procedure/author/state_machine_procedure.h"
#include "procedure/executor.h"
#include "procedure/store/wal_store.h"

namespace {

namespace fs = std::filesystem;
using namespace ratchet;             // NOLINT: an example
using namespace ratchet::procedure;  // NOLINT

// What the steps act on. Each act is idempotent: a step may run again after a crash.
class World {
 public:
  explicit World(const fs::path& dir) : dir_(dir) { fs::create_directories(dir / "world"); }
  void Put(const std::string& name) {
    std::ofstream(dir_ / "world" / name) << "here\n";
    if (--steps_left_ == 0) std::_Exit(9);  // the act is done, its procedure does not know yet
  }
  void Remove(const std::string& name) { fs::remove(dir_ / "world" / name); }
  [[nodiscard]] bool full() const { return fs::exists(dir_ / "full"); }

 private:
  const fs::path dir_;
  std::atomic<int> steps_left_{std::getenv("DIE_AT") == nullptr ? 0 : std::atoi(std::getenv("DIE_AT"))};
};

// The durable data: any type that can be written to bytes and read back (usually a protobuf message).
struct Site {
  std::string name;
  int number = 0;  // of replicas; of a replica: which one

  [[nodiscard]] std::string SerializeAsString() const { return std::to_string(number) + " " + name; }
  bool ParseFromArray(const void* bytes, int size) {
    std::istringstream in(std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)));
    return static_cast<bool>(in >> number >> name);
  }
  [[nodiscard]] std::string Replica() const { return name + "-replica-" + std::to_string(number); }
};

class StartReplica final : public StateMachineProcedure<StartReplica, Site> {
 public:
  static constexpr std::string_view kTypeName = "StartReplica";
  enum class State : StepNo { kStart = 1 };
  static constexpr auto Steps() {
    return std::array{On(State::kStart, "START", &StartReplica::Start, UndoBy(&StartReplica::Stop))};
  }
  using StateMachineProcedure::StateMachineProcedure;
  [[nodiscard]] LockSet Locks() const override { return {Exclusive(ResourceKey::Region(data_.name, data_.Replica()))}; }
  [[nodiscard]] std::string Describe() const override { return "site=" + data_.name + ", replica=" + data_.Replica(); }

 private:
  StepOutcome Start(StepContext& ctx) {
    auto& world = ctx.env<World>();
    if (world.full() && data_.number == 3)
      return Fail{Error(Code::kNoSpace, "no machine is free for " + data_.Replica())};
    world.Put(data_.Replica());
    return Done{};
  }
  Status Stop(StepContext& ctx) {
    ctx.env<World>().Remove(data_.Replica());
    return Ok();
  }
};

class PublishSite final : public StateMachineProcedure<PublishSite, Site> {
 public:
  static constexpr std::string_view kTypeName = "PublishSite";
  enum class State : StepNo { kReserve = 1, kStartReplicas = 2, kGoLive = 3 };
  static constexpr auto Steps() {
    return std::array{On(State::kReserve, "RESERVE", &PublishSite::Reserve, UndoBy(&PublishSite::Release)),
                      On(State::kStartReplicas, "START_REPLICAS", &PublishSite::StartReplicas,
                         kNothingToUndo),  // the children undo theirs
                      On(State::kGoLive, "GO_LIVE", &PublishSite::GoLive, kNoReturn)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  [[nodiscard]] LockSet Locks() const override { return {Exclusive(ResourceKey::Table(data_.name))}; }
  [[nodiscard]] std::string Describe() const override {
    return "site=" + data_.name + ", replicas=" + std::to_string(data_.number);
  }
  [[nodiscard]] bool HoldLocks() const override { return true; }  // one publication of a site at a time
  [[nodiscard]] Status CheckInitial() const override {
    return data_.number > 0 ? Ok() : Status(Error(Code::kInvalidArgument, "a site has replicas"));
  }

 private:
  StepOutcome Reserve(StepContext& ctx) {
    ctx.env<World>().Put(data_.name + "-address");
    return GoTo(State::kStartReplicas);
  }
  Status Release(StepContext& ctx) {
    ctx.env<World>().Remove(data_.name + "-address");
    return Ok();
  }
  StepOutcome StartReplicas(StepContext& /*ctx*/) {
    std::vector<ProcedurePtr> replicas;
    for (int i = 1; i <= data_.number; ++i) replicas.push_back(std::make_unique<StartReplica>(Site{data_.name, i}));
    return SpawnThen(State::kGoLive, std::move(replicas));
  }
  StepOutcome GoLive(StepContext& ctx) {
    ctx.env<World>().Put(data_.name + "-live");
    return Done{data_.name + " is live"};
  }
};

int Run(const fs::path& dir, const std::string& verb, const Site& site) {
  fs::create_directories(dir);
  const auto open = [&dir](const char* name) { return io::PosixDisk().OpenOrMake((dir / name).string()).value(); };
  World world(dir);
  SystemClock clock;
  const auto timers = MakeThreadTimers();
  WalStore store(open("procedures"), open("quarantine"), clock, {});
  const auto workers = MakeThreadWorkers({.workers = 4});
  ProcedureRegistry registry;
  registry.Register<PublishSite>();
  registry.Register<StartReplica>();
  Executor executor({store, registry, *workers, clock, *timers, EnvRef::Of(world)}, {});
  if (const auto epoch = executor.Recover(); !epoch.ok()) return std::cerr << epoch.error().ToString() << "\n", 2;
  std::vector<ProcId> pids = executor.FindUnfinished("PublishSite");  // before Start(): a fast one would finish unseen
  executor.Start();
  if (verb == "publish") {
    const auto pid =
        executor.Submit(std::make_unique<PublishSite>(site), {.owner = "example", .nonce = {}, .pre_check = {}});
    if (!pid.ok()) return std::cerr << pid.error().ToString() << "\n", 2;
    pids.push_back(*pid);
  }
  for (const ProcId pid : pids) {
    const auto result = executor.Await(pid);
    if (!result.ok()) return std::cerr << result.error().ToString() << "\n", 2;
    std::cout << (result->error ? "failed, all undone: " + result->error->ToString() : result->result) << "\n";
  }
  executor.Stop();
  store.Stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "usage: site_control DIR publish NAME REPLICAS | site_control DIR go-on\n", 2;
  return Run(argv[1], argv[2], {argc > 3 ? argv[3] : "", argc > 4 ? std::atoi(argv[4]) : 0});
}
