// Runs the container engine's verbs through its command line. Blocking; the driver's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::chaos {

// Runs "docker". Errors: kNotFound when the program does not exist, kUnavailable with the engine's output.
[[nodiscard]] Result<std::string> RunDocker(const std::vector<std::string>& arguments);

struct Container {
  std::string id;
  std::string service;
  int number = 0;  // within its service, from 1
};
// Lists the containers of a Compose project, running or not, by service and number.
[[nodiscard]] Result<std::vector<Container>> ListContainers(const std::string& project);

// Parses the output of "docker ps" with the format "{{.ID}} {{service}} {{number}}" a line; kCorruption names a line.
[[nodiscard]] Result<std::vector<Container>> ParseContainers(const std::string& text);
// Returns Compose's default name for a project in this directory: lower case, only letters, digits, '-' and '_'.
[[nodiscard]] std::string DefaultProject(const std::string& directory_name);

struct ContainerState {
  bool running = false;
  bool paused = false;
  int exit_code = 0;
  int pid = 0;          // on the engine's machine; 0: not running
  std::string address;  // empty while it is not in a network
  std::string network;
};
[[nodiscard]] Result<ContainerState> InspectContainer(const std::string& id);
// Returns the directory of a volume's files on the engine's machine.
[[nodiscard]] Result<std::filesystem::path> VolumeFolder(const std::string& volume);

}  // namespace ratchet::chaos
