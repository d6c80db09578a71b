// Tags of a cell: data that HBase stores with the value. Each has a type and its own bytes. One type has a meaning
// here, the time to live; all others are stored and returned.
//
// Encoded as on the wire: for each tag two bytes of length (of type and bytes together), a byte of type, the bytes.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

inline constexpr std::size_t kMaxTagsLength = 32767;  // all tags of one cell, bytes
inline constexpr std::uint8_t kTtlTag = 8;            // 8 bytes, big-endian: ms
inline constexpr std::size_t kTtlTagSize = 2 + 1 + 8;
// Attribute of a mutation: the time to live of its cells, instead of a tag; 8 bytes, big-endian: ms.
inline constexpr std::string_view kTtlAttribute = "_ttl";
// For tags of HBase's access lists and visibility labels, which are not supported: a cell with them would be
// unprotected.
[[nodiscard]] bool IsProtectionTag(std::uint8_t type);

// kInvalidArgument: the bytes are not tags, are too many, or a time to live does not have 8 bytes. As in HBase, a time
// to live of 0 or less is valid: the cell expires at its timestamp or before.
[[nodiscard]] Status CheckTags(std::string_view tags);
// The type of the first tag of `tags` that protects the cell. CheckTags first.
[[nodiscard]] std::optional<std::uint8_t> ProtectionTagIn(std::string_view tags);
// Returns the time to live in ms. If there are several, the first one counts, as in HBase.
[[nodiscard]] std::optional<std::int64_t> TtlIn(std::string_view tags);
// Returns all other tags, unchanged.
[[nodiscard]] std::string WithoutTtl(std::string_view tags);
// True if `tags` have room for an additional time to live, if there is one: servers store it separately, and return it
// as a tag.
[[nodiscard]] inline bool HaveRoom(std::string_view tags, std::optional<std::int64_t> ttl_ms) {
  return tags.size() + (ttl_ms ? kTtlTagSize : 0) <= kMaxTagsLength;
}
void AppendTtlTag(std::int64_t ttl_ms, std::string& tags);

}  // namespace ratchet
