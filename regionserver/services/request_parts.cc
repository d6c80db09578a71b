#include "regionserver/services/request_parts.h"

#include <fmt/core.h>

#include "common/model/cell.h"
#include "common/model/proto/filter.pb.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

constexpr std::string_view kFilterPackage = "org.apache.hadoop.hbase.filter.";

Error Unreadable(const std::string& name) {
  return rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("unreadable comparator {}", name));
}

}  // namespace

std::optional<std::string_view> FindAttribute(const PbAttributes& attributes, std::string_view name) {
  for (const auto& attribute : attributes) {
    if (attribute.name() == name) return attribute.value();
  }
  return std::nullopt;
}

Result<std::optional<std::int64_t>> NumberAttribute(const PbAttributes& attributes, std::string_view name) {
  const auto bytes = FindAttribute(attributes, name);
  if (!bytes.has_value()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  if (!DecodeInt64(*bytes, value)) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("attribute {} is not 8 bytes long", name));
  }
  return std::optional<std::int64_t>(value);
}

bool WantsResults(const PbAttributes& attributes) {
  const auto bytes = FindAttribute(attributes, kReturnAttribute);
  return !bytes.has_value() || bytes->empty() || bytes->front() != 0;
}

Status RefuseFilter(const pb::Filter& filter) {
  return Error(Code::kUnsupported, fmt::format("server-side filters are not offered yet: {}", filter.name()),
               std::string(rpc::exception::kDoNotRetryIo));
}

Result<ConditionValue> ParseComparator(const pb::Comparator& comparator) {
  std::string_view name = comparator.name();
  if (name.starts_with(kFilterPackage)) name.remove_prefix(kFilterPackage.size());
  ConditionValue result;
  if (name == "BinaryComparator") {
    pb::BinaryComparator message;
    if (!message.ParseFromString(comparator.serialized_comparator())) return Unreadable(comparator.name());
    result.value = message.comparable().value();
    return result;
  }
  if (name == "BinaryPrefixComparator") {
    pb::BinaryPrefixComparator message;
    if (!message.ParseFromString(comparator.serialized_comparator())) return Unreadable(comparator.name());
    result.value = message.comparable().value();
    result.prefix = true;
    return result;
  }
  if (name == "NullComparator") {
    result.null = true;
    return result;
  }
  return Error(Code::kUnsupported, fmt::format("comparator {} is not offered yet", comparator.name()),
               std::string(rpc::exception::kDoNotRetryIo));
}

}  // namespace ratchet::regionserver
