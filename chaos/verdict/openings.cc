#include "chaos/verdict/openings.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "chaos/verdict/settled.h"
#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

// Returns the text after `key`, up to the next comma.
std::string_view Behind(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find(','));
}

bool ToNumber(std::string_view text, std::uint64_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::optional<Opening> ParseOpening(const std::string& process, const std::string& line) {
  Opening opening;
  opening.process = process;
  opening.region = Behind(line, "Opened region ");
  const bool whole = ToNumber(Behind(line, "opening="), opening.number) &&
                     ToNumber(Behind(line, "first sequence="), opening.first_sequence);
  if (opening.region.empty() || !whole) return std::nullopt;
  return opening;
}

Finding JudgeOpenings(std::vector<Opening> openings) {
  std::sort(openings.begin(), openings.end(), [](const Opening& a, const Opening& b) {
    return std::tie(a.region, a.number) < std::tie(b.region, b.number);
  });
  std::vector<std::string> wrong;
  std::set<std::string> regions;
  const Opening* before = nullptr;
  for (const auto& opening : openings) {
    regions.insert(opening.region);
    if (before != nullptr && before->region == opening.region) {
      if (before->number == opening.number) {
        wrong.push_back(fmt::format("region {}: opening {} twice, by {} and by {}", opening.region, opening.number,
                                    before->process, opening.process));
      } else if (before->first_sequence > opening.first_sequence) {
        wrong.push_back(
            fmt::format("region {}: opening {} by {} begins at sequence {}, opening {} by {} before it at {}",
                        opening.region, opening.number, opening.process, opening.first_sequence, before->number,
                        before->process, before->first_sequence));
      }
    }
    before = &opening;
  }
  if (openings.empty()) return {false, "no region was opened: the owners are unknown"};
  return Summary(
      fmt::format(
          "{} of {} over the whole run: each number belongs to one server, and none began below the previous one",
          Counted(openings.size(), "opening"), Counted(regions.size(), "region")),
      "openings that more than one server may have owned", wrong);
}

}  // namespace ratchet::chaos
