#include "common/identity/user_rules.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/utf8.h"
#include "common/identity/rule_file.h"
#include "common/rights/rights_entry.h"

namespace ratchet::identity {
namespace {

constexpr std::int64_t kPatternMemory = 1 << 20;  // RE2 refuses patterns that need more

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace

struct UserRules::Rule {
  std::shared_ptr<const RE2> pattern;
  std::string replacement;
};

Result<UserRules> UserRules::Parse(std::string_view text) {
  RATCHET_ASSIGN(const std::vector<RuleLine> lines, SplitRules(text));
  auto rules = std::make_shared<std::vector<Rule>>();
  for (const RuleLine& line : lines) {
    const auto refuse = [&line](std::string_view why) {
      return Error(Code::kInvalidArgument, fmt::format("line {}: {}", line.number, why));
    };
    if (line.words.size() != 2) return refuse("it must have a pattern and a replacement, separated by spaces");
    if (line.words[0].size() > kMostPatternBytes || line.words[1].size() > kMostPatternBytes)
      return refuse(fmt::format("longer than {} bytes", kMostPatternBytes));
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kPatternMemory);
    auto pattern = std::make_shared<const RE2>(line.words[0], options);
    if (!pattern->ok()) return refuse(fmt::format("'{}': {}", ShownName(line.words[0]), pattern->error()));
    std::string why;
    if (!pattern->CheckRewriteString(line.words[1], &why)) return refuse(fmt::format("'{}': {}", line.words[1], why));
    rules->push_back({std::move(pattern), line.words[1]});
  }
  UserRules made;
  made.rules_ = std::move(rules);
  return made;
}

bool UserRules::Matches(std::string_view name) const {
  return rules_ != nullptr && name.size() <= kMostNameBytes &&
         std::any_of(rules_->begin(), rules_->end(), [name](const Rule& rule) {
           return RE2::FullMatch({name.data(), name.size()}, *rule.pattern);
         });
}

Result<std::string> UserRules::UserOf(std::string_view name) const {
  const auto refuse = [name](std::string_view why) {
    return Error(Code::kInvalidArgument, fmt::format("the name '{}' {}", ShownName(name), why));
  };
  if (name.empty()) return refuse("is empty");
  if (name.size() > kMostNameBytes) return refuse("is too long");
  if (HasControl(name) || ToUtf8(name) != name) return refuse("has control characters or is not UTF-8");
  std::string user(name);
  if (rules_ != nullptr) {
    const auto matches = [name](const Rule& rule) { return RE2::FullMatch({name.data(), name.size()}, *rule.pattern); };
    const auto rule = std::find_if(rules_->begin(), rules_->end(), matches);
    if (rule == rules_->end()) return refuse("matches no rule of --tls-user-rules");
    user.clear();
    // Anchored: Extract alone would take a match inside the name.
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(1 + rule->pattern->NumberOfCapturingGroups()));
    const re2::StringPiece whole(name.data(), name.size());
    if (!rule->pattern->Match(whole, 0, whole.size(), RE2::ANCHOR_BOTH, groups.data(),
                              static_cast<int>(groups.size())) ||
        !rule->pattern->Rewrite(&user, rule->replacement, groups.data(), static_cast<int>(groups.size())))
      return refuse("cannot be rewritten by its rule");
  }
  if (user.starts_with(rights::kGroupMark)) return refuse("gives a user that begins with '@', as groups do");
  const Status usable = rights::CheckGrantee(user);
  if (!usable.ok()) return refuse(fmt::format("gives no user: {}", usable.error().message()));
  return user;
}

}  // namespace ratchet::identity
