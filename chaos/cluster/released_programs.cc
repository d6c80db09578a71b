#include "chaos/cluster/released_programs.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include "common/base/fault_env.h"
#include "common/base/prng.h"

namespace ratchet::chaos {
namespace {

constexpr std::string_view kMasterProgram = "ratchet-master";
constexpr std::string_view kServerProgram = "ratchet-regionserver";
constexpr Millis kAnswersWithin{20'000};

// Runs the program with one flag, and returns its output.
Result<std::string> OutputOf(const std::filesystem::path& program, const std::string& flag) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("ratchet-released-{}-{:x}.txt", getpid(), RandomSeed());
  LaunchSpec launch;
  launch.arguments = {program.string(), flag};
  launch.output = file;
  RATCHET_ASSIGN(const ProcessId process, Launch(launch));
  std::optional<Ended> ended;
  const Status over = WaitUntil(program.string() + " " + flag, kAnswersWithin,
                                [&] { return (ended = CheckEnded(process)).has_value(); });
  if (!over.ok()) IgnoreResult(Signal(process, 9), "the earlier error is returned");
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  RATCHET_TRY(over);
  if (ended->code == 0) return text.str();
  return Error(Code::kFailedPrecondition, fmt::format("{} {} ended with exit code {}: {}", program.string(), flag,
                                                      ended->code.value_or(-1), text.str().substr(0, 200)));
}

std::string SettingOf(std::string_view argument) {
  argument.remove_prefix(2);
  return std::string(argument.substr(0, argument.find_first_of("= ,\n")));
}

}  // namespace

std::set<std::string> SettingsOfHelp(std::string_view help) {
  std::set<std::string> settings;
  std::size_t line = 0;
  while (line < help.size()) {
    const std::size_t end = std::min(help.find('\n', line), help.size());
    std::string_view text = help.substr(line, end - line);
    line = end + 1;
    // Names begin a line; a --name within an explanation may belong to another program.
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos || text[first] != '-') continue;
    text = text.substr(first, text.find(' ', first) - first);
    for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at + 2)) {
      settings.insert(SettingOf(text.substr(at)));
    }
  }
  return settings;
}

std::vector<std::string> OnlyKnown(const std::vector<std::string>& arguments, const std::set<std::string>& known) {
  std::vector<std::string> kept;
  bool keeps = true;
  for (const auto& argument : arguments) {
    if (argument.starts_with("--")) keeps = known.contains(SettingOf(argument));
    if (keeps) kept.push_back(argument);
  }
  return kept;
}

Result<ReleasedPrograms> ReleasedPrograms::Find(const std::filesystem::path& directory) {
  ReleasedPrograms programs;
  std::error_code failed;
  programs.directory_ = std::filesystem::absolute(directory, failed);
  for (const std::string_view name : {kMasterProgram, kServerProgram}) {
    const std::string program(name);
    const auto file = programs.FileOf(program);
    if (access(file.c_str(), X_OK) != 0) {
      return Error(Code::kNotFound,
                   fmt::format("there is no program {}: scripts/released-binaries VERSION makes it", file.string()));
    }
    RATCHET_ASSIGN(const std::string help, OutputOf(file, "--help"));
    (program == kMasterProgram ? programs.of_master_ : programs.of_server_) = SettingsOfHelp(help);
  }
  const auto version = OutputOf(programs.FileOf(std::string(kMasterProgram)), "--version");
  std::istringstream words(version.ok() ? *version : "");
  words >> programs.version_ >> programs.version_;  // "ratchet-master 0.2 (commit ...)"
  if (programs.version_.empty()) programs.version_ = "of an unknown version";
  return programs;
}

void ReleasedPrograms::Adapt(LaunchSpec& launch) const {
  const std::string program = std::filesystem::path(launch.arguments.front()).filename();
  launch.arguments = OnlyKnown(launch.arguments, program == kMasterProgram ? of_master_ : of_server_);
  launch.arguments.front() = FileOf(program).string();
  launch.environment.erase(kFaultsVariable);
}

}  // namespace ratchet::chaos
