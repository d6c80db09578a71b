// `ratchet audit verify`: checks the files of an audit log on this machine; needs no cluster.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ratchet::cli {

struct AuditFlags {
  std::string action;
  std::vector<std::string> paths;
};

CLI::App* AddAudit(CLI::App& app, AuditFlags& flags);
// Prints the result. Returns the exit code.
[[nodiscard]] int RunAudit(const AuditFlags& flags, bool json);

}  // namespace ratchet::cli
