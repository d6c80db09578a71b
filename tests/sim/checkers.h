// What must hold, judged from outside: from what the steps do to the world and from what clients are told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "procedure/executor.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

// Watches the journal. All members are named after their tree: "<tree>.<n>_".
class Checkers {
 public:
  // A step has acted ('+') or was taken back ('-').
  void OnEffect(char sign, const std::string& effect, const procedure::Procedure& by);
  // A member has finished, as the listener heard.
  void OnFinished(const procedure::ProcedureInfo& info);
  // A new master has loaded: who is still there and unfinished.
  void OnReload(const std::vector<procedure::ProcedureInfo>& all);
  // What a client was told about a root.
  void OnResult(ProcId pid, const procedure::ProcedureResult& result);
  // The tree has come to its end: is the world as the result says? Forgets the tree.
  void OnTreeEnd(ProcId root, const std::string& tree, bool success, testing::Journal& journal);
  // The nonce was answered with `pid`.
  void OnNonce(std::uint64_t nonce, ProcId pid);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  void Violation(std::string text);

 private:
  struct Use {  // of a lock, by a member that holds it for life
    ProcId pid;
    ProcId root;
    procedure::LockMode mode;
  };
  struct Effect {
    std::uint64_t at = 0;   // of its last '+'
    bool undoable = false;
  };
  struct Member {
    std::uint64_t last_at = 0;  // of its last '+'
    std::string last;           // that effect
    bool finished = false;
  };
  void CheckExclusion(const procedure::Procedure& by);
  void CheckUndoOrder(const std::string& effect, const procedure::Procedure& by);

  std::uint64_t now_ = 0;
  std::map<procedure::ResourceKey, std::vector<Use>> uses_;
  std::map<ProcId, std::map<std::string, Effect>> effects_;  // by root, in force
  std::map<ProcId, Member> members_;
  std::map<ProcId, std::string> results_;
  std::map<std::uint64_t, ProcId> nonces_;
  std::set<ProcId> pids_of_nonces_;
  std::vector<std::string> violations_;
};

}  // namespace ratchet::sim
