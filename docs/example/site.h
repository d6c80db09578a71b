// The procedures of the worked example: a small control plane that publishes web sites. docs/writing-procedures.md
// explains them. Its world is the files in DIR/world. The file DIR/full makes replica 3 fail. DIE_AT=n ends the process
// in its nth step.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "procedure/api/procedure_registry.h"
#include "procedure/api/state_machine_procedure.h"

namespace site {

namespace fs = std::filesystem;
using namespace ratchet;             // NOLINT: an example
using namespace ratchet::procedure;  // NOLINT

// The world that the steps change. Each change is idempotent, because a step may run again after a crash.
class World {
 public:
  explicit World(const fs::path& dir) : dir_(dir) { fs::create_directories(dir / "world"); }
  void Put(const std::string& name) {
    std::ofstream(dir_ / "world" / name) << "here\n";
    if (--steps_left_ == 0) std::_Exit(9);  // the change is made, but not yet recorded
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
  static constexpr auto Steps() {
    return std::array{On<&StartReplica::Start>(1, "START", UndoBy<&StartReplica::Stop>())};
  }
  using StateMachineProcedure::StateMachineProcedure;
  [[nodiscard]] LockSet Locks() const override { return {Exclusive(ResourceKey::Region(data_.name, data_.Replica()))}; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("site", data_.name).Add("replica", data_.Replica());
  }

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
  static constexpr auto Steps() {
    return std::array{On<&PublishSite::Reserve>(1, "RESERVE", UndoBy<&PublishSite::Release>()),
                      On<&PublishSite::StartReplicas>(2, "START_REPLICAS", kNothingToUndo),  // the children undo theirs
                      On<&PublishSite::GoLive>(3, "GO_LIVE", kNoReturn)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  [[nodiscard]] LockSet Locks() const override { return {Exclusive(ResourceKey::Table(data_.name))}; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("site", data_.name).Add("replicas", data_.number);
  }
  [[nodiscard]] bool HoldLocks() const override { return true; }  // one publication of a site at a time
  [[nodiscard]] Status CheckInitial() const override {
    return data_.number > 0 ? Ok() : Status(Error(Code::kInvalidArgument, "a site has replicas"));
  }

 private:
  StepOutcome Reserve(StepContext& ctx) {
    ctx.env<World>().Put(data_.name + "-address");
    return GoTo<&PublishSite::StartReplicas>();
  }
  Status Release(StepContext& ctx) {
    ctx.env<World>().Remove(data_.name + "-address");
    return Ok();
  }
  StepOutcome StartReplicas(StepContext& /*ctx*/) {
    std::vector<ProcedurePtr> replicas;
    for (int i = 1; i <= data_.number; ++i) replicas.push_back(std::make_unique<StartReplica>(Site{data_.name, i}));
    return SpawnThen<&PublishSite::GoLive>(std::move(replicas));
  }
  StepOutcome GoLive(StepContext& ctx) {
    ctx.env<World>().Put(data_.name + "-live");
    return Done{data_.name + " is live"};
  }
};

// All types of this program; every host of them registers the same.
inline void RegisterTypes(ProcedureRegistry& registry) {
  registry.Register<PublishSite>();
  registry.Register<StartReplica>();
}

}  // namespace site
