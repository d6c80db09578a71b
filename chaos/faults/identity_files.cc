#include "chaos/faults/identity_files.h"

#include <csignal>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "chaos/cluster/credentials.h"
#include "common/base/small_file.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kNoticed{20'000};
constexpr std::size_t kMostBytes = 65'536;

}  // namespace

std::optional<std::string> WhyNotSecured(Target& target) {
  if (target.processes() == nullptr || !IsSecured(target.processes()->spec()))
    return "the cluster runs without --secure";
  return std::nullopt;
}

Result<std::string> TextOf(const std::filesystem::path& path) { return ReadSmallFile(path.string(), kMostBytes); }

Status ReadAgain(Target& target, const std::vector<std::string>& processes, std::string_view line) {
  ProcessCluster& cluster = *target.processes();
  std::vector<std::pair<std::string, std::uint64_t>> asked;  // with the size of the log before
  for (const std::string& name : processes) {
    if (!target.Running(name)) continue;  // reads the files at its start
    asked.emplace_back(name, cluster.LogSize(name));
    RATCHET_TRY(Signal(cluster.Info(name).id, SIGHUP));
  }
  if (line.empty()) return Ok();
  for (const auto& [name, from] : asked) {
    RATCHET_TRY(WaitUntil(fmt::format("{} to log: {}", name, line), kNoticed, [&, &each = name, since = from] {
      target.Meanwhile();
      return !cluster.LogLines(each, std::string(line), since).empty() || !target.Running(each);
    }));
  }
  return Ok();
}

}  // namespace ratchet::chaos
