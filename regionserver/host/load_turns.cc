#include "regionserver/host/load_turns.h"

#include <algorithm>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

void LoadTurns::Opened(const std::string& encoded_name) {
  Closed(encoded_name);
  regions_[encoded_name] = {};
  fresh_.push_back(encoded_name);
  ++left_;
}

void LoadTurns::Closed(const std::string& encoded_name) {
  const auto known = regions_.find(encoded_name);
  if (known == regions_.end()) return;
  Unsend(known->second);
  regions_.erase(known);
}

void LoadTurns::Unsend(Known& known) {
  if (known.sent > 0) --held_;
  known.sent = 0;
}

void LoadTurns::UnsendAll() {
  for (auto& [name, known] : regions_) Unsend(known);
  left_ = regions_.size();
}

std::size_t LoadTurns::Allowed(TimePoint now) const {
  if (!answered_) return kLoadsBeforeAShare;
  if (!loads_a_second_.has_value()) return 2 * looks_a_report_;
  const auto passed = std::chrono::duration_cast<Millis>(now - reported_at_.value_or(now));
  const Millis counted = std::clamp(passed, Millis{0}, kLongestShare);
  return std::max<std::size_t>(1, static_cast<std::size_t>(counted.count()) * *loads_a_second_ / 1'000);
}

bool LoadTurns::IsDue(const Known& known, std::size_t load, TimePoint now) const {
  if (known.sent == 0 || load != known.load) return true;
  if (loads_a_second_.has_value() || !answered_) return false;
  return known.sent < kRepeatsOfQuiet || now - known.sent_at >= kRepeatLoad;
}

bool LoadTurns::Take(const std::string& encoded_name, Known& known, TimePoint now, const Look& look, const Send& send) {
  const auto load = look(encoded_name);
  if (!load.has_value() || !IsDue(known, *load, now)) return true;
  if (allowed_ == 0) return false;
  --allowed_;
  if (known.sent == 0) ++held_;
  known.sent = load != known.load ? 1 : std::min(known.sent + 1, kRepeatsOfQuiet);
  known.load = *load;
  known.sent_at = now;
  sent_.push_back(encoded_name);
  send(encoded_name);
  return true;
}

LoadTurns::Report LoadTurns::Next(TimePoint now, const Look& look, const Send& send) {
  if (!RATCHET_MUTANT("report.forget_lost_loads")) {
    for (const std::string& name : sent_)
      if (const auto known = regions_.find(name); known != regions_.end()) Unsend(known->second);
    if (!sent_.empty()) left_ = regions_.size();  // the lost loads may be of regions whose turn of this round is over
  }
  sent_.clear();
  allowed_ = Allowed(now);
  reported_at_ = now;
  const std::size_t turns = std::min(looks_a_report_, regions_.size());
  auto turn = regions_.upper_bound(last_);
  bool all_sent = true;  // so far; the next report continues at the first load that may not be sent
  for (std::size_t i = 0; i < turns; ++i, ++turn) {
    if (turn == regions_.end()) turn = regions_.begin();
    if (!Take(turn->first, turn->second, now, look, send)) all_sent = false;
    if (!all_sent) continue;
    last_ = turn->first;
    if (left_ > 0) --left_;
  }
  // Adds new regions out of turn, at most the same number again; the rest follows soon.
  const std::size_t more = turns == regions_.size() ? 0 : std::min(fresh_.size(), looks_a_report_);
  for (std::size_t i = 0; i < more; ++i) {
    const auto known = regions_.find(fresh_[i]);
    if (known != regions_.end() && !Take(known->first, known->second, now, look, send)) break;
  }
  fresh_.clear();
  Report report;
  report.complete = left_ == 0;
  report.held = held_;
  if (report.complete) left_ = regions_.size();
  return report;
}

void LoadTurns::Answered(const Answer& answer) {
  answered_ = true;
  loads_a_second_ = answer.loads_a_second;
  if (answer.taken) sent_.clear();
  if (answer.all) UnsendAll();
}

void LoadTurns::StartAnew() {
  answered_ = false;
  loads_a_second_.reset();
  UnsendAll();
}

}  // namespace ratchet::regionserver
