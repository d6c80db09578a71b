// Procedures that do what a script says, against a journal of effects: the subjects of the framework's own tests and of the
// simulation. Step i runs op i. Types differ in their undo: ScriptUndo (every step), ScriptPlain (nothing to undo),
// ScriptNoReturn (all behind the point of no return), ScriptMixed (three steps with undo, then no return).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "procedure/procedure_registry.h"
#include "procedure/state_machine_procedure.h"
#include "tests/support/script.pb.h"

namespace ratchet::testing {

// The world outside: what the steps have done. Thread-safe.
class Journal {
 public:
  void Do(const std::string& effect, const procedure::Procedure& by);
  void Undo(const std::string& effect, const procedure::Procedure& by);
  // Called for each Do ('+') and Undo ('-'), outside the journal's lock: for checkers. Set before anything runs.
  using Observer = std::function<void(char sign, const std::string& effect, const procedure::Procedure& by)>;
  void SetObserver(Observer observer) { observer_ = std::move(observer); }
  // Effects that are in force, sorted, comma separated.
  [[nodiscard]] std::string InForce() const;
  // Everything in the order in which it happened: "+a.1", "-a.1", repetitions included.
  [[nodiscard]] std::vector<std::string> Log() const;
  // The same without immediate repetitions, joined by spaces.
  [[nodiscard]] std::string Story() const;
  void Note(const std::string& line);

  // Yields seen, per effect, so that a YIELD op yields once.
  bool FirstTime(const std::string& what);
  // An AWAIT_EVENT op goes on once FirstTime("event:<name>") was called.
  [[nodiscard]] bool Seen(const std::string& what) const;
  // Undo of `effect` fails this many times.
  void FailUndo(const std::string& effect, int times);
  [[nodiscard]] bool TakeUndoFailure(const std::string& effect);
  // Forgets everything that starts with `prefix`: of a tree that has been judged.
  void ForgetPrefix(const std::string& prefix);
  [[nodiscard]] bool InForce(const std::string& effect) const;
  // Asynchronous work: kept until the test finishes it, or finished at once.
  void SetAsync(bool immediate);
  void StartAsync(const std::string& name, std::function<void(int)> done);
  bool FinishAsync();
  void ForgetAsync();

 private:
  Observer observer_;
  mutable Mutex mutex_;
  std::set<std::string> in_force_ GUARDED_BY(mutex_);
  std::vector<std::string> log_ GUARDED_BY(mutex_);
  std::set<std::string> seen_ GUARDED_BY(mutex_);
  std::map<std::string, int> undo_failures_ GUARDED_BY(mutex_);
  bool async_immediate_ GUARDED_BY(mutex_) = false;
  std::vector<std::pair<std::string, std::function<void(int)>>> async_ GUARDED_BY(mutex_);
};

// Short forms for building scripts.
[[nodiscard]] pb::ScriptOp Op(pb::ScriptOp::Kind kind, std::string text = {}, std::int64_t number = 0);
[[nodiscard]] pb::Script ScriptOf(std::string name, std::vector<pb::ScriptOp> ops);
[[nodiscard]] pb::ScriptOp SpawnOp(std::vector<pb::Script> children);
[[nodiscard]] pb::Script WithLock(pb::Script script, const std::string& key, bool exclusive, bool hold = false);
[[nodiscard]] pb::Script WithFlavor(pb::Script script, const std::string& flavor);

// An object of the type that script.flavor() names.
[[nodiscard]] procedure::ProcedurePtr MakeScript(const pb::Script& script);
void RegisterScripts(procedure::ProcedureRegistry& registry);

}  // namespace ratchet::testing
