#include "common/tools/cli/family_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/tools/cli/suggest.h"

namespace ratchet::cli {
namespace {

// The attributes of HBase that affect how this cluster handles a family.
const std::vector<std::string>& LiveAttributes() {
  static const std::vector<std::string> names = {
      "VERSIONS", "MIN_VERSIONS", "TTL", "KEEP_DELETED_CELLS", "COMPRESSION", "BLOOMFILTER", "REPLICATION_SCOPE"};
  return names;
}

// The other attributes are accepted only with the value that they have here: another value is refused, because it would
// have no effect.
Status CheckAttribute(const std::string& family, std::string_view key, std::string_view value) {
  if (key == "KEEP_DELETED_CELLS" && value != "TRUE" && value != "FALSE" && value != "TTL") {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': KEEP_DELETED_CELLS is TRUE, FALSE or TTL, not '{}'", family, value));
  }
  constexpr std::array<std::string_view, 5> kCompressions = {"NONE", "SNAPPY", "LZ4", "GZ", "ZSTD"};
  if (key == "COMPRESSION" && std::find(kCompressions.begin(), kCompressions.end(), value) == kCompressions.end()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': COMPRESSION is NONE, SNAPPY, LZ4, GZ or ZSTD, not '{}'", family, value));
  }
  if (key == "BLOOMFILTER" && value != "NONE" && value != "ROW" && value != "ROWCOL") {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': BLOOMFILTER is NONE, ROW or ROWCOL, not '{}'", family, value));
  }
  if (key == "REPLICATION_SCOPE" && value != "0" && value != "1") {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': REPLICATION_SCOPE is 0 (stays in this cluster) or 1 (is shipped to peers), "
                             "not '{}'",
                             family, value));
  }
  if (std::find(LiveAttributes().begin(), LiveAttributes().end(), key) != LiveAttributes().end()) return Ok();
  const FamilyDescriptor known = DefaultFamily("f");
  const auto found = known.attributes.find(key);
  if (found == known.attributes.end()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': there is no attribute '{}'{} (VERSIONS, MIN_VERSIONS, TTL, "
                             "KEEP_DELETED_CELLS, COMPRESSION, BLOOMFILTER, REPLICATION_SCOPE)",
                             family, key, DidYouMean(key, LiveAttributes())));
  }
  if (found->second == value) return Ok();
  return Error(
      Code::kInvalidArgument,
      fmt::format("family '{}': {}={} would have no effect here, it is always {}; VERSIONS, "
                  "MIN_VERSIONS, TTL, KEEP_DELETED_CELLS, COMPRESSION, BLOOMFILTER and REPLICATION_SCOPE can be set",
                  family, key, value, found->second));
}

}  // namespace

Status SetAttributes(const std::string& text, FamilyDescriptor& family) {
  const auto colon = text.find(':');
  std::string_view rest = colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(Code::kInvalidArgument, fmt::format("family '{}': expected NAME:KEY=VALUE,... at '{}'", text, item));
    }
    RATCHET_TRY(CheckAttribute(text, item.substr(0, equals), item.substr(equals + 1)));
    family.attributes[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return Ok();
}

Result<FamilyDescriptor> ParseFamily(const std::string& text) {
  FamilyDescriptor family = DefaultFamily(FamilyName(text));
  RATCHET_TRY(SetAttributes(text, family));
  return family;
}

std::string FamilyName(const std::string& text) { return text.substr(0, text.find(':')); }

}  // namespace ratchet::cli
