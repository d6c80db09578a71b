// Readers of the event stream who wait for what comes next: nothing is asked again and again, and no thread waits.
//
// The first event begins a short pause, so that a busy stream makes few large answers and not one for each event; the
// answers are made on the timers' thread, not on the one that completes commits.
#pragma once

#include <functional>

#include "procedure/core.h"

namespace ratchet::procedure {

// Executor::WatchEvents.
void WatchEvents(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                 std::function<void(EventBatch)> done);

// Something was added to the stream.
void EventAdded(Session& session);

// The executor stops: whoever waits gets what there is.
void AnswerWatches(Session& session);

}  // namespace ratchet::procedure
