#include "master/files/descriptor_file.h"

#include <charconv>

#include <fmt/core.h>

#include "common/base/crc32c.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kPrefix = "desc.";
constexpr std::size_t kChecksumBytes = 4;

}  // namespace

std::string DescriptorFileName(ProcId pid) { return fmt::format("{}{}", kPrefix, pid); }

std::optional<ProcId> ParseDescriptorFileName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || name.empty()) return std::nullopt;
  return ProcId(number);
}

std::string EncodeDescriptorFile(const TableDescriptor& descriptor) {
  hbase::pb::TableSchema schema;
  ToProto(descriptor, schema);
  const std::string body = schema.SerializeAsString();
  const std::uint32_t crc = Crc32c(body);
  std::string bytes;
  for (std::size_t i = 0; i < kChecksumBytes; ++i) bytes.push_back(static_cast<char>((crc >> (8 * i)) & 0xff));
  return bytes + body;
}

Result<TableDescriptor> DecodeDescriptorFile(std::string_view bytes) {
  if (bytes.size() < kChecksumBytes) return Error(Code::kCorruption, "the descriptor file is too short");
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kChecksumBytes; ++i) {
    crc |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  const std::string_view body = bytes.substr(kChecksumBytes);
  if (Crc32c(body) != crc) return Error(Code::kCorruption, "the descriptor file's checksum is wrong");
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Error(Code::kCorruption, "the descriptor file holds no table schema");
  }
  return FromProto(schema);
}

}  // namespace ratchet::master
