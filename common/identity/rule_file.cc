#include "common/identity/rule_file.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/printable.h"
#include "common/base/small_file.h"
#include "common/base/utf8.h"

namespace ratchet::identity {

Result<std::vector<RuleLine>> SplitRules(std::string_view text) {
  if (text.size() > kMostRuleFileBytes)
    return Error(Code::kInvalidArgument, fmt::format("larger than {} bytes", kMostRuleFileBytes));
  if (ToUtf8(text) != text || text.find('\0') != std::string_view::npos)
    return Error(Code::kInvalidArgument, "not a text in UTF-8");
  std::vector<RuleLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    RuleLine rule{number, {}};
    constexpr std::string_view kBetween = " \t\r";
    for (std::size_t at = 0; (at = line.find_first_not_of(kBetween, at)) != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
      if (rule.words.empty() && line[at] == '#') break;
      rule.words.emplace_back(line.substr(at, end - at));
      at = end;
    }
    if (rule.words.empty()) continue;
    if (lines.size() == kMostRules) return Error(Code::kInvalidArgument, fmt::format("more than {} rules", kMostRules));
    lines.push_back(std::move(rule));
  }
  return lines;
}

Result<std::string> ReadRuleFile(const std::string& path) {
  return ReadSmallFile(path, kMostRuleFileBytes, RuleFile());
}

std::string ShownName(std::string_view name) {
  constexpr std::size_t kShown = 100;
  return PrintableText(name.substr(0, kShown));
}

}  // namespace ratchet::identity
