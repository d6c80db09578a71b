// External checks of the rules: by the effects of steps and by the answers to clients.
//
// Each violation names its check first ("exclusion: ..."), so that a report shows which rule detected a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "procedure/api/executor.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

// Watches the journal across all masters. Effects are named "<member><step>". Single-threaded.
class Checkers {
 public:
  // Returns true if the tree's point of no return is recorded; called only if two trees seem to use one resource.
  using PastNoReturn = std::function<bool(ProcId root)>;
  explicit Checkers(PastNoReturn past) : past_(std::move(past)) {}

  // A step has acted ('+'), was undone ('-'), or wrote a system record with its outcome ('*').
  void OnEffect(char sign, const std::string& effect, const procedure::Procedure& by);
  // The listener reported the end of a member.
  void OnFinished(const procedure::ProcedureInfo& info);
  // A new master has loaded. `unfinished`: the unfinished procedures; all others that have acted have ended.
  void OnReload(const std::unordered_set<ProcId>& unfinished, const std::map<std::string, std::string>& system_records);
  // A client got the result of a root.
  void OnResult(ProcId pid, const procedure::ProcedureResult& result);
  // An operator ends the tree in its current state: its effects stay, in any combination.
  void OnBypass(ProcId root);
  // An operator may rerun a member of the tree from another state, so steps may repeat. After a crash it is unknown
  // whether a step had begun, so its undo may come early. In the end all must be undone as usual.
  void OnRerun(ProcId root) { trees_[root].steered = true; }
  // Checks at the tree's end that the effects match the result, and forgets the tree.
  void OnTreeEnd(ProcId root, const std::string& name, bool success, testing::Journal& journal);
  // The nonce was answered with `pid`.
  void OnNonce(std::uint64_t nonce, ProcId pid);

  // Returns true if the undo of a tree is in progress.
  [[nodiscard]] bool Undoing() const { return undoing_ > 0; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  void Violation(std::string text) { violations_.push_back(std::move(text)); }

 private:
  struct Use {   // use of a lock: by a member for its life, or by a tree that may undo work under the lock
    ProcId pid;  // invalid: used by the tree
    ProcId root;
    procedure::LockMode mode;
  };
  struct Effect {
    std::uint64_t at = 0;  // position of its last '+'
    bool undoable = false;
  };
  struct Member {
    ProcId parent;
    procedure::StepNo last_step = 0;  // the last step that acted
    std::string last;                 // effect of that step
    bool finished = false;
  };
  struct Tree {
    std::map<ProcId, Member> members;
    std::map<std::string, Effect> effects;      // current effects
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
