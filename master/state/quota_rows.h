// What hbase:quota holds, in HBase's form: whose quota a cell is, and what a request makes of it. Pure.
//
//   row                    column    value
//   u.<user>               q:s       of the user
//   u.<user>               q:s.<table>, q:s.<namespace>:   of the user in it
//   t.<table>, n.<namespace>, r.all   q:s   of all users in it; of each region server
//   exceedThrottleQuota    q:s       one byte, other than 0: what a server has room for may exceed other limits
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

// Which cell the request changes, without a value. DoNotRetryIOException: it says nothing that can be limited, or asks
// for what is not offered.
[[nodiscard]] Result<SystemCell> QuotaCellOf(const hbase::pb::SetQuotaRequest& request);
// The cell's value after the request; nothing: the cell goes.
[[nodiscard]] Result<SystemTable::Value> ChangedQuotas(const hbase::pb::SetQuotaRequest& request,
                                                       const SystemTable::Value& stored);
[[nodiscard]] bool ReadSwitch(const SystemTable::Value& stored);
[[nodiscard]] std::string WrittenSwitch(bool on);
// Whose quota the cell is. kCorruption: it cannot be read.
[[nodiscard]] Result<hbase::pb::ThrottleOf> ThrottleIn(const SystemCell& cell);
// Some limit of it is for the whole cluster.
[[nodiscard]] bool IsShared(const hbase::pb::Quotas& quotas);
// Those limits, cut to one server's part of them; at least 1.
void TakeShare(double share, hbase::pb::Quotas& quotas);
// An error: HBase's rule for letting a server's room exceed other limits does not hold.
[[nodiscard]] Status AllowsExceeding(const SystemTable::Value& of_servers);

}  // namespace ratchet::master
