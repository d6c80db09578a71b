// Readers of the activity stream that wait for the next entry: they do not poll, and no thread waits.
//
// The first entry starts a short delay, so that a busy stream makes few large answers and not one for each event. The
// answers are made on the timers' thread, not on the one that completes commits.
#pragma once

#include <functional>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::WatchActivity.
void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done);

// An entry was added to the stream.
void ActivityAdded(ExecutorLock& held);

// The executor stops: answers waiting readers with the entries that exist.
void AnswerWatches(ExecutorLock& held);

}  // namespace ratchet::procedure
