// Mutants: switches that leave out one safety rule each, so that a test can prove that it would notice.
//
// `if (RATCHET_MUTANT("store.no_seal")) ...` is the constant false unless the build defines RATCHET_MUTANTS. Each name
// is listed once in mutants.def with the rule that it breaks; switching on an unlisted name stops the process. Switched
// on by ScopedMutant in tests, or in a whole process by the environment variable RATCHET_MUTANT=name[,name]. The time
// for which a ScopedMutant was on is the time that its test took to notice it: with RATCHET_MUTANT_TIMES=FILE, each
// appends "name<tab>microseconds" to the file (scripts/mutants makes the table of it).
// Thread-safe; an idle switch costs one relaxed load.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

// True when `name` is switched on. Use the macro.
[[nodiscard]] bool MutantIsOn(std::string_view name);
void SwitchMutant(std::string_view name, bool on);
// "name: what it leaves out", for all of mutants.def.
[[nodiscard]] std::vector<std::string> MutantNames();

extern std::atomic<bool> any_mutant_on;

// Switches a mutant on for a scope.
class ScopedMutant {
 public:
  explicit ScopedMutant(std::string_view name);
  ~ScopedMutant();
  ScopedMutant(const ScopedMutant&) = delete;
  ScopedMutant& operator=(const ScopedMutant&) = delete;

 private:
  const std::string name_;
  const std::chrono::steady_clock::time_point begun_;
};

}  // namespace ratchet

#if defined(RATCHET_MUTANTS)
#define RATCHET_MUTANT(name) (::ratchet::any_mutant_on.load(std::memory_order_relaxed) && ::ratchet::MutantIsOn(name))
#else
#define RATCHET_MUTANT(name) false
#endif
