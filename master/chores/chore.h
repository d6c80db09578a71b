// One piece of periodic work of an active master, and how its runs are shown. ActiveMaster lists all of them in one
// table; master/process/chore_threads.h runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"

namespace ratchet::master {

struct Chore {
  std::string name;
  Live<Millis> period;  // from the end of a run, or of the start, to the next run
  std::function<void()> run;
  // A chore that may wait for the storage has a thread of its own, and delays no other chore.
  bool blocks = false;
};

struct ChoreView {
  std::string name;
  Millis period{0};
  std::uint64_t runs = 0;            // complete ones
  std::optional<TimePoint> begun{};  // of the last run; nullopt: none has begun
  Millis took{0};                    // of the last complete run
  bool running = false;
};

}  // namespace ratchet::master
