#include "master/cluster/quota_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "master/cluster/errors.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kMagic = "PBUF";
constexpr std::string_view kUserRow = "u.";
constexpr std::string_view kTableRow = "t.";
constexpr std::string_view kNamespaceRow = "n.";
constexpr std::string_view kServerRow = "r.";
constexpr std::string_view kNarrower = "s.";  // qualifier of a user's quota in a table or a namespace
constexpr std::size_t kLongestName = 10'000;  // bytes, so that a row's limit holds

Error Corrupt(const SystemCell& cell, std::string_view why) {
  return {Code::kCorruption, fmt::format("row '{}', column q:{} of hbase:quota: {}", cell.row, cell.qualifier, why)};
}

Result<hbase::pb::Quotas> QuotasIn(std::string_view value) {
  hbase::pb::Quotas quotas;
  if (!value.starts_with(kMagic)) return Error(Code::kCorruption, "the value does not begin with PBUF");
  value.remove_prefix(kMagic.size());
  if (!quotas.ParseFromArray(value.data(), static_cast<int>(value.size())))
    return Error(Code::kCorruption, "the value is not a valid Quotas message");
  return quotas;
}

// A field of Throttle, with its setter and its remover.
struct Limit {
  hbase::pb::ThrottleType type;
  bool (hbase::pb::Throttle::*has)() const;
  hbase::pb::TimedQuota* (hbase::pb::Throttle::*mutate)();
  void (hbase::pb::Throttle::*clear)();
};
constexpr std::array kLimits{
    Limit{hbase::pb::REQUEST_NUMBER, &hbase::pb::Throttle::has_req_num, &hbase::pb::Throttle::mutable_req_num,
          &hbase::pb::Throttle::clear_req_num},
    Limit{hbase::pb::REQUEST_SIZE, &hbase::pb::Throttle::has_req_size, &hbase::pb::Throttle::mutable_req_size,
          &hbase::pb::Throttle::clear_req_size},
    Limit{hbase::pb::WRITE_NUMBER, &hbase::pb::Throttle::has_write_num, &hbase::pb::Throttle::mutable_write_num,
          &hbase::pb::Throttle::clear_write_num},
    Limit{hbase::pb::WRITE_SIZE, &hbase::pb::Throttle::has_write_size, &hbase::pb::Throttle::mutable_write_size,
          &hbase::pb::Throttle::clear_write_size},
    Limit{hbase::pb::READ_NUMBER, &hbase::pb::Throttle::has_read_num, &hbase::pb::Throttle::mutable_read_num,
          &hbase::pb::Throttle::clear_read_num},
    Limit{hbase::pb::READ_SIZE, &hbase::pb::Throttle::has_read_size, &hbase::pb::Throttle::mutable_read_size,
          &hbase::pb::Throttle::clear_read_size},
    Limit{hbase::pb::REQUEST_CAPACITY_UNIT, &hbase::pb::Throttle::has_req_capacity_unit,
          &hbase::pb::Throttle::mutable_req_capacity_unit, &hbase::pb::Throttle::clear_req_capacity_unit},
    Limit{hbase::pb::WRITE_CAPACITY_UNIT, &hbase::pb::Throttle::has_write_capacity_unit,
          &hbase::pb::Throttle::mutable_write_capacity_unit, &hbase::pb::Throttle::clear_write_capacity_unit},
    Limit{hbase::pb::READ_CAPACITY_UNIT, &hbase::pb::Throttle::has_read_capacity_unit,
          &hbase::pb::Throttle::mutable_read_capacity_unit, &hbase::pb::Throttle::clear_read_capacity_unit},
};

bool LimitsAnything(const hbase::pb::Throttle& throttle) {
  return std::any_of(kLimits.begin(), kLimits.end(), [&](const Limit& limit) { return (throttle.*limit.has)(); });
}

Status CheckLimit(const hbase::pb::TimedQuota& quota) {
  if (quota.soft_limit() < 1)
    return IllegalRequest(fmt::format("the throttle limit must be greater than 0, got {}", quota.soft_limit()));
  if (quota.time_unit() == hbase::pb::NANOSECONDS || quota.time_unit() == hbase::pb::MICROSECONDS)
    return IllegalRequest("the time unit of a limit must be MILLISECONDS or longer");
  return Ok();
}

Status ApplyThrottle(const hbase::pb::ThrottleRequest& request, hbase::pb::Quotas& quotas) {
  if (!request.has_type()) {
    if (request.has_timed_quota()) return IllegalRequest("the throttle limit has no type");
    quotas.clear_throttle();
    return Ok();
  }
  const auto limit =
      std::find_if(kLimits.begin(), kLimits.end(), [&](const Limit& each) { return each.type == request.type(); });
  if (limit == kLimits.end()) return IllegalRequest(fmt::format("throttle type {} is not supported", request.type()));
  if (request.has_timed_quota()) {
    RATCHET_TRY(CheckLimit(request.timed_quota()));
    *(quotas.mutable_throttle()->*limit->mutate)() = request.timed_quota();
  } else if (quotas.has_throttle()) {
    (quotas.mutable_throttle()->*limit->clear)();
    if (!LimitsAnything(quotas.throttle())) quotas.clear_throttle();
  }
  return Ok();
}

Status CheckName(const std::string& name, std::string_view what) {
  if (name.empty() || name.size() > kLongestName)
    return IllegalRequest(fmt::format("{} of {} bytes: 1 to {}", what, name.size(), kLongestName));
  return Ok();
}

Result<std::string> TableIn(const hbase::pb::SetQuotaRequest& request) {
  const auto table = FromProto(request.table_name());
  if (!table.ok()) return IllegalRequest(table.error().message());
  return table->ToString();
}

Status CheckOffered(const hbase::pb::SetQuotaRequest& request) {
  if (request.has_user_group()) return IllegalRequest("quotas of groups of users are not supported");
  if (request.has_space_limit() && !request.space_limit().quota().remove())
    return IllegalRequest("space quotas are not supported; only request quotas (THROTTLE) are");
  if (request.bypass_globals() && !request.has_user_name())
    return IllegalRequest("only users can bypass the limits of tables, namespaces and servers");
  return Ok();
}

}  // namespace

const TableName& QuotaTableName() {
  static const TableName kName{std::string(kSystemNamespace), "quota"};
  return kName;
}

TableDescriptor QuotaTableDescriptor() {
  TableDescriptor table;
  table.name = QuotaTableName();
  table.families.push_back(DefaultFamily(std::string(kQuotaFamily)));
  table.families.push_back(DefaultFamily("u"));  // HBase keeps space quotas there
  return table;
}

Result<SystemCell> QuotaCellOf(const hbase::pb::SetQuotaRequest& request) {
  RATCHET_TRY(CheckOffered(request));
  SystemCell cell{"", std::string(kQuotaQualifier), ""};
  if (request.has_user_name()) {
    RATCHET_TRY(CheckName(request.user_name(), "the name of a user"));
    cell.row = std::string(kUserRow) + request.user_name();
    if (request.has_table_name()) {
      RATCHET_ASSIGN(const std::string table, TableIn(request));
      cell.qualifier = std::string(kNarrower) + table;
    } else if (request.has_namespace_()) {
      RATCHET_TRY(CheckName(request.namespace_(), "the name of a namespace"));
      cell.qualifier = std::string(kNarrower) + request.namespace_() + ':';
    }
  } else if (request.has_table_name()) {
    RATCHET_ASSIGN(const std::string table, TableIn(request));
    cell.row = std::string(kTableRow) + table;
  } else if (request.has_namespace_()) {
    RATCHET_TRY(CheckName(request.namespace_(), "the name of a namespace"));
    cell.row = std::string(kNamespaceRow) + request.namespace_();
  } else if (request.has_region_server()) {
    cell.row = std::string(kServerRow) + request.region_server();
    if (cell.row != kServersRow)
      return IllegalRequest(fmt::format("region server '{}': limits apply to all region servers, by the name 'all'",
                                        request.region_server()));
  } else {
    return IllegalRequest("the request must name a user, a table, a namespace or the region servers");
  }
  return cell;
}

Result<SystemTable::Value> ChangedQuotas(const hbase::pb::SetQuotaRequest& request, const SystemTable::Value& stored) {
  if (request.remove_all()) return SystemTable::Value();
  hbase::pb::Quotas quotas;
  if (stored) {
    RATCHET_ASSIGN(quotas, QuotasIn(*stored));
  }
  if (request.has_throttle()) RATCHET_TRY(ApplyThrottle(request.throttle(), quotas));
  if (request.has_bypass_globals()) {
    if (request.bypass_globals()) quotas.set_bypass_globals(true);
    if (!request.bypass_globals()) quotas.clear_bypass_globals();
  }
  if (!quotas.has_throttle() && !quotas.has_bypass_globals() && !quotas.has_space()) return SystemTable::Value();
  return SystemTable::Value(std::string(kMagic) + quotas.SerializeAsString());
}

bool ReadSwitch(const SystemTable::Value& stored) { return stored && !stored->empty() && stored->front() != '\0'; }

std::string WrittenSwitch(bool on) { return std::string(1, on ? '\xff' : '\0'); }

Result<hbase::pb::ThrottleOf> ThrottleIn(const SystemCell& cell) {
  const auto quotas = QuotasIn(cell.value);
  if (!quotas.ok()) return Corrupt(cell, quotas.error().message());
  hbase::pb::ThrottleOf of;
  *of.mutable_quotas() = *quotas;
  const auto set_table = [&of](std::string_view name) -> Status {
    RATCHET_ASSIGN(const TableName table, TableName::Parse(name));
    ToProto(table, *of.mutable_table());
    return Ok();
  };
  const std::string_view row = cell.row;
  const std::string_view column = cell.qualifier;
  Status named = Ok();
  if (row == kServersRow) return of;
  if (row.starts_with(kUserRow)) {
    of.set_user(std::string(row.substr(kUserRow.size())));
    if (column == kQuotaQualifier) return of;
    const std::string_view narrower = column.substr(std::min(column.size(), kNarrower.size()));
    if (!column.starts_with(kNarrower) || narrower.empty()) return Corrupt(cell, "unknown column");
    if (narrower.ends_with(':')) {
      of.set_namespace_(std::string(narrower.substr(0, narrower.size() - 1)));
    } else {
      named = set_table(narrower);
    }
  } else if (row.starts_with(kTableRow)) {
    named = set_table(row.substr(kTableRow.size()));
  } else if (row.starts_with(kNamespaceRow)) {
    of.set_namespace_(std::string(row.substr(kNamespaceRow.size())));
  } else {
    return Corrupt(cell, "unknown row");
  }
  if (!named.ok()) return Corrupt(cell, named.error().message());
  return of;
}

bool IsShared(const hbase::pb::Quotas& quotas) {
  hbase::pb::Throttle throttle = quotas.throttle();
  return std::any_of(kLimits.begin(), kLimits.end(), [&](const Limit& limit) {
    return (throttle.*limit.has)() && (throttle.*limit.mutate)()->scope() == hbase::pb::CLUSTER;
  });
}

void ReduceToShare(double share, hbase::pb::Quotas& quotas) {
  if (!quotas.has_throttle()) return;
  for (const Limit& limit : kLimits) {
    if (!(quotas.throttle().*limit.has)()) continue;
    hbase::pb::TimedQuota& quota = *(quotas.mutable_throttle()->*limit.mutate)();
    if (quota.scope() != hbase::pb::CLUSTER) continue;
    const double part = static_cast<double>(quota.soft_limit()) * share;
    quota.set_soft_limit(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part)));
  }
}

Status AllowsExceeding(const SystemTable::Value& of_servers) {
  hbase::pb::Throttle throttle;
  if (of_servers) {
    RATCHET_ASSIGN(const hbase::pb::Quotas quotas, QuotasIn(*of_servers));
    throttle = quotas.throttle();
  }
  const bool all = throttle.has_req_num() || throttle.has_req_size() || throttle.has_req_capacity_unit();
  const bool writes = throttle.has_write_num() || throttle.has_write_size() || throttle.has_write_capacity_unit();
  const bool reads = throttle.has_read_num() || throttle.has_read_size() || throttle.has_read_capacity_unit();
  if (!all && !(writes && reads)) {
    return IllegalRequest(
        "exceeding other limits requires a limit of the region servers: on requests, or on writes and on reads");
  }
  hbase::pb::Throttle copy = throttle;
  for (const Limit& limit : kLimits) {
    if ((copy.*limit.has)() && (copy.*limit.mutate)()->time_unit() != hbase::pb::SECONDS)
      return IllegalRequest("exceeding other limits requires limits of the region servers with the time unit SECONDS");
  }
  return Ok();
}

}  // namespace ratchet::master
