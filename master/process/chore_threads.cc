#include "master/process/chore_threads.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

struct ChoreThreads::Entry {
  Chore chore;
  TimePoint counted_from{};  // the end of the last run, or the start
  std::vector<std::function<void(bool ran)>> waiting{};
};

// One thread and its chores.
class ChoreThreads::Lane {
 public:
  Lane(std::string name, const Clock& clock) : name_(std::move(name)), clock_(clock) {}
  ~Lane() { Stop(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  std::size_t Add(Chore chore) {
    const MutexLock lock(mutex_);
    entries_.push_back({.chore = std::move(chore), .counted_from = clock_.Now()});
    return entries_.size() - 1;
  }

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  void Stop() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
  }

  bool RunSoon(std::size_t number, std::function<void(bool ran)> done) {
    const MutexLock lock(mutex_);
    Entry& entry = entries_[number];
    if (stopping_ || entry.waiting.size() >= kMostWaiting) return false;
    entry.waiting.push_back(std::move(done));
    changed_.NotifyAll();
    return true;
  }

 private:
  using Waiting = std::vector<std::function<void(bool ran)>>;

  // Waits until a chore is due, and returns its number; when the lane stops, the number of chores.
  std::size_t NextDue() REQUIRES(mutex_) {
    while (!stopping_) {
      const TimePoint now = clock_.Now();
      std::size_t first = 0;
      for (std::size_t i = 1; i < entries_.size(); ++i) {
        if (DueOf(entries_[i]) < DueOf(entries_[first])) first = i;
      }
      const TimePoint due = DueOf(entries_[first]);
      if (due <= now) return first;
      changed_.WaitFor(mutex_, due - now);
    }
    return entries_.size();
  }

  static TimePoint DueOf(const Entry& entry) {
    return entry.waiting.empty() ? entry.counted_from + entry.chore.period.Get() : TimePoint{};
  }

  void Run() {
    SetThreadName(name_);
    while (true) {
      Waiting waiting;
      const std::function<void()>* run = nullptr;
      std::size_t number = 0;
      {
        const MutexLock lock(mutex_);
        number = NextDue();
        if (number == entries_.size()) break;
        Entry& entry = entries_[number];
        run = &entry.chore.run;
        waiting.swap(entry.waiting);
      }
      (*run)();
      {
        const MutexLock lock(mutex_);
        entries_[number].counted_from = clock_.Now();
      }
      for (const auto& done : waiting) done(true);
    }
    Waiting dropped;
    {
      const MutexLock lock(mutex_);
      for (Entry& entry : entries_) std::move(entry.waiting.begin(), entry.waiting.end(), std::back_inserter(dropped));
    }
    for (const auto& done : dropped) done(false);
  }

  const std::string name_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);  // none is added after Start
  std::thread thread_;
};

ChoreThreads::ChoreThreads(const Clock& clock, std::vector<Chore> chores) {
  Lane* shared = nullptr;
  for (Chore& chore : chores) {
    if (chore.blocks || shared == nullptr) {
      lanes_.push_back(std::make_unique<Lane>(chore.blocks ? chore.name : "chores", clock));
      if (!chore.blocks) shared = lanes_.back().get();
    }
    Lane* lane = chore.blocks ? lanes_.back().get() : shared;
    std::string name = chore.name;
    chores_.emplace(std::move(name), std::pair(lane, lane->Add(std::move(chore))));
  }
  for (const auto& lane : lanes_) lane->Start();
}

ChoreThreads::~ChoreThreads() { Stop(); }

void ChoreThreads::Stop() {
  for (const auto& lane : lanes_) lane->Stop();
}

bool ChoreThreads::RunSoon(std::string_view name, std::function<void(bool ran)> done) {
  const auto found = chores_.find(name);
  RATCHET_CHECK(found != chores_.end(), "no chore {}", name);
  const auto& [lane, number] = found->second;
  return lane->RunSoon(number, std::move(done));
}

}  // namespace ratchet::master
