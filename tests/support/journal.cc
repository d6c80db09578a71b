#include "tests/support/journal.h"

#include <algorithm>

namespace ratchet::testing {

void Journal::Do(const std::string& effect, const procedure::Procedure& by) {
  {
    MutexLock lock(mutex_);
    in_force_.insert(effect);
    if (logging_) log_.push_back("+" + effect);
  }
  Observe('+', effect, by);
}

void Journal::Undo(const std::string& effect, const procedure::Procedure& by) {
  {
    MutexLock lock(mutex_);
    in_force_.erase(effect);
    if (logging_) log_.push_back("-" + effect);
  }
  Observe('-', effect, by);
}

bool Journal::InForce(const std::string& effect) const {
  MutexLock lock(mutex_);
  return in_force_.contains(effect);
}

std::vector<std::string> Journal::InForceOf(const std::string& prefix) const {
  MutexLock lock(mutex_);
  return {in_force_.lower_bound(prefix), in_force_.upper_bound(prefix + '\x7f')};
}

bool Journal::UndoMustFail(const std::string& effect) const {
  MutexLock lock(mutex_);
  const auto found = undo_failures_.find(effect);
  return found != undo_failures_.end() && found->second > 0;
}

bool Journal::AsyncPending(const std::string& name) const {
  MutexLock lock(mutex_);
  return std::any_of(async_.begin(), async_.end(), [&name](const auto& work) { return work.first == name; });
}

void Journal::ForgetPrefix(const std::string& prefix) {
  MutexLock lock(mutex_);
  const auto matches = [&prefix](const std::string& text) { return text.find(prefix) != std::string::npos; };
  in_force_.erase(in_force_.lower_bound(prefix), in_force_.upper_bound(prefix + '\x7f'));
  std::erase_if(seen_, matches);
  std::erase_if(undo_failures_, [&matches](const auto& entry) { return matches(entry.first); });
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

bool Journal::ConsumeUndoFailure(const std::string& effect) {
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
    if (logging_) log_.push_back("?" + name);
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
  staying_.clear();
}

void Journal::Stays(ProcId pid) {
  MutexLock lock(mutex_);
  staying_.insert(pid);
}

bool Journal::ConsumeStay(ProcId pid) {
  MutexLock lock(mutex_);
  return staying_.erase(pid) > 0;
}

}  // namespace ratchet::testing
