// Runs the chores of an active master: one thread for all chores that do not block, and one for each that may wait for
// the storage. A chore never runs twice at a time.
//
// Thread-safe. The chores outlive this, or Stop is called before they end.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "master/chores/chore.h"

namespace ratchet::master {

class ChoreThreads {
 public:
  // The threads begin at once; the first run of each chore follows after its period.
  ChoreThreads(const Clock& clock, std::vector<Chore> chores);
  ~ChoreThreads();  // Stop()
  ChoreThreads(const ChoreThreads&) = delete;
  ChoreThreads& operator=(const ChoreThreads&) = delete;
  // Waits for running chores.
  void Stop();
  // Runs the chore now, or after its current run, and then calls `done` on its thread, with false if the threads stop
  // before. Returns false, and calls nothing, if kMostWaiting callers wait already or the threads have stopped.
  [[nodiscard]] bool RunSoon(std::string_view name, std::function<void(bool ran)> done);
  static constexpr std::size_t kMostWaiting = 64;

 private:
  struct Entry;
  class Lane;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<std::string, std::pair<Lane*, std::size_t>, std::less<>> chores_;  // by name: the lane, and the number there
};

}  // namespace ratchet::master
