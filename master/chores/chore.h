// One piece of periodic work of an active master. ActiveMaster lists all of them in one table;
// master/process/chore_threads.h runs them.
#pragma once

#include <functional>
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

}  // namespace ratchet::master
