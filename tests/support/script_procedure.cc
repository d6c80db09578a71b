#include "tests/support/script_procedure.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "common/base/check.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::testing {

using procedure::Absorbed;
using procedure::Await;
using procedure::Done;
using procedure::EndFailed;
using procedure::Fail;
using procedure::LockSet;
using procedure::Next;
using procedure::ProcedurePtr;
using procedure::ResourceKey;
using procedure::Retry;
using procedure::Spawn;
using procedure::StateMachineProcedure;
using procedure::StepContext;
using procedure::StepNo;
using procedure::StepOutcome;
using procedure::Yield;

namespace {

constexpr StepNo kMaxSteps = 6;

ResourceKey ParseKey(const std::string& text) {
  const std::string name = text.size() > 2 ? text.substr(2) : "";
  switch (text.at(0)) {
    case 't': return ResourceKey::Table(name);
    case 'n': return ResourceKey::Namespace(name);
    case 's': return ResourceKey::Server(name);
    case 'm': return ResourceKey::Meta();
    case 'p': return ResourceKey::Peer(name);
    case 'r': return ResourceKey::Region(name.substr(0, name.find('/')), name.substr(name.find('/') + 1));
    default: return ResourceKey::Cluster();
  }
}

template <class P>
class ScriptBase : public StateMachineProcedure<P, pb::Script>, public procedure::FromAnywhere {
 public:
  using Base = StateMachineProcedure<P, pb::Script>;
  using Base::Base;

  LockSet Locks() const override {
    LockSet set;
    for (const pb::ScriptLock& lock : this->data_.locks()) {
      set.Add(
          {ParseKey(lock.key()), lock.exclusive() ? procedure::LockMode::kExclusive : procedure::LockMode::kShared});
    }
    return set;
  }
  // The tests and the simulation need both ways: with and without the locks that are found before.
  bool HasManyLocks() const override { return this->data_.name().size() % 2 == 0; }
  bool HoldLocks() const override { return this->data_.hold(); }
  procedure::Description Describe() const override { return procedure::Description().Add("name", this->data_.name()); }
  Absorbed Absorb(std::string_view message) override {
    if (message == "throw") throw std::runtime_error("absorb");
    for (const std::string& taken : this->data_.absorbed()) {
      if (taken == message) return Absorbed::Stale("taken before");
    }
    this->data_.add_absorbed(std::string(message));
    return Absorbed::Taken();
  }
  Status CheckInitial() const override {
    if (this->data_.ops_size() == 0) return Error(Code::kInvalidArgument, "a script without ops");
    return Ok();
  }

 protected:
  template <StepNo N>
  StepOutcome Run(StepContext& ctx) {
    return Perform(N, ctx);
  }
  template <StepNo N>
  Status Take(StepContext& ctx) {
    Journal& journal = ctx.env<Journal>();
    const std::string effect = Effect(N);
    journal.Observe(journal.ConsumeStay(this->pid()) ? 'c' : 'u', effect, *this);
    if (this->data_.ops_size() >= static_cast<int>(N) && this->data_.ops(N - 1).kind() == pb::ScriptOp::STAY) {
      const std::string work = "undo " + effect;
      const auto value = ctx.template AsyncCall<int>(
          work, [&](std::function<void(int)> done) { journal.StartAsync(work, std::move(done)); });
      if (!value) {
        journal.Stays(this->pid());
        return ctx.StayForAsyncInUndo();
      }
    }
    if (journal.ConsumeUndoFailure(effect)) return Error(Code::kUnavailable, "undo of " + effect + " fails for now");
    journal.Undo(effect, *this);
    return Ok();
  }

 private:
  std::string Effect(StepNo step) const { return fmt::format("{}{}", this->data_.name(), step); }

  bool Decides(StepNo step) const {
    return this->data_.flavor() == "ScriptRunsOn" && static_cast<int>(step) <= this->data_.ops_size() &&
           this->data_.ops(static_cast<int>(step) - 1).text() == "decide";
  }

  StepOutcome GoOn(StepNo step, Journal& journal) {
    if (!Decides(step)) journal.Do(Effect(step), *this);
    if (static_cast<int>(step) >= this->data_.ops_size() || step >= kMaxSteps) return Done{this->data_.name()};
    return Next{step + 1};
  }

  StepOutcome PerformSpawn(StepNo step, const pb::ScriptOp& op, Journal& journal) {
    if (!Decides(step)) journal.Do(Effect(step), *this);
    Spawn spawn;
    spawn.resume_at = step + 1;
    char letter = 'a';
    for (pb::Script child : op.children()) {
      if (!child.has_name()) child.set_name(this->data_.name() + "." + letter++);
      spawn.children.push_back(MakeScript(child));
    }
    return spawn;
  }

  StepOutcome Perform(StepNo step, StepContext& ctx) {
    Journal& journal = ctx.env<Journal>();
    if (this->data_.flavor() == "ScriptRunsOn" && !Decides(step)) {
      if (const Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
    }
    // 'c': it was in progress all the time
    journal.Observe(journal.ConsumeStay(this->pid()) ? 'c' : 's', Effect(step), *this);
    if (static_cast<int>(step) > this->data_.ops_size()) return Done{this->data_.name()};
    const pb::ScriptOp op = this->data_.ops(static_cast<int>(step) - 1);
    switch (op.kind()) {
      case pb::ScriptOp::NEXT: return GoOn(step, journal);
      case pb::ScriptOp::FAIL: return Fail{Error(Code::kFailedPrecondition, op.text())};
      case pb::ScriptOp::END_FAILED: return EndFailed{Error(Code::kAborted, op.text())};
      case pb::ScriptOp::THROW: throw std::runtime_error(op.text());
      case pb::ScriptOp::SPAWN: return PerformSpawn(step, op, journal);
      case pb::ScriptOp::AWAIT_EVENT: {
        const auto ticket = ctx.TakeTicket({op.text()});
        if (ctx.timed_out()) journal.Observe('t', Effect(step), *this);
        if (ctx.timed_out() || journal.Seen("event:" + op.text())) return GoOn(step, journal);
        return Await{ticket, op.number() > 0 ? std::optional(Millis{op.number()}) : std::nullopt};
      }
      case pb::ScriptOp::AWAIT_REPORT: {
        for (const std::string& taken : this->data_.absorbed()) {
          if (taken == op.text()) return GoOn(step, journal);
        }
        journal.Observe('?', Effect(step), *this);
        return Await{};
      }
      case pb::ScriptOp::RETRY:
        if (ctx.attempt() <= op.number()) return Retry{Error(Code::kUnavailable, op.text()), std::nullopt};
        return GoOn(step, journal);
      case pb::ScriptOp::YIELD:
        for (std::int64_t turn = 0; turn < std::max<std::int64_t>(op.number(), 1); ++turn) {
          if (journal.FirstTime(fmt::format("yield:{}:{}", Effect(step), turn))) return Yield{};
        }
        return GoOn(step, journal);
      case pb::ScriptOp::ONCE: {
        const auto value = ctx.template AsyncCall<int>(
            "work", [&](std::function<void(int)> done) { journal.StartAsync(Effect(step), std::move(done)); });
        if (value) return GoOn(step, journal);
        if (op.text() == "early")
          IgnoreResult(Result<bool>(journal.FinishAsync()), "arrives while the step still runs");
        return ctx.AwaitAsync();
      }
      case pb::ScriptOp::STAY: {
        const auto value = ctx.template AsyncCall<int>(
            "own work", [&](std::function<void(int)> done) { journal.StartAsync(Effect(step), std::move(done)); });
        if (value) return GoOn(step, journal);
        journal.Stays(this->pid());
        if (op.text() == "early")
          IgnoreResult(Result<bool>(journal.FinishAsync()), "arrives while the step still runs");
        return ctx.StayForAsync();
      }
      case pb::ScriptOp::DONE: journal.Do(Effect(step), *this); return Done{op.text()};
      case pb::ScriptOp::SYSTEM_PUT:
        journal.Observe('*', Effect(step), *this);
        ctx.PutSystemRecord(op.text().substr(0, op.text().find('=')), op.text().substr(op.text().find('=') + 1));
        return GoOn(step, journal);
    }
    return Fail{Error(Code::kInternal, "unknown op")};
  }
};

}  // namespace

class ScriptUndo final : public ScriptBase<ScriptUndo> {
 public:
  using Self = ScriptUndo;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptUndo";
  static constexpr auto Steps() {
    return std::array{
        On<&Self::Run<1>>(1, "ONE", UndoBy<&Self::Take<1>>()),   On<&Self::Run<2>>(2, "TWO", UndoBy<&Self::Take<2>>()),
        On<&Self::Run<3>>(3, "THREE", UndoBy<&Self::Take<3>>()), On<&Self::Run<4>>(4, "FOUR", UndoBy<&Self::Take<4>>()),
        On<&Self::Run<5>>(5, "FIVE", UndoBy<&Self::Take<5>>()),  On<&Self::Run<6>>(6, "SIX", UndoBy<&Self::Take<6>>())};
  }
};

class ScriptPlain final : public ScriptBase<ScriptPlain> {
 public:
  using Self = ScriptPlain;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptPlain";
  static constexpr auto Steps() {
    return std::array{On<&Self::Run<1>>(1, "ONE", kNothingToUndo),   On<&Self::Run<2>>(2, "TWO", kNothingToUndo),
                      On<&Self::Run<3>>(3, "THREE", kNothingToUndo), On<&Self::Run<4>>(4, "FOUR", kNothingToUndo),
                      On<&Self::Run<5>>(5, "FIVE", kNothingToUndo),  On<&Self::Run<6>>(6, "SIX", kNothingToUndo)};
  }
};

class ScriptNoReturn final : public ScriptBase<ScriptNoReturn> {
 public:
  using Self = ScriptNoReturn;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptNoReturn";
  static constexpr auto Steps() {
    return std::array{On<&Self::Run<1>>(1, "ONE", kNoReturn),   On<&Self::Run<2>>(2, "TWO", kNoReturn),
                      On<&Self::Run<3>>(3, "THREE", kNoReturn), On<&Self::Run<4>>(4, "FOUR", kNoReturn),
                      On<&Self::Run<5>>(5, "FIVE", kNoReturn),  On<&Self::Run<6>>(6, "SIX", kNoReturn)};
  }
};

class ScriptMixed final : public ScriptBase<ScriptMixed> {
 public:
  using Self = ScriptMixed;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptMixed";
  static constexpr auto Steps() {
    return std::array{On<&Self::Run<1>>(1, "ONE", UndoBy<&Self::Take<1>>()),
                      On<&Self::Run<2>>(2, "TWO", UndoBy<&Self::Take<2>>()),
                      On<&Self::Run<3>>(3, "THREE", UndoBy<&Self::Take<3>>()),
                      On<&Self::Run<4>>(4, "FOUR", kNoReturn),
                      On<&Self::Run<5>>(5, "FIVE", kNoReturn),
                      On<&Self::Run<6>>(6, "SIX", kNoReturn)};
  }
};

class ScriptRunsOn final : public ScriptBase<ScriptRunsOn> {
 public:
  using Self = ScriptRunsOn;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptRunsOn";
  static constexpr auto Steps() {
    return std::array{On<&Self::Run<1>>(1, "ONE", kNothingToUndo, kRunsOn),
                      On<&Self::Run<2>>(2, "TWO", UndoBy<&Self::Take<2>>(), kRunsOn),
                      On<&Self::Run<3>>(3, "THREE", kNothingToUndo, kRunsOn),
                      On<&Self::Run<4>>(4, "FOUR", kNothingToUndo, kRunsOn),
                      On<&Self::Run<5>>(5, "FIVE", kNothingToUndo, kRunsOn),
                      On<&Self::Run<6>>(6, "SIX", kNothingToUndo, kRunsOn)};
  }
};

pb::ScriptOp Op(pb::ScriptOp::Kind kind, std::string text, std::int64_t number) {
  pb::ScriptOp op;
  op.set_kind(kind);
  if (!text.empty()) op.set_text(std::move(text));
  if (number != 0) op.set_number(number);
  return op;
}

pb::Script ScriptOf(std::string name, std::vector<pb::ScriptOp> ops) {
  pb::Script script;
  if (!name.empty()) script.set_name(std::move(name));
  for (pb::ScriptOp& op : ops) *script.add_ops() = std::move(op);
  return script;
}

pb::ScriptOp SpawnOp(std::vector<pb::Script> children) {
  pb::ScriptOp op = Op(pb::ScriptOp::SPAWN);
  for (pb::Script& child : children) *op.add_children() = std::move(child);
  return op;
}

pb::Script WithLock(pb::Script script, const std::string& key, bool exclusive, bool hold) {
  pb::ScriptLock& lock = *script.add_locks();
  lock.set_key(key);
  lock.set_exclusive(exclusive);
  if (hold) script.set_hold(true);
  return script;
}

pb::Script WithFlavor(pb::Script script, const std::string& flavor) {
  script.set_flavor(flavor);
  return script;
}

ProcedurePtr MakeScript(const pb::Script& script) {
  if (script.flavor() == ScriptPlain::kTypeName) return std::make_unique<ScriptPlain>(script);
  if (script.flavor() == ScriptNoReturn::kTypeName) return std::make_unique<ScriptNoReturn>(script);
  if (script.flavor() == ScriptMixed::kTypeName) return std::make_unique<ScriptMixed>(script);
  if (script.flavor() == ScriptRunsOn::kTypeName) return std::make_unique<ScriptRunsOn>(script);
  return std::make_unique<ScriptUndo>(script);
}

void RegisterScripts(procedure::ProcedureRegistry& registry) {
  registry.Register<ScriptUndo>();
  registry.Register<ScriptPlain>();
  registry.Register<ScriptNoReturn>();
  registry.Register<ScriptMixed>();
  registry.Register<ScriptRunsOn>();
}

}  // namespace ratchet::testing
