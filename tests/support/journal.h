// The world outside of scripted procedures: a journal of effects, events that have happened, asynchronous work.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "procedure/api/procedure.h"

namespace ratchet::testing {

// The world outside: what the steps have done. Thread-safe.
class Journal {
 public:
  void Do(const std::string& effect, const procedure::Procedure& by);
  void Undo(const std::string& effect, const procedure::Procedure& by);
  // Called for each step ('s') and undo ('u') that begins, each Do ('+'), Undo ('-'), system record with the outcome
  // ('*'), look for a report ('?') and step that runs because its time is over ('t'), outside the journal's lock: for
  // checkers. Set before anything runs.
  using Observer = std::function<void(char sign, const std::string& effect, const procedure::Procedure& by)>;
  void SetObserver(Observer observer) { observer_ = std::move(observer); }
  void Observe(char sign, const std::string& effect, const procedure::Procedure& by) const {
    if (observer_) observer_(sign, effect, by);
  }
  // Off: Log and Story stay empty, for long runs. Before anything runs.
  void SetLogging(bool on) { logging_ = on; }
  // Effects that are in force, sorted, comma separated.
  [[nodiscard]] std::string InForce() const;
  // Everything in the order in which it happened: "+a.1", "-a.1", repetitions included.
  [[nodiscard]] std::vector<std::string> Log() const;
  // The journal without immediate repetitions, joined by spaces.
  [[nodiscard]] std::string Story() const;
  void Note(const std::string& line);

  // Yields seen, per effect, so that a YIELD op yields once.
  bool FirstTime(const std::string& what);
  // An AWAIT_EVENT op continues once FirstTime("event:<name>") was called.
  [[nodiscard]] bool Seen(const std::string& what) const;
  // Undo of `effect` fails this many times.
  void FailUndo(const std::string& effect, int times);
  [[nodiscard]] bool ConsumeUndoFailure(const std::string& effect);
  // Forgets everything that starts with `prefix`: of a tree that has been judged.
  void ForgetPrefix(const std::string& prefix);
  [[nodiscard]] bool InForce(const std::string& effect) const;
  // What is in force of a tree whose members' names start with `prefix`.
  [[nodiscard]] std::vector<std::string> InForceOf(const std::string& prefix) const;
  // Undo failures that are still to come, and asynchronous work that has not been finished.
  [[nodiscard]] bool UndoMustFail(const std::string& effect) const;
  [[nodiscard]] bool AsyncPending(const std::string& name) const;
  // Asynchronous work: kept until the test finishes it, or finished at once.
  void SetAsync(bool immediate);
  void StartAsync(const std::string& name, std::function<void(int)> done);
  bool FinishAsync();
  void ForgetAsync();  // also which steps stay in progress
  // A step or undo of `pid` stays in progress; its next run continues it.
  void Stays(ProcId pid);
  [[nodiscard]] bool ConsumeStay(ProcId pid);

 private:
  Observer observer_;
  bool logging_ = true;
  mutable Mutex mutex_;
  std::set<std::string> in_force_ GUARDED_BY(mutex_);
  std::vector<std::string> log_ GUARDED_BY(mutex_);
  std::set<std::string> seen_ GUARDED_BY(mutex_);
  std::map<std::string, int> undo_failures_ GUARDED_BY(mutex_);
  bool async_immediate_ GUARDED_BY(mutex_) = false;
  std::set<ProcId> staying_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::function<void(int)>>> async_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::testing
