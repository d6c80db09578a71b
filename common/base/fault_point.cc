#include "common/base/fault_point.h"

#include <unistd.h>

#include <charconv>
#include <map>
#include <thread>

#include "common/base/log.h"
#include "common/base/mutex.h"

namespace ratchet {
namespace {

constexpr std::string_view kNames[] = {
    "",  // keeps the array non-empty
#define FAULT_POINT(name) name,
#include "common/base/fault_points.def"
#undef FAULT_POINT
};

struct Armed {
  FaultSpec spec;
  std::uint64_t hits = 0;
  bool resumed = false;
};

Error BadFault(std::string_view text, std::string_view why) {
  return Error(Code::kInvalidArgument, fmt::format("fault '{}': {}", text, why));
}

bool ParseNumber(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

struct FaultPoints::Impl {
  mutable Mutex mutex;
  CondVar changed;
  std::map<std::string, std::vector<Armed>, std::less<>> armed GUARDED_BY(mutex);
  std::map<std::string, std::uint64_t, std::less<>> fired GUARDED_BY(mutex);
};

FaultPoints::FaultPoints() : impl_(new Impl) {}

FaultPoints& FaultPoints::Instance() {
  static FaultPoints points;
  return points;
}

void FaultPoints::Arm(std::string_view name, FaultSpec spec) {
  MutexLock lock(impl_->mutex);
  impl_->armed[std::string(name)].push_back({std::move(spec)});
  armed_.store(true);
}

void FaultPoints::Disarm(std::string_view name) {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->armed.find(name);
  if (found != impl_->armed.end()) impl_->armed.erase(found);
  if (impl_->armed.empty()) armed_.store(false);
  impl_->changed.NotifyAll();
}

void FaultPoints::DisarmAll() {
  MutexLock lock(impl_->mutex);
  impl_->armed.clear();
  armed_.store(false);
  impl_->changed.NotifyAll();
}

void FaultPoints::Resume(std::string_view name) {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->armed.find(name);
  if (found == impl_->armed.end()) return;
  for (auto& armed : found->second) armed.resumed = true;
  impl_->changed.NotifyAll();
}

std::uint64_t FaultPoints::Fired(std::string_view name) const {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->fired.find(name);
  return found == impl_->fired.end() ? 0 : found->second;
}

std::vector<std::string> FaultPoints::Names() const {
  std::vector<std::string> names;
  for (const auto name : kNames) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

Status FaultPoints::ArmFromText(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find(';');
    std::string_view item = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (item.empty()) continue;
    const std::string_view whole = item;
    const auto equals = item.rfind('=');
    if (equals == std::string_view::npos) return BadFault(whole, "expected name=action");
    std::string_view name = item.substr(0, equals);
    std::string_view action = item.substr(equals + 1);
    FaultSpec spec;
    if (const auto tilde = name.find('~'); tilde != std::string_view::npos) {
      spec.match = std::string(name.substr(tilde + 1));
      name = name.substr(0, tilde);
    }
    if (const auto times = action.rfind('x'); times != std::string_view::npos && times + 1 < action.size() &&
                                              action[times + 1] >= '0' && action[times + 1] <= '9') {
      if (!ParseNumber(action.substr(times + 1), spec.times))
        return BadFault(whole, "the count after x is not a number");
      action = action.substr(0, times);
    }
    if (const auto at = action.rfind('@'); at != std::string_view::npos) {
      if (!ParseNumber(action.substr(at + 1), spec.skip)) return BadFault(whole, "the skip after @ is not a number");
      action = action.substr(0, at);
    }
    if (const auto colon = action.find(':'); colon != std::string_view::npos) {
      std::uint64_t delay = 0;
      if (!ParseNumber(action.substr(colon + 1), delay))
        return BadFault(whole, "the delay after : is not a number (ms)");
      spec.delay = Millis(static_cast<std::int64_t>(delay));
      action = action.substr(0, colon);
    }
    if (action == "crash")
      spec.action = FaultAction::kCrash;
    else if (action == "fail")
      spec.action = FaultAction::kFail;
    else if (action == "delay")
      spec.action = FaultAction::kDelay;
    else if (action == "pause")
      spec.action = FaultAction::kPause;
    else
      return BadFault(whole, "the action must be crash, fail, delay or pause");
    bool known = false;
    for (const auto candidate : kNames) known = known || candidate == name;
    if (!known) return BadFault(whole, "no fault point has this name");
    Arm(name, std::move(spec));
  }
  return Ok();
}

Status FaultPoints::HitSlow(std::string_view name, std::string_view detail) {
  FaultSpec spec;
  {
    MutexLock lock(impl_->mutex);
    const auto found = impl_->armed.find(name);
    if (found == impl_->armed.end()) return Ok();
    Armed* chosen = nullptr;
    for (auto& armed : found->second) {
      if (!armed.spec.match.empty() && detail.find(armed.spec.match) == std::string_view::npos) continue;
      const std::uint64_t hit = armed.hits++;
      if (hit < armed.spec.skip || hit - armed.spec.skip >= armed.spec.times) continue;
      chosen = &armed;
      break;
    }
    if (chosen == nullptr) return Ok();
    ++impl_->fired[std::string(name)];
    spec = chosen->spec;
    if (spec.action == FaultAction::kPause) {
      RATCHET_LOG(kWarn, "fault point {} pauses ({})", name, detail);
      const std::string key(name);
      for (;;) {
        const auto again = impl_->armed.find(key);
        if (again == impl_->armed.end() || again->second.empty() || again->second.front().resumed) break;
        impl_->changed.Wait(impl_->mutex);
      }
      return Ok();
    }
  }
  switch (spec.action) {
    case FaultAction::kCrash:
      RATCHET_LOG(kWarn, "fault point {} ends the process ({})", name, detail);
      FlushLog();
      _exit(kFaultExitCode);
    case FaultAction::kFail:
      RATCHET_LOG(kWarn, "fault point {} fails ({})", name, detail);
      return Error(Code::kIo, fmt::format("fault point {} failed on request ({})", name, detail));
    case FaultAction::kDelay:
      RATCHET_LOG(kWarn, "fault point {} waits {} ms ({})", name, spec.delay.count(), detail);
      std::this_thread::sleep_for(spec.delay);
      return Ok();
    case FaultAction::kCall: spec.call(detail); return Ok();
    case FaultAction::kPause: break;
  }
  return Ok();
}

}  // namespace ratchet
