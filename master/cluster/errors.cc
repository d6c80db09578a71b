#include "master/cluster/errors.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

Error Make(Code code, std::string message, std::string_view class_name) {
  return {code, std::move(message), std::string(class_name)};
}

}  // namespace

Error TableExists(const TableName& table) {
  return Make(Code::kAlreadyExists, "table " + table.ToString() + " exists", exception::kTableExists);
}
Error TableNotFound(const TableName& table) {
  return Make(Code::kNotFound, "table " + table.ToString() + " does not exist", exception::kTableNotFound);
}
Error TableNotEnabled(const TableName& table) {
  return Make(Code::kFailedPrecondition, "table " + table.ToString() + " is not enabled", exception::kTableNotEnabled);
}
Error TableNotDisabled(const TableName& table) {
  return Make(Code::kFailedPrecondition, "table " + table.ToString() + " is not disabled",
              exception::kTableNotDisabled);
}
Error UnknownRegion(const std::string& region) {
  return Make(Code::kNotFound, "region " + region + " is not known", exception::kUnknownRegion);
}
Error RegionInTransition(const std::string& region, const std::string& why) {
  return Make(Code::kFailedPrecondition, "region " + region + " is currently in transition; " + why,
              exception::kHBaseIo);
}
Error CleanerIsAsked() {
  return Make(Code::kResourceExhausted, "too many requests wait for a run of the cleaner; retry later",
              exception::kRegionTooBusy);
}
Error CatalogStays(const std::string& why) { return Make(Code::kInvalidArgument, why, exception::kIo); }
Error CommitInProgress() {
  return Error(Code::kFailedPrecondition,
               "its change of hbase:meta may be in progress; it must not end before the outcome is known");
}
Error IllegalRequest(const std::string& why) { return Make(Code::kInvalidArgument, why, exception::kDoNotRetryIo); }
Error InvalidFamily(const std::string& why) {
  return Make(Code::kInvalidArgument, why, exception::kInvalidFamilyOperation);
}
Error NoSuchFamily(const TableName& table, const std::string& family) {
  return Make(Code::kInvalidArgument, "Column family " + family + " does not exist in table " + table.ToString(),
              exception::kNoSuchColumnFamily);
}
Error MetaStays(const std::string& why) { return Make(Code::kInvalidArgument, why, exception::kConstraint); }
Error Constraint(const std::string& why) { return Make(Code::kInvalidArgument, why, exception::kConstraint); }
Error NamespaceNotFound(const std::string& name) {
  return Make(Code::kNotFound, "namespace " + name + " does not exist: create it first (ratchet create-namespace)",
              exception::kNamespaceNotFound);
}
Error NamespaceExistsAlready(const std::string& name) {
  return Make(Code::kAlreadyExists, "namespace " + name + " exists", exception::kNamespaceExist);
}
Error PeerNotFound(const std::string& id) {
  return Make(Code::kNotFound, "replication peer " + id + " does not exist", exception::kPeerNotFound);
}
Error QuotaExceeded(const std::string& why) { return Make(Code::kFailedPrecondition, why, exception::kQuotaExceeded); }
Error YouAreDead(const ServerName& server, const std::string& why) {
  return Make(Code::kFailedPrecondition, "server " + server.ToString() + " " + why, exception::kYouAreDead);
}
Error PleaseHold(const std::string& why) { return Make(Code::kUnavailable, why, exception::kPleaseHold); }

bool IsRetried(const Error& error) {
  constexpr std::array<std::string_view, 5> kRetried = {exception::kIo, exception::kHBaseIo, exception::kPleaseHold,
                                                        exception::kRegionTooBusy, exception::kYouAreDead};
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
