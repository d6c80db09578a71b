#include "chaos/report/recovery.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "chaos/report/timeline.h"

namespace ratchet::chaos {
namespace {

std::optional<std::int64_t> LaterOf(const std::optional<std::int64_t>& one, const std::optional<std::int64_t>& other) {
  if (!one || !other) return one ? one : other;
  return std::max(*one, *other);
}

bool Names(const FaultLine& fault, const std::map<std::string, std::uint16_t>& ports, std::uint16_t port) {
  return std::any_of(fault.victims.begin(), fault.victims.end(), [&](const std::string& victim) {
    // A victim may be a link, "rs-1 -> zookeeper": use its first end.
    const auto found = ports.find(victim.substr(0, victim.find(' ')));
    return found != ports.end() && found->second == port;
  });
}

}  // namespace

Phases PhasesOfCrash(const pb::ProcedureInfo& crash, std::int64_t injected_ms) {
  Phases phases;
  const auto since = [&](std::uint64_t at) { return static_cast<std::int64_t>(at) - injected_ms; };
  phases.detect = since(crash.submitted_wall_ms());
  for (const auto& step : crash.history()) {
    if (step.step() == "FENCE") phases.fence = since(step.at_wall_ms());
    if (step.step() == "ASSIGN_REGIONS") phases.split = since(step.at_wall_ms());
    if (step.step() == "RETIRE_LOGS") phases.assign = since(step.at_wall_ms());
  }
  return phases;
}

Phases PhasesOfTakeover(const std::vector<std::string>& log, std::int64_t injected_ms) {
  Phases phases;
  for (const auto& line : log) {
    const auto at = LogLineMillis(line);
    if (!at || *at < injected_ms) continue;
    const auto note = [&](const char* text, std::optional<std::int64_t>& phase) {
      if (!phase && line.find(text) != std::string::npos) phase = *at - injected_ms;
    };
    note("elected as active master", phases.detect);
    note("activation: claim store done", phases.fence);
    note("activation: ready", phases.assign);
  }
  return phases;
}

Phases Later(const Phases& one, const Phases& other) {
  return {LaterOf(one.detect, other.detect), LaterOf(one.fence, other.fence), LaterOf(one.split, other.split),
          LaterOf(one.assign, other.assign), LaterOf(one.first_success, other.first_success)};
}

std::optional<std::size_t> FaultOfCrash(const std::vector<FaultLine>& faults,
                                        const std::map<std::string, std::uint16_t>& ports, std::uint16_t port,
                                        std::int64_t at_ms) {
  std::optional<std::size_t> latest;
  std::optional<std::size_t> named;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].injected_ms > at_ms) continue;  // a failed fault may have killed a process on its way
    latest = i;
    if (Names(faults[i], ports, port)) named = i;
  }
  return named ? named : latest;
}

std::uint16_t PortInText(const std::string& text) {
  for (auto comma = text.find(','); comma != std::string::npos; comma = text.find(',', comma + 1)) {
    std::uint16_t port = 0;
    const char* begin = text.data() + comma + 1;
    const auto [end, failed] = std::from_chars(begin, text.data() + text.size(), port);
    if (failed == std::errc() && end != begin && end != text.data() + text.size() && *end == ',') return port;
  }
  return 0;
}

bool EndedByASuccessor(const pb::ProcedureInfo& procedure, std::uint64_t epoch_before) {
  if (!procedure.finished() || procedure.history_size() == 0) return false;
  const std::uint64_t last = procedure.history(procedure.history_size() - 1).epoch();
  // If the killed process is unknown, only a history across an epoch's end proves it.
  return last > (epoch_before != 0 ? epoch_before : procedure.history(0).epoch());
}

}  // namespace ratchet::chaos
