#include "chaos/verdict/early_findings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "chaos/report/timeline.h"
#include "chaos/verdict/settled.h"
#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

using What = ProcessChange::What;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::string_view kRefused = "connection refused";
constexpr std::string_view kSilent = "silent";
constexpr std::array<std::string_view, 5> kReasons{"session ended", kRefused, kSilent, "goodbye", "operator"};
constexpr std::string_view kIsExpired = " is expired: ";
constexpr std::string_view kIsGone = " is gone: ";

// The text behind "... [thread] "; empty for lines of another form.
std::string_view TextOf(std::string_view line) {
  const auto thread = line.find("] ");
  return thread == std::string_view::npos ? std::string_view() : line.substr(thread + 2);
}

std::string_view UpTo(std::string_view text, std::string_view end) { return text.substr(0, text.find(end)); }

// Returns the name that this line gives to the process; empty for other lines.
std::string_view NameIn(std::string_view text) {
  constexpr std::string_view kServer = "Start: this server is ";
  constexpr std::string_view kMaster = "Master ";
  if (text.starts_with(kServer)) return UpTo(text.substr(kServer.size()), " ");
  if (!text.starts_with(kMaster)) return {};
  const std::string_view name = UpTo(text.substr(kMaster.size()), " ");
  return text.substr(kMaster.size() + name.size()).starts_with(" of cluster ") ? name : std::string_view();
}

std::string ReasonOf(std::string_view why) {
  const std::string_view said = UpTo(why, ":");
  return std::string(std::find(kReasons.begin(), kReasons.end(), said) == kReasons.end() ? "other" : said);
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsEarly(const LoggedDeath& death) { return death.reason == kRefused || death.reason == kSilent; }

// The two servers of "silent: ..., and none to this master, A and B on other connections".
std::vector<std::string> OtherWitnesses(std::string_view why) {
  constexpr std::string_view kBegin = "none to this master, ";
  const auto at = why.find(kBegin);
  if (at == std::string_view::npos) return {};
  const std::string_view names = UpTo(why.substr(at + kBegin.size()), " on other connections");
  const auto between = names.find(" and ");
  if (between == std::string_view::npos) return {};
  return {std::string(names.substr(0, between)), std::string(names.substr(between + 5))};
}

class Judge {
 public:
  explicit Judge(const EarlyEvidence& evidence) : evidence_(evidence) {
    for (const LoggedLife& life : evidence.lives) lives_[life.server] = &life;
  }

  EarlyVerdict Run() {
    for (const LoggedDeath& death : evidence_.deaths) {
      if (!death.of_master) ++figures_.by_reason[death.reason];
      if (!IsEarly(death)) continue;
      ++figures_.early;
      if (death.of_master) ++figures_.early_of_masters;
      JudgeOne(death);
    }
    std::string good =
        fmt::format("{} of deaths: none is about a process that lived", Counted(figures_.early, "early finding"));
    if (figures_.excused != 0) good += fmt::format(", except {} that a fault in progress excuses", figures_.excused);
    if (figures_.not_judged != 0) good += fmt::format("; {} not judged: {}", figures_.not_judged, why_not_);
    return {figures_, Summary(good, "early findings about processes that lived", wrong_)};
  }

 private:
  void JudgeOne(const LoggedDeath& death) {
    const auto known = lives_.find(death.server);
    if (known == lives_.end()) return NotJudged("no log names " + death.server);
    const LoggedLife& life = *known->second;
    if (!life.lived_until) return NotJudged("the end of " + death.server + " is unknown");
    if (!death.at_ms) return NotJudged("the clock of " + death.finder + " was wrong");
    const std::int64_t longer = *life.lived_until - *death.at_ms;
    if (longer <= 0) return;
    if (IsExcused(death, life)) {
      ++figures_.excused;
      return;
    }
    ++figures_.false_findings;
    wrong_.push_back(fmt::format("{} ({}): {}, found by {} at {} ms; it lived {} ms longer, and no fault excuses it",
                                 death.server, life.process, death.reason, death.finder, *death.at_ms, longer));
  }

  void NotJudged(const std::string& why) {
    ++figures_.not_judged;
    if (why_not_.empty()) why_not_ = why;
  }

  [[nodiscard]] bool IsExcused(const LoggedDeath& death, const LoggedLife& life) const {
    const std::int64_t at = *death.at_ms;
    if (death.reason == kRefused) return InFault("reset-and-refuse", life.process, at, kRefusalExcusedMs);
    return WasPaused(life.process, at) || InFault("starved-process", life.process, at, kSilenceExcusedMs) ||
           WasCutOff(death, life.process, at);
  }

  static bool InProgress(const FaultLine& fault, std::int64_t at, std::int64_t margin) {
    return fault.injected_ms <= at && at <= fault.healed_ms.value_or(kForever) + margin;
  }

  [[nodiscard]] bool InFault(std::string_view kind, const std::string& process, std::int64_t at,
                             std::int64_t margin) const {
    return std::any_of(evidence_.faults.begin(), evidence_.faults.end(), [&](const FaultLine& fault) {
      return fault.kind == kind && Has(fault.victims, process) && InProgress(fault, at, margin);
    });
  }

  [[nodiscard]] bool WasPaused(const std::string& process, std::int64_t at) const {
    bool paused = false;
    std::int64_t resumed = -kForever;
    for (const ProcessChange& change : evidence_.changes) {
      if (change.name != process || change.at_ms > at) continue;
      if (paused && change.what == What::kResume) resumed = change.at_ms;
      if (change.what == What::kPause) paused = true;
      if (change.what == What::kResume || change.what == What::kStart) paused = false;
    }
    return paused || at - resumed <= kSilenceExcusedMs;
  }

  // The links of all three witnesses to the process were disturbed. A reset of links is not silence.
  [[nodiscard]] bool WasCutOff(const LoggedDeath& death, const std::string& process, std::int64_t at) const {
    std::set<std::string> disturbed;
    for (const FaultLine& fault : evidence_.faults) {
      if (fault.kind == "reset-links" || !InProgress(fault, at, kSilenceExcusedMs)) continue;
      disturbed.insert(fault.victims.begin(), fault.victims.end());
    }
    std::vector<std::string> witnesses{death.finder};
    for (const std::string& server : OtherWitnesses(death.why)) {
      const auto known = lives_.find(server);
      if (known != lives_.end()) witnesses.push_back(known->second->process);
    }
    return witnesses.size() == 3 && std::all_of(witnesses.begin(), witnesses.end(), [&](const std::string& from) {
             return disturbed.contains(from + " -> " + process);
           });
  }

  const EarlyEvidence& evidence_;
  std::map<std::string, const LoggedLife*> lives_;
  DeathFigures figures_;
  std::vector<std::string> wrong_;
  std::string why_not_;  // of the first one
};

}  // namespace

MemberLog::MemberLog(std::string process, const std::vector<ProcessChange>& changes,
                     const std::vector<WrongClock>& clocks)
    : process_(std::move(process)), runs_(1) {
  for (const ProcessChange& change : changes) {
    if (change.name != process_) continue;
    if (change.what == What::kStart) runs_.push_back({change.log_from});
    if (change.what == What::kKill) runs_.back().killed_ms = change.at_ms;
    if (change.what == What::kAskToStop) runs_.back().asked_to_stop_ms = change.at_ms;
  }
  for (const WrongClock& clock : clocks) {
    const auto from = clock.from.find(process_);
    if (from == clock.from.end() || (!clock.victims.empty() && !Has(clock.victims, process_))) continue;
    const auto to = clock.to.find(process_);
    wrong_clock_.push_back(
        {from->second, to == clock.to.end() ? std::numeric_limits<std::uint64_t>::max() : to->second});
  }
}

bool MemberLog::RightClock(std::uint64_t offset) const {
  return std::none_of(wrong_clock_.begin(), wrong_clock_.end(),
                      [&](const Span& span) { return span.from <= offset && offset < span.to; });
}

void MemberLog::Read(const std::string& line) {
  const std::uint64_t offset = std::exchange(offset_, offset_ + line.size() + 1);
  while (run_ + 1 < runs_.size() && runs_[run_ + 1].log_from <= offset) {
    Close(/*last_of_run=*/true);
    ++run_;
  }
  const std::string_view text = TextOf(line);
  const bool right_clock = RightClock(offset);
  if (text.starts_with("Start: this process ")) Close(/*last_of_run=*/false);
  if (const std::string_view name = NameIn(text); !name.empty()) Begin(name);
  ReadDeath(line, text, right_clock);
  if (server_.empty() || ended_) return;
  // A master logs this behind its orderly stop, and a region server logs the other before it.
  if (text.starts_with("Stopped: ")) {
    ended_ = true;
    end_unknown_ = !runs_[run_].asked_to_stop_ms;
    return;
  }
  if (text.starts_with("Stop: ") || text.starts_with("Exit with code ")) ended_ = true;
  if (right_clock && !text.empty()) last_line_ = line;
}

void MemberLog::End(std::optional<std::int64_t> running_at) { Close(/*last_of_run=*/true, running_at); }

void MemberLog::Begin(std::string_view server) {
  Close(/*last_of_run=*/false);
  server_ = server;
}

void MemberLog::Close(bool last_of_run, std::optional<std::int64_t> running_at) {
  if (server_.empty()) return;
  const Run& run = runs_[run_];
  std::optional<std::int64_t> until = LogLineMillis(last_line_);
  const auto at_least = [&until](std::optional<std::int64_t> time) {
    if (time && (!until || *until < *time)) until = time;
  };
  if (last_of_run && run.asked_to_stop_ms) {
    until = std::min(until.value_or(kForever), *run.asked_to_stop_ms);
  } else if (last_of_run && !ended_) {
    at_least(run.killed_ms);
    at_least(running_at);
  }
  if (end_unknown_) until.reset();
  lives_.push_back({process_, std::exchange(server_, {}), until});
  last_line_.clear();
  ended_ = false;
  end_unknown_ = false;
}

void MemberLog::ReadDeath(const std::string& line, std::string_view text, bool right_clock) {
  constexpr std::string_view kServer = "Server ";
  constexpr std::string_view kMaster = "the active master ";
  const bool of_master = text.starts_with(kMaster);
  if (!of_master && !text.starts_with(kServer)) return;
  text.remove_prefix(of_master ? kMaster.size() : kServer.size());
  const std::string_view server = UpTo(text, " ");
  const std::string_view verb = of_master ? kIsGone : kIsExpired;
  const std::string_view rest = text.substr(server.size());
  if (!rest.starts_with(verb)) return;
  const auto why = std::string(rest.substr(verb.size()));
  deaths_.push_back({process_, right_clock ? LogLineMillis(line) : std::nullopt, std::string(server),
                     of_master ? std::string(kRefused) : ReasonOf(why), why, of_master});
}

EarlyVerdict JudgeEarlyFindings(const EarlyEvidence& evidence) { return Judge(evidence).Run(); }

}  // namespace ratchet::chaos
