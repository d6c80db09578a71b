// `ratchet page-login`: makes a line of the file --info-logins. It needs no cluster.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace ratchet::cli {

struct PageLoginFlags {
  std::string kind;
  std::string user;
  std::string file;
};

CLI::App* AddPageLogin(CLI::App& app, PageLoginFlags& flags);
// Prints the line, or the error. Returns the exit code.
[[nodiscard]] int RunPageLogin(const PageLoginFlags& flags, bool json);

}  // namespace ratchet::cli
