#include "common/tools/cli/page_login.h"

#include <fstream>
#include <iostream>

#include <fmt/core.h>

#include "common/base/json_writer.h"
#include "common/base/small_file.h"
#include "common/identity/login_file.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

Result<std::string> ReadPassword(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& from = path == "-" ? std::cin : file;
  std::string password;
  if (!std::getline(from, password))
    return Error(Code::kInvalidArgument, fmt::format("{}: no password can be read", path));
  return password;
}

// A new file, so that the token of no other reader is lost.
Result<std::string> WriteToken(const std::string& path) {
  const std::string token = identity::LoginFile::NewToken();
  if (const Status written = WriteNewSecret(path, token + "\n"); !written.ok())
    return Error(Code::kInvalidArgument, written.error().message());
  return token;
}

Result<std::string> MakeLine(const PageLoginFlags& flags) {
  if (flags.kind == "password") {
    RATCHET_ASSIGN(const std::string password, ReadPassword(flags.file));
    return identity::LoginFile::PasswordLine(flags.user, password);
  }
  // The user is checked before the file is made.
  RATCHET_TRY(identity::LoginFile::TokenLine(flags.user, identity::LoginFile::NewToken()));
  RATCHET_ASSIGN(const std::string token, WriteToken(flags.file));
  return identity::LoginFile::TokenLine(flags.user, token);
}

}  // namespace

CLI::App* AddPageLogin(CLI::App& app, PageLoginFlags& flags) {
  auto* verb = AddVerb(app, "page-login", "Print a line of the file --info-logins, for a reader of the page",
                       {"page-login password alice --secret-file - >> /etc/ratchet/page-logins",
                        "page-login token prometheus --secret-file prometheus.token >> /etc/ratchet/page-logins"});
  Need(*verb, "kind", flags.kind, "password|token", "password: for a browser; token: for programs such as Prometheus")
      ->check(CLI::IsMember({"password", "token"}));
  Need(*verb, "user", flags.user, "USER", "User for whose rights the page is shown");
  Need(*verb, "--secret-file", flags.file, kind::kFile,
       "File with the password in its first line (-: standard input), or the new file for the token (mode 0600)");
  return verb;
}

int RunPageLogin(const PageLoginFlags& flags, bool json) {
  const auto line = MakeLine(flags);
  if (!line.ok()) {
    std::cerr << "ratchet: " << line.error().message() << "\n";
    return kExitUsage;
  }
  if (json) {
    JsonWriter text;
    text.BeginObject().Add("line", *line).EndObject();
    std::cout << text.text() << "\n";
  } else {
    std::cout << *line << "\n";
  }
  return kExitOk;
}

}  // namespace ratchet::cli
