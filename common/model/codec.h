// Conversions between model types and messages. FromProto checks the invariants of the type.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"

namespace hbase::pb {
class ColumnFamilySchema;
class RegionInfo;
class RegionSpecifier;
class ServerName;
class TableName;
class TableSchema;
}  // namespace hbase::pb

namespace ratchet {

void ToProto(const TableName& name, hbase::pb::TableName& out);
void ToProto(const ServerName& name, hbase::pb::ServerName& out);
void ToProto(const RegionInfo& region, hbase::pb::RegionInfo& out);
void ToProto(const FamilyDescriptor& family, hbase::pb::ColumnFamilySchema& out);
void ToProto(const TableDescriptor& table, hbase::pb::TableSchema& out);

[[nodiscard]] Result<TableName> FromProto(const hbase::pb::TableName& name);
[[nodiscard]] Result<ServerName> FromProto(const hbase::pb::ServerName& name);
[[nodiscard]] Result<RegionInfo> FromProto(const hbase::pb::RegionInfo& region);
[[nodiscard]] Result<TableDescriptor> FromProto(const hbase::pb::TableSchema& schema);

// REGION_NAME with the full name, and ENCODED_REGION_NAME.
void SpecifyRegion(const RegionInfo& region, hbase::pb::RegionSpecifier& out);
void SpecifyEncoded(std::string_view encoded_name, hbase::pb::RegionSpecifier& out);
// The encoded name, whichever form was sent; kInvalidArgument when there is none.
[[nodiscard]] Result<std::string> EncodedNameOf(const hbase::pb::RegionSpecifier& specifier);

}  // namespace ratchet
