#include "master/process/silence_watch.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

using Verdict = SilenceJudge::Verdict;

struct SilenceWatch::State {
  Mutex mutex;
  CondVar changed;
  SilenceJudge judge GUARDED_BY(mutex);
  Counts counts GUARDED_BY(mutex);
  bool stopping GUARDED_BY(mutex) = false;
};

SilenceWatch::SilenceWatch(Deps deps) : deps_(std::move(deps)), state_(std::make_shared<State>()) {}

SilenceWatch::~SilenceWatch() { Stop(); }

void SilenceWatch::Start() {
  thread_ = std::thread([this] { Work(); });
}

void SilenceWatch::Stop() {
  {
    const MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

SilenceWatch::Counts SilenceWatch::counts() const {
  const MutexLock lock(state_->mutex);
  return state_->counts;
}

void SilenceWatch::Work() {
  SetThreadName("silence-watch");
  while (true) {
    Tick();
    const TimePoint next = deps_.clock.Now() + SilenceJudge::kTick;
    const MutexLock lock(state_->mutex);
    while (!state_->stopping) {
      const auto left = std::chrono::ceil<Millis>(next - deps_.clock.Now());
      if (left <= Millis{0}) break;
      state_->changed.WaitFor(state_->mutex, left);
    }
    if (state_->stopping) return;
  }
}

void SilenceWatch::Tick() {
  const std::vector<ServerName> online = deps_.online();
  SilenceJudge::Actions actions;
  {
    const MutexLock lock(state_->mutex);
    const TimePoint now = deps_.clock.Now();
    actions = state_->judge.Tick(online, now);
    if (!told_ready_ && state_->judge.Ready(now)) {
      told_ready_ = true;
      RATCHET_LOG(kInfo, "Silence detection: enough answers of {} servers are known", online.size());
    }
  }
  if (actions.judgement.has_value()) Settle(*actions.judgement);
  if (actions.inquiry.has_value()) Inquire(*actions.inquiry);
  for (const SilenceJudge::Pulse& pulse : actions.pulses) {
    deps_.pulse(pulse.server, [state = state_, pulse, &clock = deps_.clock](rpc::PulseEnd end) {
      const MutexLock lock(state->mutex);
      if (!state->stopping) state->judge.PulseEnded(pulse, end, clock.Now());
    });
  }
}

void SilenceWatch::Inquire(const SilenceJudge::Inquiry& inquiry) {
  const auto witness = [&](std::size_t which) -> Done {
    return [state = state_, number = inquiry.number, which](rpc::PulseEnd end) {
      const MutexLock lock(state->mutex);
      state->judge.WitnessEnded(number, which, end);
    };
  };
  deps_.ask_self(inquiry.suspect, witness(0));
  deps_.ask_other(inquiry.others[0], inquiry.suspect, witness(1));
  deps_.ask_other(inquiry.others[1], inquiry.suspect, witness(2));
}

void SilenceWatch::Settle(const SilenceJudge::Judgement& judgement) {
  const auto count = [this](std::uint64_t Counts::*of) {
    const MutexLock lock(state_->mutex);
    ++(state_->counts.*of);
  };
  const std::string suspect = judgement.suspect.ToString();
  switch (judgement.verdict) {
    case Verdict::kAnswered: return count(&Counts::answered);
    case Verdict::kLate:
      RATCHET_LOG(kInfo, "{} did not answer, but this master was late itself, so ZooKeeper decides", suspect);
      return count(&Counts::late);
    case Verdict::kNotConfirmed:
      RATCHET_LOG(kInfo,
                  "{} has not answered for {} ms (limit {} ms); not all of this master, {} and {} confirm it, so "
                  "ZooKeeper decides",
                  suspect, judgement.silent.count(), judgement.limit.count(), judgement.others[0].ToString(),
                  judgement.others[1].ToString());
      return count(&Counts::not_confirmed);
    case Verdict::kSilent:
      if (deps_.believe()) break;
      [[fallthrough]];
    case Verdict::kTooMany:
      RATCHET_LOG(kWarn, "{} is silent, but too many servers are, or too few are online, so ZooKeeper decides",
                  suspect);
      return count(&Counts::too_many);
  }
  deps_.expire(judgement.suspect,
               fmt::format("silent: no answer for {} ms (limit {} ms), and none to this master, {} and {} on other "
                           "connections",
                           judgement.silent.count(), judgement.limit.count(), judgement.others[0].ToString(),
                           judgement.others[1].ToString()));
  count(&Counts::silent);
}

}  // namespace ratchet::master
