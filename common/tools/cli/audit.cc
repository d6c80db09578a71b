#include "common/tools/cli/audit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "common/audit/audit_file.h"
#include "common/audit/verify.h"
#include "common/base/json_writer.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostFileBytes = 2ULL << 30;
constexpr std::size_t kMostHeadBytes = 64;

// The files of a directory are in the order of their lines, because their names have the number of the first one.
std::vector<std::string> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path, ignored))
      if (audit::IsAuditFileName(entry.path().filename())) files.push_back(entry.path());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

// Returns the number of a directory's first line, as the log has written it. 0: that file is damaged. nullopt: single
// files, which may be any part of a log.
std::optional<std::uint64_t> FirstOf(const std::vector<std::string>& paths) {
  std::error_code ignored;
  if (paths.size() != 1 || !fs::is_directory(paths.front(), ignored)) return std::nullopt;
  const fs::path head = fs::path(paths.front()) / audit::kHeadName;
  if (!fs::exists(head, ignored)) return 1;
  std::ifstream file(head, std::ios::binary);
  std::string text(kMostHeadBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return audit::ReadHead(text).value_or(0);
}

bool AddTo(audit::Verifier& verifier, const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || size > kMostFileBytes || !file.is_open()) return false;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return false;
  verifier.AddFile(path, text);
  return true;
}

std::string JsonOf(const audit::VerifyReport& report) {
  JsonWriter json;
  json.BeginObject().Add("lines", report.lines).Add("first", report.first).Add("last", report.last);
  json.Add("lost_records", report.lost_records).Add("lost_lines", report.lost);
  json.Add("last_hash", report.last_hash).Key("problems").BeginArray();
  for (const std::string& problem : report.problems) json.Text(problem);
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace

CLI::App* AddAudit(CLI::App& app, AuditFlags& flags) {
  auto* verb = AddVerb(app, "audit", "Check that no line of an audit log was changed or removed",
                       {"audit verify /var/log/ratchet/audit", "audit verify audit.0000000000000001.jsonl --json"});
  Need(*verb, "action", flags.action, "verify", "verify: check numbers and the chain of hashes")
      ->check(CLI::IsMember({"verify"}));
  Need(*verb, "paths", flags.paths, kind::kFile, "Directories of --audit-dir, or files in the order of their lines");
  return verb;
}

int RunAudit(const AuditFlags& flags, bool json) {
  const std::vector<std::string> files = FilesOf(flags.paths);
  audit::Verifier verifier;
  if (const auto first = FirstOf(flags.paths); first.has_value()) verifier.BeginsWith(*first);
  for (const std::string& file : files) {
    if (AddTo(verifier, file)) continue;
    std::cerr << fmt::format("ratchet: {}: cannot be read\n", file);
    return kExitNotFound;
  }
  const audit::VerifyReport& report = verifier.report();
  if (report.lines == 0 && report.problems.empty()) {
    std::cerr << "ratchet: no line of an audit log was found\n";
    return kExitNotFound;
  }
  if (json) {
    std::cout << JsonOf(report) << "\n";
  } else {
    for (const std::string& problem : report.problems) std::cout << problem << "\n";
    std::cout << fmt::format("{} lines in {} files, from {} to {}; {} lines are lost by {} gaps; last hash {}\n",
                             report.lines, files.size(), report.first, report.last, report.lost, report.lost_records,
                             report.last_hash);
  }
  return report.problems.empty() ? kExitOk : kExitFailed;
}

}  // namespace ratchet::cli
