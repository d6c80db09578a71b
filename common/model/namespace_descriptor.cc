#include "common/model/namespace_descriptor.h"

#include <charconv>

#include <fmt/format.h>

#include "common/model/proto/common.pb.h"

namespace ratchet {
namespace {

std::optional<std::uint64_t> LimitOf(const NamespaceDescriptor& descriptor, std::string_view property) {
  const auto found = descriptor.properties.find(property);
  if (found == descriptor.properties.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t limit = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return limit;
}

}  // namespace

Status CheckNamespaceName(std::string_view name) { return TableName(std::string(name), "t").Check(); }

bool IsReservedNamespace(std::string_view name) { return name == kDefaultNamespace || name == kSystemNamespace; }

Status NamespaceDescriptor::Check() const {
  RATCHET_TRY(CheckNamespaceName(name));
  for (const std::string_view property : {kMaxTablesProperty, kMaxRegionsProperty}) {
    const auto found = properties.find(property);
    if (found == properties.end() || LimitOf(*this, property).value_or(0) > 0) continue;
    return Error(Code::kInvalidArgument,
                 fmt::format("namespace {}: {} is '{}', and must be a whole number above 0; leave it out for no limit",
                             name, property, found->second.substr(0, 40)));
  }
  const std::size_t bytes = EncodeNamespace(*this).size();
  if (bytes <= kMaxNamespaceBytes) return Ok();
  return Error(Code::kInvalidArgument, fmt::format("namespace {}: name and properties have {} bytes: at most {}", name,
                                                   bytes, kMaxNamespaceBytes));
}

std::optional<std::uint64_t> NamespaceDescriptor::max_tables() const { return LimitOf(*this, kMaxTablesProperty); }
std::optional<std::uint64_t> NamespaceDescriptor::max_regions() const { return LimitOf(*this, kMaxRegionsProperty); }

void ToProto(const NamespaceDescriptor& descriptor, hbase::pb::NamespaceDescriptor& out) {
  out.set_name(descriptor.name);
  for (const auto& [key, value] : descriptor.properties) {
    auto& pair = *out.add_configuration();
    pair.set_name(key);
    pair.set_value(value);
  }
}

NamespaceDescriptor FromProto(const hbase::pb::NamespaceDescriptor& message) {
  NamespaceDescriptor descriptor;
  descriptor.name = message.name();
  for (const auto& pair : message.configuration()) descriptor.properties[pair.name()] = pair.value();
  return descriptor;
}

std::string EncodeNamespace(const NamespaceDescriptor& descriptor) {
  hbase::pb::NamespaceDescriptor message;
  ToProto(descriptor, message);
  return message.SerializeAsString();
}

Result<NamespaceDescriptor> DecodeNamespace(const std::string& bytes) {
  hbase::pb::NamespaceDescriptor message;
  if (!message.ParseFromString(bytes)) return Error(Code::kCorruption, "not the description of a namespace");
  return FromProto(message);
}

}  // namespace ratchet
