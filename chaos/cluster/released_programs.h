// The servers of a release, which a cluster may run instead of its own.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Returns the names of the settings that a program's --help lists: "root", "zk-session-ms".
[[nodiscard]] std::set<std::string> SettingsOfHelp(std::string_view help);
// Returns `arguments` without the settings that are not in `known`, and without their values.
[[nodiscard]] std::vector<std::string> OnlyKnown(const std::vector<std::string>& arguments,
                                                 const std::set<std::string>& known);

class ReleasedPrograms {
 public:
  // Asks both servers in `directory` for their settings. kNotFound when one is missing, kFailedPrecondition when one
  // does not run here.
  [[nodiscard]] static Result<ReleasedPrograms> Find(const std::filesystem::path& directory);

  // Makes the launch start the release's program instead of this tree's, with only the settings that the release has.
  // Fault points are left out, because each version has its own.
  void Adapt(LaunchSpec& launch) const;
  [[nodiscard]] std::filesystem::path FileOf(const std::string& program) const { return directory_ / program; }
  [[nodiscard]] const std::string& version() const { return version_; }  // of the master: "0.2"

 private:
  std::filesystem::path directory_;
  std::string version_;
  std::set<std::string> of_master_;
  std::set<std::string> of_server_;
};

}  // namespace ratchet::chaos
