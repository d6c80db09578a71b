// A CrashStore with a writer thread of its own, as the real store has: for tests with real threads.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "common/base/thread_name.h"
#include "tests/support/crash_store.h"

namespace ratchet::testing {

class AsyncStore final : public procedure::ProcedureStore {
 public:
  explicit AsyncStore(StoredState& disk, CrashPlan plan = {}) : inner_(disk, plan), writer_([this] { Write(); }) {}
  ~AsyncStore() override { Stop(); }

  Result<procedure::LoadedState> Claim() override { return inner_.Claim(); }
  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override {
    MutexLock lock(mutex_);
    queue_.emplace_back(std::move(batch), std::move(done));
    wake_.NotifyOne();
  }
  bool AnnounceGroups(std::function<void()> ended) override {
    group_ended_ = std::move(ended);
    return true;
  }
  Status Check() override { return inner_.Check(); }
  std::uint64_t NextSequence() override { return inner_.NextSequence(); }
  Status Admit() override { return Ok(); }
  void Stop() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      wake_.NotifyAll();
    }
    if (writer_.joinable()) writer_.join();
  }
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return {}; }

 private:
  using Item = std::pair<procedure::StoreBatch, procedure::CommitDone>;

  void Write() {
    SetThreadName("store-writer");
    while (true) {
      std::deque<Item> group;
      {
        MutexLock lock(mutex_);
        while (queue_.empty() && !stopping_) wake_.Wait(mutex_);
        if (queue_.empty()) return;
        group.swap(queue_);
      }
      for (Item& item : group) inner_.Commit(std::move(item.first), std::move(item.second));
      if (group_ended_) group_ended_();
    }
  }

  CrashStore inner_;
  std::function<void()> group_ended_;  // constant after Claim
  Mutex mutex_;
  CondVar wake_;
  std::deque<Item> queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread writer_;
};

}  // namespace ratchet::testing
