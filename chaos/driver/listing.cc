#include "chaos/driver/listing.h"

#include <unistd.h>

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "chaos/driver/scenario.h"
#include "chaos/faults/container_engine.h"
#include "chaos/faults/fault.h"
#include "chaos/workloads/workload.h"

namespace ratchet::chaos {
namespace {

std::string NeedsOf(std::string_view kind) {
  const auto fault = MakeFault(kind);
  return fault.ok() ? std::string((*fault)->Needs()) : fault.error().message();
}

// Lists the kinds for each need; kinds that every target supports are left out.
std::string ScenarioNeeds(const Scenario& scenario) {
  std::map<std::string, std::vector<std::string>> kinds;
  for (const auto& fault : scenario.mix) {
    const std::string needs = NeedsOf(fault.kind);
    if (needs != Fault::kAnyTarget) kinds[needs].push_back(fault.kind);
  }
  std::string text;
  for (const auto& [needs, who] : kinds) text += fmt::format("  {:<16} {}: {}\n", "", needs, fmt::join(who, ", "));
  return text;
}

std::string NeedsOfWorkload(std::string_view name) {
  if (NeedsSecondCluster(name)) return " (only when named: starts a second local cluster)";
  if (NeedsClientProgram(name)) return " (only when named, or with --clients: needs a JDK and scripts/client-loads)";
  return "";
}

std::string Have(const char* what, bool there) { return fmt::format("  {:<44} {}\n", what, there ? "yes" : "no"); }

}  // namespace

std::string ListText() {
  std::string text = "scenarios (--scenario), and the kinds of each mix with special needs:\n";
  for (const auto& scenario : Scenarios()) {
    text += fmt::format("  {:<16} {}; every {} ms, {} at a time\n", scenario.name, scenario.about,
                        scenario.period.count(), scenario.intensity);
    std::string mix;
    for (const auto& fault : scenario.mix) mix += fmt::format(" {}:{}", fault.kind, fault.weight);
    if (!mix.empty()) text += fmt::format("  {:<16} mix:{}\n", "", mix);
    text += ScenarioNeeds(scenario);
  }
  text += "kinds of faults (--faults), and the needs of each:\n";
  for (const auto kind : FaultKinds()) text += fmt::format("  {:<40} {}\n", kind, NeedsOf(kind));
  text += "workloads (--workloads):\n";
  for (const auto name : WorkloadNames()) {
    text += fmt::format("  {}{}\n", name, NeedsOfWorkload(name));
  }
  text += "this machine:\n";
  const bool root = geteuid() == 0;
  text += Have("root", root);
  text += Have("a loop device (as root)", root && access("/dev/loop-control", F_OK) == 0);
  text += Have("a container engine that answers", RunDocker({"version"}).ok());
  text +=
      "A run skips the faults that its target does not support, and prints the reason. A run that lacks a named "
      "workload does not pass.\n";
  return text;
}

}  // namespace ratchet::chaos
