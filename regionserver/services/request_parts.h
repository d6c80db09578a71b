// Small parts of client requests that several methods share. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/client.pb.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

using PbAttributes = google::protobuf::RepeatedPtrField<pb::NameBytesPair>;

inline constexpr std::string_view kTtlAttribute = "_ttl";          // of a mutation: life of its cells, 8 bytes BE, ms
inline constexpr std::string_view kReturnAttribute = "_rr_";       // of append and increment: whether to return results

[[nodiscard]] std::optional<std::string_view> FindAttribute(const PbAttributes& attributes, std::string_view name);
// nullopt when absent; kInvalidArgument when it is not 8 bytes long.
[[nodiscard]] Result<std::optional<std::int64_t>> NumberAttribute(const PbAttributes& attributes, std::string_view name);
// Absent means yes; otherwise one byte, 0 means no.
[[nodiscard]] bool WantsResults(const PbAttributes& attributes);

// Server-side filters are not offered yet: kUnsupported, as DoNotRetryIOException, naming the filter.
[[nodiscard]] Status RefuseFilter(const pb::Filter& filter);

// What a condition compares with. `prefix`: only the first bytes of the stored value, as long as `value`, count.
struct ConditionValue {
  std::string value;
  bool null = false;  // NullComparator: the cell must (not) exist
  bool prefix = false;
};
// BinaryComparator, BinaryPrefixComparator and NullComparator; anything else is refused, naming it.
[[nodiscard]] Result<ConditionValue> ParseComparator(const pb::Comparator& comparator);

}  // namespace ratchet::regionserver
