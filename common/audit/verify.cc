#include "common/audit/verify.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/audit/audit_line.h"

namespace ratchet::audit {

void Verifier::Problem(std::string text) {
  if (report_.problems.size() < kMostProblems) report_.problems.push_back(std::move(text));
}

void Verifier::AddFile(const std::string& name, std::string_view text) {
  std::uint64_t at = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      // Reserved space, or a line that is being written.
      if (text.find_first_not_of('\0') != std::string_view::npos)
        Problem(
            fmt::format("{}: the last line is not complete: the log is being written, or its process was killed and "
                        "has not started again",
                        name));
      return;
    }
    AddLine(name, ++at, text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
}

void Verifier::AddLine(const std::string& name, std::uint64_t at, std::string_view line) {
  std::uint64_t number = 0;
  std::string_view prev;
  rapidjson::Document json;
  const bool whole = line.size() <= kMostLineBytes && ReadLine(line, number, prev) &&
                     !json.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size() - 1).HasParseError() &&
                     json.IsObject();
  if (!whole) {
    Problem(fmt::format("{}, line {}: not a line of an audit log", name, at));
    hash_ = ChainHash(line);
    return;
  }
  if (report_.lines == 0) {
    report_.first = number;
    if (number > begins_)
      Problem(fmt::format("{}: the log begins with line {}, and lines from {} on are missing", name, number, begins_));
  }
  if (report_.lines > 0 && number != report_.last + 1)
    Problem(fmt::format("{}, line {}: number {} follows number {}", name, at, number, report_.last));
  const bool follows = hash_.empty() ? number > 1 || prev == NoHash() : prev == hash_;
  if (!follows)
    Problem(
        fmt::format("{}, line {}: line {} does not follow the line before it: one of the two was changed, or lines "
                    "are missing",
                    name, at, number));
  if (json.HasMember("event") && json["event"].IsString() && std::string_view(json["event"].GetString()) == "lost") {
    ++report_.lost_records;
    if (json.HasMember("count") && json["count"].IsUint64()) report_.lost += json["count"].GetUint64();
  }
  ++report_.lines;
  report_.last = number;
  hash_ = report_.last_hash = ChainHash(line);
}

}  // namespace ratchet::audit
