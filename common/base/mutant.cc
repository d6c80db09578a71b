#include "common/base/mutant.h"

#include <cstdlib>
#include <fstream>
#include <set>

#include "common/base/check.h"
#include "common/base/mutex.h"

namespace ratchet {
namespace {

struct Listed {
  std::string_view name;
  std::string_view what;
};
constexpr Listed kListed[] = {
#define MUTANT(name, what) {name, what},
#include "common/base/mutants.def"
#undef MUTANT
};

class Registry {
 public:
  static Registry& Instance() {
    static Registry* const registry = new Registry;  // never freed: threads may ask during exit
    return *registry;
  }
  bool IsOn(std::string_view name) {
    MutexLock lock(mutex_);
    return on_.find(name) != on_.end();
  }
  void Switch(std::string_view name, bool on) {
    bool listed = false;
    for (const Listed& entry : kListed) listed = listed || entry.name == name;
    RATCHET_CHECK(listed, "mutant {} is not in mutants.def", name);
    MutexLock lock(mutex_);
    if (on) {
      on_.emplace(name);
    } else {
      on_.erase(std::string(name));
    }
    any_mutant_on.store(!on_.empty(), std::memory_order_relaxed);
  }

 private:
  Mutex mutex_;
  std::set<std::string, std::less<>> on_ GUARDED_BY(mutex_);
};

// Read once, before main: the mutants of a process apply from its first instruction.
[[maybe_unused]] const bool read_environment = [] {
  const char* text = std::getenv("RATCHET_MUTANT");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    SwitchMutant(rest.substr(0, comma), true);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return true;
}();

}  // namespace

std::atomic<bool> any_mutant_on{false};

bool MutantIsOn(std::string_view name) { return Registry::Instance().IsOn(name); }

void SwitchMutant(std::string_view name, bool on) { Registry::Instance().Switch(name, on); }

ScopedMutant::ScopedMutant(std::string_view name) : name_(name), begun_(std::chrono::steady_clock::now()) {
  SwitchMutant(name_, true);
}

ScopedMutant::~ScopedMutant() {
  SwitchMutant(name_, false);
  const char* times = std::getenv("RATCHET_MUTANT_TIMES");
  if (times == nullptr) return;
  const auto lasted = std::chrono::steady_clock::now() - begun_;
  std::ofstream(times, std::ios::app) << name_ << '\t'
                                      << std::chrono::duration_cast<std::chrono::microseconds>(lasted).count() << '\n';
}

std::vector<std::string> MutantNames() {
  std::vector<std::string> names;
  for (const Listed& entry : kListed) names.push_back(std::string(entry.name) + ": " + std::string(entry.what));
  return names;
}

}  // namespace ratchet
