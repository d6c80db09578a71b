// Small parts of client requests that several methods share. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell_codec.h"
#include "common/model/proto/client.pb.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

using PbAttributes = google::protobuf::RepeatedPtrField<pb::NameBytesPair>;

inline constexpr std::string_view kReturnAttribute = "_rr_";  // for append and increment: whether to return results

[[nodiscard]] std::optional<std::string_view> FindAttribute(const PbAttributes& attributes, std::string_view name);
// Returns nullopt when absent; kInvalidArgument when it is not 8 bytes long.
[[nodiscard]] Result<std::optional<std::int64_t>> NumberAttribute(const PbAttributes& attributes,
                                                                  std::string_view name);
// Absent means true; otherwise one byte, where 0 means false.
[[nodiscard]] bool WantsResults(const PbAttributes& attributes);

// Convert messages into requests to a region. Errors carry the exception class that clients expect.
[[nodiscard]] Result<GetSpec> MakeGetSpec(const pb::Get& get, bool meta);
[[nodiscard]] Result<ScanSpec> MakeScanSpec(const pb::Scan& scan);
// Takes the mutation's cells out of `block`, even when the mutation is refused for another reason, so that the
// following cells stay in place. After an error of `block` itself the rest cannot be read (kCorruption). `now_ms` is
// the wall clock, from which an operation's age is subtracted.
[[nodiscard]] Result<Mutation> MakeMutation(const pb::MutationProto& mutation, std::uint64_t nonce_group,
                                            std::int64_t now_ms, CellBlockReader& block);
[[nodiscard]] Result<Condition> MakeCondition(const pb::Condition& condition);

}  // namespace ratchet::regionserver
