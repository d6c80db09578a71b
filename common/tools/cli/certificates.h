// `ratchet certificates init`: the only verb that needs no cluster, because it comes before the first one.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ratchet::cli {

struct CertificateFlags {
  std::string action;
  std::string directory;
  std::vector<std::string> hosts;
};

CLI::App* AddCertificates(CLI::App& app, CertificateFlags& flags);
// Prints the files, or the error. Returns the exit code.
[[nodiscard]] int RunCertificates(const CertificateFlags& flags, bool json);

}  // namespace ratchet::cli
