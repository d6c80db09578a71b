#include "master/cluster/errors.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

constexpr const char* kHBase = "org.apache.hadoop.hbase.";

Error Make(Code code, std::string message, const char* simple_class) {
  return {code, std::move(message), std::string(kHBase) + simple_class};
}

}  // namespace

Error TableExists(const TableName& table) {
  return Make(Code::kAlreadyExists, "table " + table.ToString() + " exists", "TableExistsException");
}
Error TableNotFound(const TableName& table) {
  return Make(Code::kNotFound, "table " + table.ToString() + " does not exist", "TableNotFoundException");
}
Error TableNotEnabled(const TableName& table) {
  return Make(Code::kFailedPrecondition, "table " + table.ToString() + " is not enabled", "TableNotEnabledException");
}
Error TableNotDisabled(const TableName& table) {
  return Make(Code::kFailedPrecondition, "table " + table.ToString() + " is not disabled", "TableNotDisabledException");
}
Error UnknownRegion(const std::string& region) {
  return Make(Code::kNotFound, "region " + region + " is not known", "UnknownRegionException");
}
Error RegionInTransition(const std::string& region, const std::string& why) {
  return Make(Code::kFailedPrecondition, "region " + region + " is currently in transition; " + why,
              "HBaseIOException");
}
Error CleanerIsAsked() {
  return Make(Code::kResourceExhausted, "too many requests wait for a run of the cleaner; retry later",
              "RegionTooBusyException");
}
Error CatalogStays(const std::string& why) { return {Code::kInvalidArgument, why, "java.io.IOException"}; }
Error CommitInProgress() {
  return Error(Code::kFailedPrecondition,
               "its change of hbase:meta may be in progress; it must not end before the outcome is known");
}
Error IllegalRequest(const std::string& why) { return Make(Code::kInvalidArgument, why, "DoNotRetryIOException"); }
Error InvalidFamily(const std::string& why) {
  return Make(Code::kInvalidArgument, why, "InvalidFamilyOperationException");
}
Error NoSuchFamily(const TableName& table, const std::string& family) {
  return Make(Code::kInvalidArgument, "Column family " + family + " does not exist in table " + table.ToString(),
              "regionserver.NoSuchColumnFamilyException");
}
Error MetaStays(const std::string& why) { return Make(Code::kInvalidArgument, why, "constraint.ConstraintException"); }
Error Constraint(const std::string& why) { return Make(Code::kInvalidArgument, why, "constraint.ConstraintException"); }
Error NamespaceNotFound(const std::string& name) {
  return Make(Code::kNotFound, "namespace " + name + " does not exist: create it first (ratchet create-namespace)",
              "NamespaceNotFoundException");
}
Error NamespaceExistsAlready(const std::string& name) {
  return Make(Code::kAlreadyExists, "namespace " + name + " exists", "NamespaceExistException");
}
Error PeerNotFound(const std::string& id) {
  return Make(Code::kNotFound, "replication peer " + id + " does not exist", "ReplicationPeerNotFoundException");
}
Error QuotaExceeded(const std::string& why) {
  return Make(Code::kFailedPrecondition, why, "quotas.QuotaExceededException");
}
Error YouAreDead(const ServerName& server, const std::string& why) {
  return Make(Code::kFailedPrecondition, "server " + server.ToString() + " " + why, "YouAreDeadException");
}
Error PleaseHold(const std::string& why) { return Make(Code::kUnavailable, why, "PleaseHoldException"); }

bool IsRetried(const Error& error) {
  constexpr std::array<std::string_view, 5> kRetried = {
      "java.io.IOException", "org.apache.hadoop.hbase.HBaseIOException", "org.apache.hadoop.hbase.PleaseHoldException",
      "org.apache.hadoop.hbase.RegionTooBusyException", "org.apache.hadoop.hbase.YouAreDeadException"};
  return std::find(kRetried.begin(), kRetried.end(), error.remote_class()) != kRetried.end();
}

bool IsOfTheMoment(const Error& error) {
  switch (error.code()) {
    case Code::kIo:
    case Code::kTimeout:
    case Code::kUnavailable:
    case Code::kResourceExhausted: return !RATCHET_MUTANT("master.final_for_the_moment");
    default: return false;
  }
}

}  // namespace ratchet::master
