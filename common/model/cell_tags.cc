#include "common/model/cell_tags.h"

#include <fmt/format.h>

#include "common/model/cell.h"

namespace ratchet {
namespace {

struct Tag {
  std::uint8_t type = 0;
  std::string_view value;
  std::string_view whole;
};

// Cuts the first tag off; nullopt when the bytes at the front are not a tag.
std::optional<Tag> CutTag(std::string_view& rest) {
  if (rest.size() < 3) return std::nullopt;
  const std::size_t length =
      std::size_t{static_cast<unsigned char>(rest[0])} << 8 | static_cast<unsigned char>(rest[1]);
  if (length == 0 || length > rest.size() - 2) return std::nullopt;
  const Tag tag{static_cast<std::uint8_t>(rest[2]), rest.substr(3, length - 1), rest.substr(0, 2 + length)};
  rest.remove_prefix(2 + length);
  return tag;
}

}  // namespace

bool IsProtectionTag(std::uint8_t type) {
  return type == 1 || type == 2 || type == 4 || type == 7;  // ACL, VISIBILITY, its format, its text
}

Status CheckTags(std::string_view tags) {
  if (tags.size() > kMaxTagsLength)
    return Error(Code::kInvalidArgument, fmt::format("tags of {} bytes; at most {}", tags.size(), kMaxTagsLength));
  while (!tags.empty()) {
    const auto tag = CutTag(tags);
    if (!tag) return Error(Code::kInvalidArgument, "malformed tags of a cell");
    std::int64_t ttl = 0;
    if (tag->type == kTtlTag && !DecodeInt64(tag->value, ttl))
      return Error(Code::kInvalidArgument,
                   fmt::format("a tag with a time to live has {} bytes; it must have 8", tag->value.size()));
  }
  return Ok();
}

std::optional<std::uint8_t> ProtectionTagIn(std::string_view tags) {
  while (const auto tag = CutTag(tags)) {
    if (IsProtectionTag(tag->type)) return tag->type;
  }
  return std::nullopt;
}

std::optional<std::int64_t> TtlIn(std::string_view tags) {
  while (const auto tag = CutTag(tags)) {
    std::int64_t ttl = 0;
    if (tag->type == kTtlTag && DecodeInt64(tag->value, ttl)) return ttl;
  }
  return std::nullopt;
}

std::string WithoutTtl(std::string_view tags) {
  std::string others;
  while (const auto tag = CutTag(tags)) {
    if (tag->type != kTtlTag) others += tag->whole;
  }
  return others;
}

void AppendTtlTag(std::int64_t ttl_ms, std::string& tags) {
  const std::string value = EncodeInt64(ttl_ms);
  tags.push_back('\0');
  tags.push_back(static_cast<char>(value.size() + 1));
  tags.push_back(static_cast<char>(kTtlTag));
  tags += value;
}

}  // namespace ratchet
