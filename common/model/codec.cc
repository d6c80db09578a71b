#include "common/model/codec.h"

#include <algorithm>

#include "common/model/name_rules.h"
#include "common/model/proto/common.pb.h"

namespace ratchet {
namespace {

template <class Pairs>
void PutBytesPairs(const Attributes& attributes, Pairs* out) {
  for (const auto& [key, value] : attributes) {
    auto* pair = out->Add();
    pair->set_first(key);
    pair->set_second(value);
  }
}

template <class Pairs>
void PutStringPairs(const Attributes& attributes, Pairs* out) {
  for (const auto& [key, value] : attributes) {
    auto* pair = out->Add();
    pair->set_name(key);
    pair->set_value(value);
  }
}

template <class Schema>
void CopyPairs(const Schema& schema, Attributes& attributes, Attributes& configuration) {
  for (const auto& pair : schema.attributes()) attributes[pair.first()] = pair.second();
  for (const auto& pair : schema.configuration()) configuration[pair.name()] = pair.value();
}

}  // namespace

void ToProto(const TableName& name, hbase::pb::TableName& out) {
  out.set_namespace_(name.ns);
  out.set_qualifier(name.qualifier);
}

void ToProto(const ServerName& name, hbase::pb::ServerName& out) {
  out.set_host_name(name.host);
  out.set_port(name.port);
  out.set_start_code(name.start_code);
}

void ToProto(const RegionInfo& region, hbase::pb::RegionInfo& out) {
  out.set_region_id(region.region_id);
  ToProto(region.table, *out.mutable_table_name());
  out.set_start_key(region.start_key);
  out.set_end_key(region.end_key);
  out.set_offline(region.offline);
  out.set_split(region.split);
  out.set_replica_id(region.replica_id);
}

void ToProto(const FamilyDescriptor& family, hbase::pb::ColumnFamilySchema& out) {
  out.set_name(family.name);
  PutBytesPairs(family.attributes, out.mutable_attributes());
  PutStringPairs(family.configuration, out.mutable_configuration());
  if (family.added_by != 0) out.set_added_by(family.added_by);
}

void ToProto(const TableDescriptor& table, hbase::pb::TableSchema& out) {
  ToProto(table.name, *out.mutable_table_name());
  PutBytesPairs(table.attributes, out.mutable_attributes());
  PutStringPairs(table.configuration, out.mutable_configuration());
  for (const std::string& family : table.dropped) out.add_dropped_family(family);
  for (const FamilyDescriptor& family : table.families) {
    ToProto(family, *out.add_column_families());
  }
}

Result<TableName> FromProto(const hbase::pb::TableName& name) {
  TableName out(name.namespace_().empty() ? std::string(kDefaultNamespace) : name.namespace_(), name.qualifier());
  RATCHET_TRY(out.Check());
  return out;
}

Result<ServerName> FromProto(const hbase::pb::ServerName& name) {
  if (name.port() > UINT16_MAX) {
    return Error(Code::kInvalidArgument, fmt::format("port {} is out of range", name.port()));
  }
  ServerName out{name.host_name(), static_cast<std::uint16_t>(name.port()), name.start_code()};
  RATCHET_TRY(CheckServerName(out));
  return out;
}

Result<RegionInfo> FromProto(const hbase::pb::RegionInfo& region) {
  RegionInfo out;
  RATCHET_ASSIGN(out.table, FromProto(region.table_name()));
  out.start_key = region.start_key();
  out.end_key = region.end_key();
  out.region_id = region.region_id();
  out.replica_id = region.replica_id();
  out.offline = region.offline();
  out.split = region.split();
  return out;
}

Result<TableDescriptor> FromProto(const hbase::pb::TableSchema& schema) {
  TableDescriptor out;
  RATCHET_ASSIGN(out.name, FromProto(schema.table_name()));
  CopyPairs(schema, out.attributes, out.configuration);
  out.dropped.insert(schema.dropped_family().begin(), schema.dropped_family().end());
  for (const auto& family : schema.column_families()) {
    FamilyDescriptor descriptor;
    descriptor.name = family.name();
    CopyPairs(family, descriptor.attributes, descriptor.configuration);
    descriptor.added_by = family.added_by();
    out.families.push_back(std::move(descriptor));
  }
  std::stable_sort(out.families.begin(), out.families.end(),
                   [](const FamilyDescriptor& a, const FamilyDescriptor& b) { return a.name < b.name; });
  return out;
}

void SpecifyRegion(const RegionInfo& region, hbase::pb::RegionSpecifier& out) {
  out.set_type(hbase::pb::RegionSpecifier::REGION_NAME);
  out.set_value(region.name());
}

void SpecifyEncoded(std::string_view encoded_name, hbase::pb::RegionSpecifier& out) {
  out.set_type(hbase::pb::RegionSpecifier::ENCODED_REGION_NAME);
  out.set_value(encoded_name.data(), encoded_name.size());
}

Result<std::string> EncodedNameOf(const hbase::pb::RegionSpecifier& specifier) {
  if (specifier.type() == hbase::pb::RegionSpecifier::REGION_NAME) return EncodedNameOf(specifier.value());
  if (specifier.value().empty()) return Error(Code::kInvalidArgument, "an empty region name");
  return specifier.value();
}

}  // namespace ratchet
