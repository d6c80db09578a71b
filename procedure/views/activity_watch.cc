#include "procedure/views/activity_watch.h"

#include <memory>
#include <utility>

namespace ratchet::procedure {
namespace {

constexpr Millis kGather{20};
constexpr std::size_t kMostWatches = 1'000;  // more are answered at once, with nothing

void Answer(Session& session, const std::shared_ptr<ActivityWatch>& watch) {
  session.core().deps.timers.Cancel(watch->timer);
  session.Later([watch, batch = session->events.After(watch->after, watch->limit)]() mutable {
    std::exchange(watch->done, nullptr)(std::move(batch));
  });
}

}  // namespace

void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done) {
  Session session(core);
  ActivityBatch now = session->events.After(after, limit);
  const bool nothing = now.events.empty() && now.lost == 0;
  if (!nothing || patience <= Millis{0} || session->stopping || session->activity_watches.size() >= kMostWatches) {
    session.Later([done = std::move(done), now = std::move(now)]() mutable { done(std::move(now)); });
    return;
  }
  auto watch = std::make_shared<ActivityWatch>();
  watch->after = now.last;  // a larger one belongs to another life
  watch->limit = limit;
  watch->done = std::move(done);
  session->activity_watches.push_back(watch);
  watch->timer = core.deps.timers.After(patience, [weak = core.weak_from_this(), watch] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    Session inner(*alive);
    if (std::erase(inner->activity_watches, watch) > 0) Answer(inner, watch);
  });
}

void ActivityAdded(Session& session) {
  if (session->activity_watches.empty() || session->gathering_activity) return;
  session->gathering_activity = true;
  session.core().deps.timers.After(kGather, [weak = session.core().weak_from_this()] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    Session inner(*alive);
    inner->gathering_activity = false;
    AnswerWatches(inner);
  });
}

void AnswerWatches(Session& session) {
  for (const auto& watch : std::exchange(session->activity_watches, {})) Answer(session, watch);
}

}  // namespace ratchet::procedure
