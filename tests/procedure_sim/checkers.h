// What must hold, judged from outside: from what the steps do to the world and from what clients are told.
//
// Each violation names its check first ("exclusion: ..."), so that a report says which rule has noticed a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "procedure/executor.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

// Watches the journal across all masters. Effects are named "<member><step>". Single-threaded.
class Checkers {
 public:
  // Whether the tree's point of no return is on record; asked only when two trees seem to use one resource.
  using PastNoReturn = std::function<bool(ProcId root)>;
  explicit Checkers(PastNoReturn past) : past_(std::move(past)) {}

  // A step has acted ('+'), was taken back ('-'), or wrote a system record with its outcome ('*').
  void OnEffect(char sign, const std::string& effect, const procedure::Procedure& by);
  // A member has finished, as the listener heard.
  void OnFinished(const procedure::ProcedureInfo& info);
  // A new master has loaded; `unfinished`: what is left to run. All others that have acted have come to their end.
  void OnReload(const std::unordered_set<ProcId>& unfinished, const std::map<std::string, std::string>& system_records);
  // What a client was told about a root.
  void OnResult(ProcId pid, const procedure::ProcedureResult& result);
  // An operator ends the tree where it stands: what it has done stays, in no order.
  void OnBypass(ProcId root);
  // An operator may send a member of the tree to another state: it may go back and do things again, and
  // whether it had begun to is unknown after a crash, so that its undo may come early. All must be undone in the end as
  // ever.
  void OnRerun(ProcId root) { trees_[root].steered = true; }
  // The tree has come to its end: is the world as the result says? Forgets the tree.
  void OnTreeEnd(ProcId root, const std::string& name, bool success, testing::Journal& journal);
  // The nonce was answered with `pid`.
  void OnNonce(std::uint64_t nonce, ProcId pid);

  // Some tree has begun to be undone and is not done with it.
  [[nodiscard]] bool Undoing() const { return undoing_ > 0; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  void Violation(std::string text) { violations_.push_back(std::move(text)); }

 private:
  struct Use {   // of a lock: by a member for its life, or by a tree that may have to undo what was done under it
    ProcId pid;  // invalid: the tree's
    ProcId root;
    procedure::LockMode mode;
  };
  struct Effect {
    std::uint64_t at = 0;  // of its last '+'
    bool undoable = false;
  };
  struct Member {
    ProcId parent;
    procedure::StepNo last_step = 0;  // that acted
    std::string last;                 // its effect
    bool finished = false;
  };
  struct Tree {
    std::map<ProcId, Member> members;
    std::map<std::string, Effect> effects;      // in force
    std::map<std::string, ProcId> system_puts;  // effect -> procedure
    bool undoing = false;
    bool bypassed = false;
    bool steered = false;
  };

  void CheckExclusion(Tree& tree, const procedure::Procedure& by, bool undoable);
  void CheckUndoOrder(Tree& tree, const std::string& effect, const procedure::Procedure& by);
  void CheckExecution(Tree& tree, Member& member, procedure::StepNo step, const std::string& effect,
                      const procedure::Procedure& by);
  void ForgetUses(const std::function<bool(const Use&)>& gone);

  const PastNoReturn past_;
  std::uint64_t now_ = 0;
  int undoing_ = 0;
  std::map<procedure::ResourceKey, std::vector<Use>> uses_;
  std::unordered_map<ProcId, Tree> trees_;
  std::unordered_set<ProcId> ended_;  // roots
  std::unordered_map<ProcId, std::string> results_;
  std::unordered_map<std::uint64_t, ProcId> nonces_;
  std::unordered_set<ProcId> pids_of_nonces_;
  std::vector<std::string> violations_;
};

}  // namespace ratchet::sim
