#include "tests/sim/checkers.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::sim {

using procedure::LockMode;
using procedure::LockRequest;
using procedure::ProcedureResult;

void Checkers::Violation(std::string text) { violations_.push_back(std::move(text)); }

void Checkers::CheckExclusion(const procedure::Procedure& by) {
  const std::vector<LockRequest> locks = by.Locks().Expanded();
  for (const LockRequest& lock : locks) {
    std::vector<Use>& uses = uses_[lock.key];
    bool known = false;
    for (const Use& use : uses) {
      if (use.pid == by.pid()) known = true;
      if (use.root == by.root_pid()) continue;
      if (use.mode == LockMode::kExclusive || lock.mode == LockMode::kExclusive) {
        Violation(fmt::format("exclusion: pid {} acts on {} while pid {} holds it", by.pid(), lock.key.ToString(), use.pid));
      }
    }
    if (by.HoldLocks() && !known) uses.push_back({by.pid(), by.root_pid(), lock.mode});
  }
}

void Checkers::CheckUndoOrder(const std::string& effect, const procedure::Procedure& by) {
  auto& tree = effects_[by.root_pid()];
  const auto mine = tree.find(effect);
  if (mine == tree.end()) return;  // it did nothing, or was taken back before a crash
  const Member& member = members_[by.pid()];
  const bool interrupted = !member.finished && member.last == effect;
  if (!interrupted) {
    for (const auto& [name, other] : tree) {
      if (other.undoable && other.at > mine->second.at) {
        Violation(fmt::format("undo order: {} is taken back before {}, which came later", effect, name));
      }
    }
  }
  tree.erase(mine);
}

void Checkers::OnEffect(char sign, const std::string& effect, const procedure::Procedure& by) {
  ++now_;
  if (sign == '-') {
    CheckUndoOrder(effect, by);
    return;
  }
  CheckExclusion(by);
  const auto step = static_cast<procedure::StepNo>(effect.back() - '0');
  const procedure::StepRow* row = by.FindRow(step);
  effects_[by.root_pid()][effect] = {now_, row != nullptr && row->undo == procedure::UndoKind::kCall};
  Member& member = members_[by.pid()];
  if (member.finished) Violation(fmt::format("pid {} acts after its end: {}", by.pid(), effect));
  member.last = effect;
  member.last_at = now_;
}

void Checkers::OnFinished(const procedure::ProcedureInfo& info) {
  Member& member = members_[info.pid];
  if (member.finished) Violation(fmt::format("pid {} ended twice", info.pid));
  member.finished = true;
  for (auto& [key, uses] : uses_) {
    std::erase_if(uses, [&info](const Use& use) { return use.pid == info.pid; });
    // The whole tree is gone with its root.
    if (!info.parent.valid()) std::erase_if(uses, [&info](const Use& use) { return use.root == info.pid; });
  }
}

void Checkers::OnReload(const std::vector<procedure::ProcedureInfo>& all) {
  std::set<ProcId> unfinished;
  for (const procedure::ProcedureInfo& info : all) {
    if (!IsTerminal(info.state)) {
      unfinished.insert(info.pid);
    } else {
      members_[info.pid].finished = true;  // its end became durable, but nobody was told
    }
  }
  for (auto& [key, uses] : uses_) {
    std::erase_if(uses, [&unfinished](const Use& use) { return !unfinished.contains(use.pid); });
  }
}

void Checkers::OnResult(ProcId pid, const ProcedureResult& result) {
  if (!result.finished()) return;
  const std::string text = result.status == ProcedureResult::Status::kSuccess ? "success" : "failed: " + result.error->ToString();
  const auto [known, fresh] = results_.emplace(pid, text);
  if (!fresh && known->second != text) {
    Violation(fmt::format("pid {} ended as '{}' and as '{}'", pid, known->second, text));
  }
}

void Checkers::OnTreeEnd(ProcId root, const std::string& tree, bool success, testing::Journal& journal) {
  std::string left;
  for (const auto& [name, effect] : effects_[root]) {
    if (effect.undoable && !success && journal.InForce(name)) left += " " + name;
  }
  if (!left.empty()) Violation(fmt::format("pid {} was undone, but left{}", root, left));
  effects_.erase(root);
  journal.ForgetPrefix(tree);
}

void Checkers::OnNonce(std::uint64_t nonce, ProcId pid) {
  const auto [known, fresh] = nonces_.emplace(nonce, pid);
  if (fresh) {
    if (!pids_of_nonces_.insert(pid).second) Violation(fmt::format("pid {} answers two nonces", pid));
  } else if (known->second != pid) {
    Violation(fmt::format("nonce {} was answered with pid {} and pid {}", nonce, known->second, pid));
  }
}

}  // namespace ratchet::sim
