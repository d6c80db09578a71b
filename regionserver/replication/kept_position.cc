#include "regionserver/replication/kept_position.h"

#include <charconv>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

std::string ToText(const KeptPosition& kept) {
  const std::string position = ToText(kept.position);
  return kept.claims == 0 ? position : fmt::format("{}#{}", position, kept.claims);
}

Result<KeptPosition> ParseKeptPosition(std::string_view text) {
  KeptPosition kept;
  const std::size_t mark = text.find('#');
  RATCHET_ASSIGN(kept.position, ParseLogPosition(std::string(text.substr(0, mark))));
  if (mark == std::string_view::npos) return kept;
  const std::string_view claims = text.substr(mark + 1);
  const auto parsed = std::from_chars(claims.data(), claims.data() + claims.size(), kept.claims);
  if (parsed.ec != std::errc() || parsed.ptr != claims.data() + claims.size() || kept.claims == 0 ||
      kept.claims == UINT64_MAX)
    return Error(Code::kCorruption, fmt::format("'{}' is not a valid position with claims", text));
  return kept;
}

KeptPosition Claimed(const std::optional<KeptPosition>& kept) {
  if (!kept) return {{}, 1};
  return {kept->position, kept->claims + 1};
}

Result<std::optional<KeptPosition>> MovedTo(const std::optional<KeptPosition>& kept, std::uint64_t own,
                                            const LogPosition& position) {
  if (kept && kept->claims > own && !RATCHET_MUTANT("replication.late_positions"))
    return Error(Code::kStale, "another server ships these logs now");
  if (kept && kept->position >= position) return std::optional<KeptPosition>();
  return std::optional<KeptPosition>(KeptPosition{position, own});
}

}  // namespace ratchet::regionserver
