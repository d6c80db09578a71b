#include "master/storage/descriptor_file.h"

#include <charconv>

#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/storage/checked_content.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kPrefix = "desc.";

}  // namespace

std::string DescriptorFileName(std::uint64_t number, ProcId writer) {
  if (number == writer.value()) return fmt::format("{}{}", kPrefix, number);
  return fmt::format("{}{}.{}", kPrefix, number, writer);
}

std::optional<DescriptorName> ParseDescriptorFileName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  DescriptorName parsed{0, 0, std::string(name)};
  const char* at = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size();
  const auto number = std::from_chars(at, end, parsed.number);
  if (number.ec != std::errc()) return std::nullopt;
  parsed.writer = parsed.number;
  if (number.ptr == end) return parsed;
  if (*number.ptr != '.') return std::nullopt;
  const auto writer = std::from_chars(number.ptr + 1, end, parsed.writer);
  if (writer.ec != std::errc() || writer.ptr != end) return std::nullopt;
  return parsed;
}

std::string EncodeDescriptorFile(const TableDescriptor& descriptor) {
  hbase::pb::TableSchema schema;
  ToProto(descriptor, schema);
  return WithChecksum(schema.SerializeAsString());
}

Result<TableDescriptor> DecodeDescriptorFile(std::string_view bytes) {
  RATCHET_ASSIGN(const std::string_view body, CheckedContent(bytes, "the descriptor file"));
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Error(Code::kCorruption, "the descriptor file has no valid table schema");
  }
  return FromProto(schema);
}

}  // namespace ratchet::master
