#include "master/process/silence_judge.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "common/base/mutant.h"

namespace ratchet::master {

Millis SilenceJudge::SilenceOf(const Server& server, TimePoint now) {
  return server.pulse == 0 ? Millis{0} : std::chrono::duration_cast<Millis>(now - server.since);
}

SilenceJudge::Actions SilenceJudge::Tick(const std::vector<ServerName>& online, TimePoint now) {
  SetOnline(online, now);
  if (!NoteTick(now) && !RATCHET_MUTANT("master.silence_while_late")) {
    late_ = true;
    for (auto& [name, server] : servers_) server.since = now;
  }
  Actions actions;
  actions.judgement = Judge(now);
  if (!open_.has_value()) actions.inquiry = Suspect(now);
  actions.pulses = DuePulses(now);
  return actions;
}

void SilenceJudge::SetOnline(const std::vector<ServerName>& online, TimePoint now) {
  const std::set<ServerName> names(online.begin(), online.end());
  std::erase_if(servers_, [&](const auto& entry) { return !names.contains(entry.first); });
  for (const ServerName& name : names) {
    if (servers_.size() >= kMostServers) break;
    servers_.try_emplace(name, Server{.sent = now - kPulse, .since = now});
  }
}

// Returns false if this tick is late.
bool SilenceJudge::NoteTick(TimePoint now) {
  const bool in_time = !last_tick_.has_value() || now - *last_tick_ <= kTick + kLate;
  last_tick_ = now;
  return in_time;
}

// Sends at most kPulsesPerMilli: in a large cluster each server gets fewer pulses.
std::vector<SilenceJudge::Pulse> SilenceJudge::DuePulses(TimePoint now) {
  const auto most = static_cast<std::size_t>(kTick.count()) * kPulsesPerMilli;
  const Millis apart = std::max(kPulse, Millis(servers_.size() / kPulsesPerMilli));
  std::vector<Pulse> due;
  auto entry = servers_.upper_bound(last_pulsed_);
  for (std::size_t looked = 0; looked < servers_.size() && due.size() < most; ++looked, ++entry) {
    if (entry == servers_.end()) entry = servers_.begin();
    auto& [name, server] = *entry;
    if (server.pulse != 0 || now - server.sent < apart) continue;
    server.pulse = ++numbers_;
    server.sent = server.since = now;
    due.push_back({name, server.pulse});
    last_pulsed_ = name;
  }
  return due;
}

bool SilenceJudge::Ready(TimePoint now) const {
  return !servers_.empty() && std::all_of(servers_.begin(), servers_.end(), [now](const auto& entry) {
    return entry.second.waits.Limit(now).has_value();
  });
}

void SilenceJudge::PulseEnded(const Pulse& pulse, rpc::PulseEnd end, TimePoint now) {
  const auto found = servers_.find(pulse.server);
  if (found == servers_.end() || found->second.pulse != pulse.number) return;
  Server& server = found->second;
  // A wait without an answer counts too, so a server that survives it gets more time.
  if (end != rpc::PulseEnd::kUnclear) server.waits.Add(std::chrono::duration_cast<Millis>(now - server.sent), now);
  server.pulse = 0;
}

void SilenceJudge::WitnessEnded(std::uint64_t inquiry, std::size_t witness, rpc::PulseEnd end) {
  if (open_.has_value() && open_->inquiry.number == inquiry) open_->found.at(witness) = end;
}

std::size_t SilenceJudge::Overdue(TimePoint now) const {
  return static_cast<std::size_t>(std::count_if(servers_.begin(), servers_.end(), [&](const auto& entry) {
    const auto limit = entry.second.waits.Limit(now).value_or(WaitBook::kFloor);
    return SilenceOf(entry.second, now) > limit / 2;
  }));
}

// Returns servers that answer themselves, on other addresses than the suspect's. So silence alone has no effect while
// fewer than three servers are online.
std::optional<std::array<ServerName, 2>> SilenceJudge::Witnesses(const ServerName& suspect, TimePoint now) {
  std::vector<ServerName> fit;
  for (const auto& [name, server] : servers_) {
    if (name.host == suspect.host && name.port == suspect.port) continue;
    if (SilenceOf(server, now) <= WaitBook::kFloor / 2) fit.push_back(name);
  }
  if (fit.size() < 2) return std::nullopt;
  ++turn_;
  return std::array{fit[turn_ % fit.size()], fit[(turn_ + 1) % fit.size()]};
}

std::optional<SilenceJudge::Inquiry> SilenceJudge::Suspect(TimePoint now) {
  auto longest = servers_.end();
  for (auto entry = servers_.begin(); entry != servers_.end(); ++entry) {
    Server& server = entry->second;
    const Millis silence = SilenceOf(server, now);
    if (silence <= WaitBook::kFloor || now < server.next_inquiry) continue;
    const auto limit = server.waits.Limit(now);
    if (!limit.has_value() || silence <= *limit) continue;
    if (longest == servers_.end() || silence > SilenceOf(longest->second, now)) longest = entry;
  }
  if (longest == servers_.end()) return std::nullopt;
  longest->second.next_inquiry = now + kInquiriesApart;
  const auto others = Witnesses(longest->first, now);
  if (!others.has_value()) return std::nullopt;
  late_ = false;
  open_ = Open{{++numbers_, longest->first, *others}, longest->second.pulse, now, {}};
  return open_->inquiry;
}

std::optional<SilenceJudge::Judgement> SilenceJudge::Judge(TimePoint now) {
  if (!open_.has_value()) return std::nullopt;
  const bool complete =
      std::all_of(open_->found.begin(), open_->found.end(), [](const auto& found) { return found.has_value(); });
  if (!complete && now - open_->begun < kAnswersWithin) return std::nullopt;
  const Open open = *std::exchange(open_, std::nullopt);
  Judgement judgement{open.inquiry.suspect, VerdictOn(open, now), Millis{0}, Millis{0}, open.inquiry.others};
  if (const auto found = servers_.find(judgement.suspect); found != servers_.end()) {
    judgement.silent = SilenceOf(found->second, now);
    judgement.limit = found->second.waits.Limit(now).value_or(Millis{0});
  }
  return judgement;
}

SilenceJudge::Verdict SilenceJudge::VerdictOn(const Open& open, TimePoint now) const {
  const auto found = servers_.find(open.inquiry.suspect);
  if (found == servers_.end() || found->second.pulse != open.pulse) return Verdict::kAnswered;
  if (late_ || now - open.begun > kAnswersWithin + kTick + kLate) return Verdict::kLate;
  if (Overdue(now) > std::max<std::size_t>(1, servers_.size() / 3)) return Verdict::kTooMany;
  const bool all =
      std::all_of(open.found.begin(), open.found.end(), [](const auto& end) { return end == rpc::PulseEnd::kSilent; });
  return all || RATCHET_MUTANT("master.believe_own_silence") ? Verdict::kSilent : Verdict::kNotConfirmed;
}

}  // namespace ratchet::master
