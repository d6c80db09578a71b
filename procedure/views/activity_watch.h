// Readers of the activity stream that wait for what comes next: nothing is asked again and again, and no thread waits.
//
// The first entry begins a short pause, so that a busy stream makes few large answers and not one for each event; the
// answers are made on the timers' thread, not on the one that completes commits.
#pragma once

#include <functional>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Executor::WatchActivity.
void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done);

// Something was added to the stream.
void ActivityAdded(Session& session);

// The executor stops: a waiting reader gets what there is.
void AnswerWatches(Session& session);

}  // namespace ratchet::procedure
