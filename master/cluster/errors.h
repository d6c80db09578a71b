// Errors in HBase's form: each has the exception class that clients and region servers know.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet::master {

[[nodiscard]] Error TableExists(const TableName& table);
[[nodiscard]] Error TableNotFound(const TableName& table);
[[nodiscard]] Error TableNotEnabled(const TableName& table);
[[nodiscard]] Error TableNotDisabled(const TableName& table);
[[nodiscard]] Error UnknownRegion(const std::string& region);
[[nodiscard]] Error RegionInTransition(const std::string& region, const std::string& why);
[[nodiscard]] Error CleanerIsAsked();  // RegionTooBusyException
// The refusal of a bypass, S40 (durable commit point).
[[nodiscard]] Error CommitInProgress();
[[nodiscard]] Error IllegalRequest(const std::string& why);                           // DoNotRetryIOException
[[nodiscard]] Error InvalidFamily(const std::string& why);                            // InvalidFamilyOperationException
[[nodiscard]] Error NoSuchFamily(const TableName& table, const std::string& family);  // NoSuchColumnFamilyException
[[nodiscard]] Error MetaStays(const std::string& why);                                // ConstraintException
// Error of a procedure that has begun: java.io.IOException, whose text clients get unchanged, as from HBase.
[[nodiscard]] Error CatalogStays(const std::string& why);
[[nodiscard]] Error Constraint(const std::string& why);  // ConstraintException
[[nodiscard]] Error NamespaceNotFound(const std::string& name);
[[nodiscard]] Error NamespaceExistsAlready(const std::string& name);
[[nodiscard]] Error PeerNotFound(const std::string& id);  // ReplicationPeerNotFoundException
[[nodiscard]] Error QuotaExceeded(const std::string& why);
[[nodiscard]] Error YouAreDead(const ServerName& server, const std::string& why);
// Returns true for a transient error: a retry may find the storage, the descriptor or the answer. A full disk is not
// transient, because an operator must make space.
[[nodiscard]] bool IsOfTheMoment(const Error& error);
// Call for an error with an exception class. Returns true if the class is not a descendant of DoNotRetryIOException, so
// clients retry.
[[nodiscard]] bool IsRetried(const Error& error);
[[nodiscard]] Error PleaseHold(const std::string& why);  // the master is starting

}  // namespace ratchet::master
