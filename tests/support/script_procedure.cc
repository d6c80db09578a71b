#include "tests/support/script_procedure.h"

#include <stdexcept>

#include <fmt/format.h>

#include "common/base/check.h"

namespace ratchet::testing {

using procedure::Absorbed;
using procedure::Await;
using procedure::Done;
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
class ScriptBase : public StateMachineProcedure<P, pb::Script> {
 public:
  using Base = StateMachineProcedure<P, pb::Script>;
  using Base::Base;
  enum class State : StepNo { kOne = 1, kTwo, kThree, kFour, kFive, kSix };

  LockSet Locks() const override {
    LockSet set;
    for (const pb::ScriptLock& lock : this->data_.locks()) {
      set.Add({ParseKey(lock.key()), lock.exclusive() ? procedure::LockMode::kExclusive : procedure::LockMode::kShared});
    }
    return set;
  }
  bool HoldLocks() const override { return this->data_.hold(); }
  std::string Describe() const override { return "name=" + this->data_.name(); }
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
    if (journal.TakeUndoFailure(effect)) return Error(Code::kUnavailable, "undo of " + effect + " fails for now");
    journal.Undo(effect, *this);
    return Ok();
  }

 private:
  std::string Effect(StepNo step) const { return fmt::format("{}{}", this->data_.name(), step); }

  StepOutcome GoOn(StepNo step, Journal& journal) {
    journal.Do(Effect(step), *this);
    if (static_cast<int>(step) >= this->data_.ops_size() || step >= kMaxSteps) return Done{this->data_.name()};
    return Next{step + 1};
  }

  StepOutcome PerformSpawn(StepNo step, const pb::ScriptOp& op, Journal& journal) {
    journal.Do(Effect(step), *this);
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
    if (static_cast<int>(step) > this->data_.ops_size()) return Done{this->data_.name()};
    const pb::ScriptOp op = this->data_.ops(static_cast<int>(step) - 1);
    switch (op.kind()) {
      case pb::ScriptOp::NEXT: return GoOn(step, journal);
      case pb::ScriptOp::FAIL: return Fail{Error(Code::kFailedPrecondition, op.text())};
      case pb::ScriptOp::THROW: throw std::runtime_error(op.text());
      case pb::ScriptOp::SPAWN: return PerformSpawn(step, op, journal);
      case pb::ScriptOp::AWAIT_EVENT: {
        const auto ticket = ctx.TakeTicket({op.text()});
        if (ctx.timed_out() || journal.Seen("event:" + op.text())) return GoOn(step, journal);
        return Await{ticket, op.number() > 0 ? std::optional(Millis{op.number()}) : std::nullopt};
      }
      case pb::ScriptOp::AWAIT_REPORT: {
        for (const std::string& taken : this->data_.absorbed()) {
          if (taken == op.text()) return GoOn(step, journal);
        }
        return Await{};
      }
      case pb::ScriptOp::RETRY:
        if (ctx.attempt() <= op.number()) return Retry{Error(Code::kUnavailable, op.text()), std::nullopt};
        return GoOn(step, journal);
      case pb::ScriptOp::YIELD:
        if (journal.FirstTime("yield:" + Effect(step))) return Yield{};
        return GoOn(step, journal);
      case pb::ScriptOp::ONCE: {
        const auto value = ctx.template Once<int>("work", [&](std::function<void(int)> done) {
          journal.StartAsync(Effect(step), std::move(done));
        });
        if (value) return GoOn(step, journal);
        if (op.text() == "early") IgnoreResult(Result<bool>(journal.FinishAsync()), "arrives while the step still runs");
        return ctx.AwaitOnce();
      }
      case pb::ScriptOp::DONE: journal.Do(Effect(step), *this); return Done{op.text()};
      case pb::ScriptOp::SYSTEM_PUT:
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
    return std::array{On(State::kOne, "ONE", &Self::Run<1>, UndoBy(&Self::Take<1>)),
                      On(State::kTwo, "TWO", &Self::Run<2>, UndoBy(&Self::Take<2>)),
                      On(State::kThree, "THREE", &Self::Run<3>, UndoBy(&Self::Take<3>)),
                      On(State::kFour, "FOUR", &Self::Run<4>, UndoBy(&Self::Take<4>)),
                      On(State::kFive, "FIVE", &Self::Run<5>, UndoBy(&Self::Take<5>)),
                      On(State::kSix, "SIX", &Self::Run<6>, UndoBy(&Self::Take<6>))};
  }
};

class ScriptPlain final : public ScriptBase<ScriptPlain> {
 public:
  using Self = ScriptPlain;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptPlain";
  static constexpr auto Steps() {
    return std::array{On(State::kOne, "ONE", &Self::Run<1>, kNothingToUndo),
                      On(State::kTwo, "TWO", &Self::Run<2>, kNothingToUndo),
                      On(State::kThree, "THREE", &Self::Run<3>, kNothingToUndo),
                      On(State::kFour, "FOUR", &Self::Run<4>, kNothingToUndo),
                      On(State::kFive, "FIVE", &Self::Run<5>, kNothingToUndo),
                      On(State::kSix, "SIX", &Self::Run<6>, kNothingToUndo)};
  }
};

class ScriptNoReturn final : public ScriptBase<ScriptNoReturn> {
 public:
  using Self = ScriptNoReturn;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptNoReturn";
  static constexpr auto Steps() {
    return std::array{On(State::kOne, "ONE", &Self::Run<1>, kNoReturn),
                      On(State::kTwo, "TWO", &Self::Run<2>, kNoReturn),
                      On(State::kThree, "THREE", &Self::Run<3>, kNoReturn),
                      On(State::kFour, "FOUR", &Self::Run<4>, kNoReturn),
                      On(State::kFive, "FIVE", &Self::Run<5>, kNoReturn),
                      On(State::kSix, "SIX", &Self::Run<6>, kNoReturn)};
  }
};

class ScriptMixed final : public ScriptBase<ScriptMixed> {
 public:
  using Self = ScriptMixed;
  using ScriptBase::ScriptBase;
  static constexpr std::string_view kTypeName = "ScriptMixed";
  static constexpr auto Steps() {
    return std::array{On(State::kOne, "ONE", &Self::Run<1>, UndoBy(&Self::Take<1>)),
                      On(State::kTwo, "TWO", &Self::Run<2>, UndoBy(&Self::Take<2>)),
                      On(State::kThree, "THREE", &Self::Run<3>, UndoBy(&Self::Take<3>)),
                      On(State::kFour, "FOUR", &Self::Run<4>, kNoReturn),
                      On(State::kFive, "FIVE", &Self::Run<5>, kNoReturn),
                      On(State::kSix, "SIX", &Self::Run<6>, kNoReturn)};
  }
};

void Journal::Do(const std::string& effect, const procedure::Procedure& by) {
  {
    MutexLock lock(mutex_);
    in_force_.insert(effect);
    log_.push_back("+" + effect);
  }
  if (observer_) observer_('+', effect, by);
}

void Journal::Undo(const std::string& effect, const procedure::Procedure& by) {
  {
    MutexLock lock(mutex_);
    in_force_.erase(effect);
    log_.push_back("-" + effect);
  }
  if (observer_) observer_('-', effect, by);
}

bool Journal::InForce(const std::string& effect) const {
  MutexLock lock(mutex_);
  return in_force_.contains(effect);
}

void Journal::ForgetPrefix(const std::string& prefix) {
  MutexLock lock(mutex_);
  const auto matches = [&prefix](const std::string& text) { return text.find(prefix) != std::string::npos; };
  std::erase_if(in_force_, matches);
  std::erase_if(seen_, matches);
  log_.clear();
}

void Journal::Note(const std::string& line) {
  MutexLock lock(mutex_);
  log_.push_back(line);
}

std::string Journal::InForce() const {
  MutexLock lock(mutex_);
  std::string text;
  for (const std::string& effect : in_force_) text += (text.empty() ? "" : ",") + effect;
  return text;
}

std::vector<std::string> Journal::Log() const {
  MutexLock lock(mutex_);
  return log_;
}

std::string Journal::Story() const {
  std::string text;
  std::string last;
  for (const std::string& line : Log()) {
    if (line == last) continue;
    text += (text.empty() ? "" : " ") + line;
    last = line;
  }
  return text;
}

bool Journal::FirstTime(const std::string& what) {
  MutexLock lock(mutex_);
  return seen_.insert(what).second;
}

bool Journal::Seen(const std::string& what) const {
  MutexLock lock(mutex_);
  return seen_.contains(what);
}

void Journal::FailUndo(const std::string& effect, int times) {
  MutexLock lock(mutex_);
  undo_failures_[effect] = times;
}

bool Journal::TakeUndoFailure(const std::string& effect) {
  MutexLock lock(mutex_);
  const auto found = undo_failures_.find(effect);
  if (found == undo_failures_.end() || found->second == 0) return false;
  --found->second;
  return true;
}

void Journal::SetAsync(bool immediate) {
  MutexLock lock(mutex_);
  async_immediate_ = immediate;
}

void Journal::StartAsync(const std::string& name, std::function<void(int)> done) {
  {
    MutexLock lock(mutex_);
    log_.push_back("?" + name);
    if (!async_immediate_) {
      async_.emplace_back(name, std::move(done));
      return;
    }
  }
  done(1);
}

bool Journal::FinishAsync() {
  std::function<void(int)> done;
  {
    MutexLock lock(mutex_);
    if (async_.empty()) return false;
    done = std::move(async_.front().second);
    async_.erase(async_.begin());
  }
  done(1);
  return true;
}

void Journal::ForgetAsync() {
  MutexLock lock(mutex_);
  async_.clear();
}

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
  return std::make_unique<ScriptUndo>(script);
}

void RegisterScripts(procedure::ProcedureRegistry& registry) {
  registry.Register<ScriptUndo>();
  registry.Register<ScriptPlain>();
  registry.Register<ScriptNoReturn>();
  registry.Register<ScriptMixed>();
}

}  // namespace ratchet::testing
