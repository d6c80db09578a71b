// The cells of hbase:quota, in HBase's format: the subject of a cell's quota, and the effect of a request. Pure.
//
//   row                    column                          value
//   u.<user>               q:s                             quota of the user
//   u.<user>               q:s.<table>, q:s.<namespace>:   quota of the user in the table or namespace
//   t.<table>              q:s                             quota of all users of the table
//   n.<namespace>          q:s                             quota of all users of the namespace
//   r.all                  q:s                             quota of each region server
//   exceedThrottleQuota    q:s                             not 0: free capacity of a server may exceed other limits
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/env/system_table.h"

namespace ratchet::master {

inline constexpr std::string_view kQuotaFamily = "q";
inline constexpr std::string_view kQuotaQualifier = "s";
inline constexpr std::string_view kExceedRow = "exceedThrottleQuota";
inline constexpr std::string_view kServersRow = "r.all";

[[nodiscard]] const TableName& QuotaTableName();
[[nodiscard]] TableDescriptor QuotaTableDescriptor();

// Returns the cell that the request changes, without a value. DoNotRetryIOException: the request has no limit, or an
// unsupported one.
[[nodiscard]] Result<SystemCell> QuotaCellOf(const hbase::pb::SetQuotaRequest& request);
// Returns the cell's value after the request; nullopt if the cell is deleted.
[[nodiscard]] Result<SystemTable::Value> ChangedQuotas(const hbase::pb::SetQuotaRequest& request,
                                                       const SystemTable::Value& stored);
[[nodiscard]] bool ReadSwitch(const SystemTable::Value& stored);
[[nodiscard]] std::string WrittenSwitch(bool on);
// Returns the subject of the cell's quota. kCorruption: the cell is invalid.
[[nodiscard]] Result<hbase::pb::ThrottleOf> ThrottleIn(const SystemCell& cell);
// Returns true if at least one limit applies to the whole cluster.
[[nodiscard]] bool IsShared(const hbase::pb::Quotas& quotas);
// Reduces cluster-wide limits to one server's share; at least 1.
void ReduceToShare(double share, hbase::pb::Quotas& quotas);
// Returns an error if the servers' quotas do not meet HBase's condition for exceeding other limits.
[[nodiscard]] Status AllowsExceeding(const SystemTable::Value& of_servers);

}  // namespace ratchet::master
