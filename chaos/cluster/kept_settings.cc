#include "chaos/cluster/kept_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

namespace ratchet::chaos {
namespace {

constexpr std::array<std::string_view, 12> kOfOneRun = {
    "ALLOW_FAULT_POINTS", "CEPH_SCRIPTS", "CLOCK_OFFSET_MS", "DUMP_FRAMES", "FAULTS", "MASTER", "MUTANT", "PAST_LIVES",
    "REWORD_ERRORS",      "SHIM",         "TEST_",           "ZOOKEEPER"};

}  // namespace

bool IsKeptSetting(const std::string& variable) {
  constexpr std::string_view kPrefix = "RATCHET_";
  if (!variable.starts_with(kPrefix)) return false;
  const std::string_view name = std::string_view(variable).substr(kPrefix.size());
  return std::none_of(kOfOneRun.begin(), kOfOneRun.end(), [name](std::string_view other) {
    return name == other || (name.starts_with(other) && (other == "TEST_" || other == "MUTANT"));
  });
}

Environment ShellSettings() {
  Environment settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos && IsKeptSetting(text.substr(0, equals)))
      settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

Environment Inherited(const Environment& kept, const Environment& shell) {
  Environment inherited = kept;
  for (const auto& setting : shell) inherited.erase(setting.first);
  return inherited;
}

}  // namespace ratchet::chaos
