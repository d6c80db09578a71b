// The container engine's own verbs, through its command line. Blocking; the driver's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::chaos {

// What the engine calls "docker". Errors: kNotFound when there is no such program, kUnavailable with what it said.
[[nodiscard]] Result<std::string> RunDocker(const std::vector<std::string>& arguments);

struct Container {
  std::string id;
  std::string service;
  int number = 0;  // of its service, from 1
};
// Of one Compose project, running or not, by service and number.
[[nodiscard]] Result<std::vector<Container>> ListContainers(const std::string& project);

// Text of "docker ps" with the format "{{.ID}} {{service}} {{number}}" a line; kCorruption names a line.
[[nodiscard]] Result<std::vector<Container>> ParseContainers(const std::string& text);
// Compose's name for a project in this directory: lower case, of letters, digits, '-' and '_' only.
[[nodiscard]] std::string DefaultProject(const std::string& directory_name);

struct ContainerState {
  bool running = false;
  bool paused = false;
  int exit_code = 0;
  int pid = 0;          // on the engine's machine; 0: it does not run
  std::string address;  // empty while it is in no network
  std::string network;
};
[[nodiscard]] Result<ContainerState> InspectContainer(const std::string& id);
// Where a volume's files are on the engine's machine.
[[nodiscard]] Result<std::filesystem::path> VolumeFolder(const std::string& volume);

}  // namespace ratchet::chaos
