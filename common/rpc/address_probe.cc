#include "common/rpc/address_probe.h"

#include <chrono>

#include "common/base/mutant.h"
#include "common/base/name_resolver.h"
#include "common/io/connect_socket.h"

namespace ratchet::rpc {
namespace {

ConnectOutcome OutcomeOf(io::ConnectEnd end) {
  switch (end) {
    case io::ConnectEnd::kConnected: return ConnectOutcome::kAccepted;
    case io::ConnectEnd::kRefused: return ConnectOutcome::kRefused;
    case io::ConnectEnd::kFailed:
    case io::ConnectEnd::kTimeout:
      return RATCHET_MUTANT("rpc.silence_is_refusal") ? ConnectOutcome::kRefused : ConnectOutcome::kUnclear;
    case io::ConnectEnd::kNotNumeric:
    case io::ConnectEnd::kNoSocket: break;  // no finding about the other side
  }
  return ConnectOutcome::kUnclear;
}

}  // namespace

std::optional<ProbeVerdict> ProbeSeries::Take(ProbeFinding finding, Millis at) {
  ++done_;
  switch (finding) {
    case ProbeFinding::kSame:
      return RATCHET_MUTANT("rpc.an_answer_is_an_end") ? ProbeVerdict::kGone : ProbeVerdict::kAlive;
    case ProbeFinding::kYounger: return ProbeVerdict::kGone;
    case ProbeFinding::kUnclear: refused_at_.reset(); break;
    case ProbeFinding::kRefused:
      if (!refused_at_.has_value()) refused_at_ = at;
      if (at - *refused_at_ >= kApart) return ProbeVerdict::kGone;
      break;
  }
  if (done_ == kAt.size()) return ProbeVerdict::kNoFinding;
  return std::nullopt;
}

ProbeVerdict RunProbeSeries(const Clock& clock, const std::function<ProbeFinding()>& probe,
                            const std::function<bool(Millis)>& pause) {
  const TimePoint begun = clock.Now();
  const auto since = [&] { return std::chrono::duration_cast<Millis>(clock.Now() - begun); };
  ProbeSeries series;
  for (;;) {
    const Millis wait = series.next_at() - since();
    if (wait > Millis{0} && !pause(wait)) return ProbeVerdict::kNoFinding;
    const Millis at = since();
    if (const auto verdict = series.Take(probe(), at)) return *verdict;
  }
}

ConnectOutcome TryConnect(const std::string& host, std::uint16_t port, Millis patience) {
  const auto addresses = NameResolver::OfProcess().ResolveWithin(host, patience);
  if (!addresses.ok() || addresses->empty()) return ConnectOutcome::kUnclear;
  bool refused = true;
  for (const std::string& address : *addresses) {
    const ConnectOutcome outcome = OutcomeOf(io::ConnectTo(address, port, SystemClock().Now() + patience).end);
    if (outcome == ConnectOutcome::kAccepted) return outcome;
    refused &= outcome == ConnectOutcome::kRefused;
  }
  return refused ? ConnectOutcome::kRefused : ConnectOutcome::kUnclear;
}

}  // namespace ratchet::rpc
