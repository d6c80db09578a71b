// Named places where a test, the simulation or the chaos driver may inject a fault: die, fail, wait, pause.
//
// A place costs one relaxed load while nothing is armed. Names are dotted paths ("store.after_sync"); every name used
// in the code is listed once in fault_points.def, which only grows, so that seeds and scenarios keep their meaning.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet {

// The exit code of a process that dies at a fault point: no destructor runs, no data is flushed.
inline constexpr int kFaultExitCode = 85;

enum class FaultAction : std::uint8_t {
  kCrash,  // _exit(kFaultExitCode)
  kFail,   // HitFault returns an error
  kDelay,  // sleeps `delay`, then continues
  kPause,  // waits until Resume(name)
  kCall,   // runs `call` on the thread that hit it (tests only)
};

struct FaultSpec {
  FaultAction action = FaultAction::kCrash;
  std::string match;        // only hits whose detail contains this (e.g. "CreateTable:ADD_TO_META"); empty: all
  std::uint64_t skip = 0;   // ignore this number of matching hits first
  std::uint64_t times = 1;  // act on this number of hits; UINT64_MAX: unlimited
  Millis delay{0};
  std::function<void(std::string_view detail)> call;
};

// Process-wide registry. Thread-safe.
class FaultPoints {
 public:
  static FaultPoints& Instance();

  void Arm(std::string_view name, FaultSpec spec);
  void Disarm(std::string_view name);
  void DisarmAll();
  void Resume(std::string_view name);
  // "name[~match]=action[:delay_ms][@skip][xN]", several split by ';', e.g.
  // "executor.after_commit~CreateTable:ADD_TO_META=crash@1;store.before_sync=delay:500x3".
  // Servers read it from the environment too (fault_env.h).
  Status ArmFromText(std::string_view text);
  // How often the place acted since the start (matching hits that were not skipped).
  [[nodiscard]] std::uint64_t Fired(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> Names() const;  // all known names, from fault_points.def

  Status HitSlow(std::string_view name, std::string_view detail);
  [[nodiscard]] bool armed() const { return armed_.load(std::memory_order_relaxed); }

 private:
  FaultPoints();
  struct Impl;
  Impl* impl_;  // never freed: threads may hit places during exit
  std::atomic<bool> armed_{false};
};

// Returns an error when a kFail fault is armed here, OK otherwise (or does not return at all).
[[nodiscard]] inline Status HitFault(std::string_view name, std::string_view detail = {}) {
  if (!FaultPoints::Instance().armed()) [[likely]]
    return Ok();
  return FaultPoints::Instance().HitSlow(name, detail);
}

}  // namespace ratchet
