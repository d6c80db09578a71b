#include "chaos/faults/container_engine.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>
#include <tuple>

namespace ratchet::chaos {
namespace {

std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Result<std::string> RunDocker(const std::vector<std::string>& arguments) {
  std::string command = "docker";
  for (const auto& argument : arguments) command += " " + Quote(argument);
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return Error(Code::kIo, "cannot start a shell");
  std::string output;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  const int status = ::pclose(pipe);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return Error(Code::kNotFound, "the program docker is not installed");
  return Error(Code::kUnavailable, fmt::format("docker {}: {}", arguments.front(), output));
}

Result<std::vector<Container>> ParseContainers(const std::string& text) {
  std::vector<Container> containers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Container one;
    if (!(fields >> one.id >> one.service >> one.number)) {
      return Error(Code::kCorruption, fmt::format("docker ps: '{}' is not of the form: id service number", line));
    }
    containers.push_back(std::move(one));
  }
  std::sort(containers.begin(), containers.end(), [](const Container& a, const Container& b) {
    return std::tie(a.service, a.number) < std::tie(b.service, b.number);
  });
  return containers;
}

Result<std::vector<Container>> ListContainers(const std::string& project) {
  RATCHET_ASSIGN(const auto text,
                 RunDocker({"ps", "--all", "--no-trunc", "--filter", "label=com.docker.compose.project=" + project,
                            "--filter", "label=com.docker.compose.oneoff=False", "--format",
                            "{{.ID}} {{.Label \"com.docker.compose.service\"}} "
                            "{{.Label \"com.docker.compose.container-number\"}}"}));
  return ParseContainers(text);
}

std::string DefaultProject(const std::string& directory_name) {
  std::string project;
  for (const char c : directory_name) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (std::isalnum(static_cast<unsigned char>(lower)) != 0 || lower == '-' || lower == '_') project += lower;
  }
  return project;
}

Result<ContainerState> InspectContainer(const std::string& id) {
  RATCHET_ASSIGN(const auto text,
                 RunDocker({"inspect", "--format",
                            "{{.State.Running}} {{.State.Paused}} {{.State.ExitCode}} {{.State.Pid}}"
                            "{{range $name, $net := .NetworkSettings.Networks}} {{$name}} {{$net.IPAddress}}{{end}}",
                            id}));
  std::istringstream fields(text);
  ContainerState state;
  std::string running;
  std::string paused;
  if (!(fields >> running >> paused >> state.exit_code >> state.pid)) {
    return Error(Code::kCorruption, fmt::format("docker inspect: '{}'", text));
  }
  state.running = running == "true";
  state.paused = paused == "true";
  fields >> state.network >> state.address;
  return state;
}

Result<std::filesystem::path> VolumeFolder(const std::string& volume) {
  RATCHET_ASSIGN(auto text, RunDocker({"volume", "inspect", "--format", "{{.Mountpoint}}", volume}));
  return std::filesystem::path(std::move(text));
}

}  // namespace ratchet::chaos
