#include "procedure/engine/activity_watch.h"

#include <memory>
#include <utility>

namespace ratchet::procedure {
namespace {

constexpr Millis kGather{20};
constexpr std::size_t kMostWatches = 1'000;  // further ones are answered at once, without entries

void Answer(ExecutorLock& held, const std::shared_ptr<ActivityWatch>& watch) {
  held.core().deps.timers.Cancel(watch->timer);
  held.Later([watch, batch = held->events.After(watch->after, watch->limit)]() mutable {
    std::exchange(watch->done, nullptr)(std::move(batch));
  });
}

}  // namespace

void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done) {
  ExecutorLock held(core);
  ActivityBatch now = held->events.After(after, limit);
  const bool nothing = now.events.empty() && now.lost == 0;
  if (!nothing || patience <= Millis{0} || held->stopping || held->activity_watches.size() >= kMostWatches) {
    held.Later([done = std::move(done), now = std::move(now)]() mutable { done(std::move(now)); });
    held.Finish();
    return;
  }
  auto watch = std::make_shared<ActivityWatch>();
  watch->after = now.last;  // a larger one belongs to another executor
  watch->limit = limit;
  watch->done = std::move(done);
  held->activity_watches.push_back(watch);
  watch->timer = core.deps.timers.After(patience, [weak = core.weak_from_this(), watch] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    if (std::erase(inner->activity_watches, watch) > 0) Answer(inner, watch);
    inner.Finish();
  });
  held.Finish();
}

void ActivityAdded(ExecutorLock& held) {
  if (held->activity_watches.empty() || held->gathering_activity) return;
  held->gathering_activity = true;
  held.core().deps.timers.After(kGather, [weak = held.core().weak_from_this()] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    inner->gathering_activity = false;
    AnswerWatches(inner);
    inner.Finish();
  });
}

void AnswerWatches(ExecutorLock& held) {
  for (const auto& watch : std::exchange(held->activity_watches, {})) Answer(held, watch);
}

}  // namespace ratchet::procedure
