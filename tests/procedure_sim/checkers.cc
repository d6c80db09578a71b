#include "tests/procedure_sim/checkers.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::sim {

using procedure::LockMode;
using procedure::LockRequest;
using procedure::ProcedureResult;
using procedure::StepNo;

namespace {

StepNo StepOf(const std::string& effect) { return static_cast<StepNo>(effect.back() - '0'); }

}  // namespace

void Checkers::ForgetUses(const std::function<bool(const Use&)>& gone) {
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    std::erase_if(entry->second, gone);
    entry = entry->second.empty() ? uses_.erase(entry) : std::next(entry);
  }
}

void Checkers::CheckExclusion(Tree& tree, const procedure::Procedure& by, bool undoable) {
  for (const LockRequest& lock : by.Locks().Expanded()) {
    std::vector<Use>& uses = uses_[lock.key];
    // After its point of no return a tree may release locks that it needed only for an undo.
    std::erase_if(uses, [&](const Use& use) {
      const bool conflict =
          use.root != by.root_pid() && (use.mode == LockMode::kExclusive || lock.mode == LockMode::kExclusive);
      return conflict && !use.pid.valid() && past_(use.root);
    });
    for (const Use& use : uses) {
      if (use.root == by.root_pid()) continue;
      if (use.mode == LockMode::kExclusive || lock.mode == LockMode::kExclusive) {
        Violation(fmt::format("exclusion: pid {} acts on {} while pid {} (root {}) holds it", by.pid(),
                              lock.key.ToString(), use.pid, use.root));
      }
    }
    const auto add = [&](ProcId pid) {
      const bool known = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
        return use.pid == pid && use.root == by.root_pid() && use.mode == lock.mode;
      });
      if (!known) uses.push_back({pid, by.root_pid(), lock.mode});
    };
    if (by.HoldLocks() && !tree.bypassed) add(by.pid());
    if (undoable && !tree.bypassed) add(ProcId());
  }
}

void Checkers::CheckUndoOrder(Tree& tree, const std::string& effect, const procedure::Procedure& by) {
  const auto mine = tree.effects.find(effect);
  if (mine == tree.effects.end()) return;  // it had no effect, or was undone before a crash
  const Member& member = tree.members[by.pid()];
  const bool interrupted = !member.finished && member.last == effect;
  if (!interrupted && !tree.bypassed && !tree.steered) {
    for (const auto& [name, other] : tree.effects) {
      if (other.undoable && other.at > mine->second.at) {
        Violation(fmt::format("undo order: {} is taken back before {}, which came later", effect, name));
      }
    }
  }
  tree.effects.erase(mine);
}

void Checkers::CheckExecution(Tree& tree, Member& member, StepNo step, const std::string& effect,
                              const procedure::Procedure& by) {
  if (member.finished) Violation(fmt::format("one end: pid {} acts after its end: {}", by.pid(), effect));
  if (ended_.contains(by.root_pid()))
    Violation(fmt::format("one end: pid {} acts after its tree's end: {}", by.pid(), effect));
  if (tree.bypassed) return;
  if (tree.undoing)
    Violation(fmt::format("execution order: pid {} acts while its tree is undone: {}", by.pid(), effect));
  if (step < member.last_step && !tree.steered) {
    Violation(fmt::format("execution order: pid {} acts in step {} after step {}", by.pid(), step, member.last_step));
  }
  for (const auto& [pid, other] : tree.members) {
    if (other.parent == by.pid() && !other.finished) {
      Violation(fmt::format("execution order: pid {} acts before its child {} has ended: {}", by.pid(), pid, effect));
    }
  }
}

void Checkers::OnEffect(char sign, const std::string& effect, const procedure::Procedure& by) {
  ++now_;
  Tree& tree = trees_[by.root_pid()];
  if (sign == '*') tree.system_puts[effect] = by.pid();
  if (sign == '-') {
    if (!tree.undoing) ++undoing_;
    tree.undoing = true;
    CheckUndoOrder(tree, effect, by);
  }
  if (sign != '+') return;
  const StepNo step = StepOf(effect);
  const procedure::StepRow* row = by.FindRow(step);
  const bool undoable = row != nullptr && row->undo == procedure::UndoKind::kCall;
  Member& member = tree.members[by.pid()];
  CheckExecution(tree, member, step, effect, by);
  CheckExclusion(tree, by, undoable);
  tree.effects[effect] = {now_, undoable};
  member.parent = by.parent_pid();
  member.last = effect;
  member.last_step = step;
}

void Checkers::OnBypass(ProcId root) {
  trees_[root].bypassed = true;
  ForgetUses([root](const Use& use) { return use.root == root; });
}

void Checkers::OnFinished(const procedure::ProcedureInfo& info) {
  const auto tree = trees_.find(info.root);
  if (tree == trees_.end()) return;  // it had no effect
  Member& member = tree->second.members[info.pid];
  if (member.finished) Violation(fmt::format("one end: pid {} ended twice", info.pid));
  member.finished = true;
  const bool whole_tree = !info.parent.valid();
  ForgetUses([&](const Use& use) { return use.pid == info.pid || (whole_tree && use.root == info.root); });
}

void Checkers::OnReload(const std::unordered_set<ProcId>& unfinished,
                        const std::map<std::string, std::string>& system_records) {
  for (auto& [root, tree] : trees_) {
    for (auto& [pid, member] : tree.members) member.finished = member.finished || !unfinished.contains(pid);
    for (const auto& [effect, pid] : tree.system_puts) {
      if (!tree.steered && tree.members[pid].last_step > StepOf(effect) && !system_records.contains(effect)) {
        Violation(fmt::format("system record: {} is missing although pid {} has gone on", effect, pid));
      }
    }
  }
  ForgetUses([&](const Use& use) { return !unfinished.contains(use.pid.valid() ? use.pid : use.root); });
}

void Checkers::OnResult(ProcId pid, const ProcedureResult& result) {
  if (!result.finished()) return;
  const std::string text =
      result.status == ProcedureResult::Status::kSuccess ? "success" : "failed: " + result.error->ToString();
  const auto [known, fresh] = results_.emplace(pid, text);
  if (!fresh && known->second != text) {
    Violation(fmt::format("one end: pid {} ended as '{}' and as '{}'", pid, known->second, text));
  }
}

void Checkers::OnTreeEnd(ProcId root, const std::string& name, bool success, testing::Journal& journal) {
  Tree& tree = trees_[root];
  if (!success && !tree.bypassed) {
    std::string left;
    for (const std::string& effect : journal.InForceOf(name)) {
      const auto known = tree.effects.find(effect);
      if (known == tree.effects.end() || known->second.undoable) left += " " + effect;
    }
    if (!left.empty()) Violation(fmt::format("effects: pid {} was undone, but left{}", root, left));
  }
  if (tree.undoing) --undoing_;
  trees_.erase(root);
  ended_.insert(root);
  journal.ForgetPrefix(name);
}

void Checkers::OnNonce(std::uint64_t nonce, ProcId pid) {
  const auto [known, fresh] = nonces_.emplace(nonce, pid);
  if (fresh) {
    if (!pids_of_nonces_.insert(pid).second) Violation(fmt::format("nonces: pid {} answers two nonces", pid));
  } else if (known->second != pid) {
    Violation(fmt::format("nonces: {} was answered with pid {} and pid {}", nonce, known->second, pid));
  }
}

}  // namespace ratchet::sim
