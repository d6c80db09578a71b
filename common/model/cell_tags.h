// Tags of a cell: what HBase keeps beside the value. Each has a type and bytes of its own; one type has a meaning here,
// the time to live, all others are kept and given back.
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
// Attribute of a mutation: the time to live of its cells, in the place of their tags; 8 bytes, big-endian: ms.
inline constexpr std::string_view kTtlAttribute = "_ttl";
// Of HBase's access lists and visibility labels, which are not offered: a cell with them would be without protection.
[[nodiscard]] bool IsProtectionTag(std::uint8_t type);

// kInvalidArgument: the bytes are no tags, are too many, or a time to live is no positive number of 8 bytes.
[[nodiscard]] Status CheckTags(std::string_view tags);
// The type of the first tag of `tags` that protects the cell. CheckTags first.
[[nodiscard]] std::optional<std::uint8_t> ProtectionTagIn(std::string_view tags);
// ms; of several the first one counts, as in HBase. 0: none.
[[nodiscard]] std::int64_t TtlIn(std::string_view tags);
// The others, as they are.
[[nodiscard]] std::string WithoutTtl(std::string_view tags);
// `tags` have room for a time to live beside them, if there is one: servers keep it by itself, and give it back as a
// tag.
[[nodiscard]] inline bool HaveRoom(std::string_view tags, std::int64_t ttl_ms) {
  return tags.size() + (ttl_ms > 0 ? kTtlTagSize : 0) <= kMaxTagsLength;
}
void AppendTtlTag(std::int64_t ttl_ms, std::string& tags);

}  // namespace ratchet
