// The exception classes that HBase clients know by name, and how they map to our errors.
//
// Clients match exact names; an unknown class is never retried by them. Error::remote_class carries such a name through
// our code; without one, DefaultClass chooses by code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/went_back.h"
#include "common/model/server_name.h"

namespace hbase::pb {
class ExceptionResponse;
class ForeignExceptionMessage;
class NameBytesPair;
}  // namespace hbase::pb

namespace ratchet::rpc {

namespace exception {
// Regions and servers
// Ratchet's own: answers to orders to open a region (S118: older copy stays closed).
inline constexpr std::string_view kStoreWentBack = kStoreWentBackClass;
inline constexpr std::string_view kOlderCopy = kOlderCopyClass;
inline constexpr std::string_view kNotServingRegion = "org.apache.hadoop.hbase.NotServingRegionException";
inline constexpr std::string_view kRegionMoved = "org.apache.hadoop.hbase.exceptions.RegionMovedException";
inline constexpr std::string_view kRegionOpening = "org.apache.hadoop.hbase.exceptions.RegionOpeningException";
inline constexpr std::string_view kRegionTooBusy = "org.apache.hadoop.hbase.RegionTooBusyException";
inline constexpr std::string_view kRegionServerStopped =
    "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException";
inline constexpr std::string_view kRegionServerAborted =
    "org.apache.hadoop.hbase.regionserver.RegionServerAbortedException";
inline constexpr std::string_view kServerNotRunningYet = "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException";
inline constexpr std::string_view kWrongRegion = "org.apache.hadoop.hbase.regionserver.WrongRegionException";
inline constexpr std::string_view kNoSuchColumnFamily =
    "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException";
inline constexpr std::string_view kYouAreDead = "org.apache.hadoop.hbase.YouAreDeadException";
inline constexpr std::string_view kAccessDenied = "org.apache.hadoop.hbase.security.AccessDeniedException";
inline constexpr std::string_view kClockOutOfSync = "org.apache.hadoop.hbase.ClockOutOfSyncException";
// Scanners
inline constexpr std::string_view kUnknownScanner = "org.apache.hadoop.hbase.UnknownScannerException";
inline constexpr std::string_view kOutOfOrderScannerNext =
    "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException";
inline constexpr std::string_view kScannerReset = "org.apache.hadoop.hbase.exceptions.ScannerResetException";
inline constexpr std::string_view kLease = "org.apache.hadoop.hbase.regionserver.LeaseException";
// Load
inline constexpr std::string_view kCallQueueTooBig = "org.apache.hadoop.hbase.CallQueueTooBigException";
inline constexpr std::string_view kCallDropped = "org.apache.hadoop.hbase.CallDroppedException";
inline constexpr std::string_view kRequestTooBig = "org.apache.hadoop.hbase.exceptions.RequestTooBigException";
inline constexpr std::string_view kMultiActionResultTooLarge = "org.apache.hadoop.hbase.MultiActionResultTooLarge";
inline constexpr std::string_view kRpcThrottling = "org.apache.hadoop.hbase.quotas.RpcThrottlingException";
inline constexpr std::string_view kRetryImmediately = "org.apache.hadoop.hbase.RetryImmediatelyException";
// Master
inline constexpr std::string_view kPleaseHold = "org.apache.hadoop.hbase.PleaseHoldException";
inline constexpr std::string_view kMasterStopped = "org.apache.hadoop.hbase.exceptions.MasterStoppedException";
inline constexpr std::string_view kMasterNotRunning = "org.apache.hadoop.hbase.MasterNotRunningException";
inline constexpr std::string_view kTableNotFound = "org.apache.hadoop.hbase.TableNotFoundException";
inline constexpr std::string_view kTableExists = "org.apache.hadoop.hbase.TableExistsException";
inline constexpr std::string_view kTableNotEnabled = "org.apache.hadoop.hbase.TableNotEnabledException";
inline constexpr std::string_view kTableNotDisabled = "org.apache.hadoop.hbase.TableNotDisabledException";
inline constexpr std::string_view kNamespaceNotFound = "org.apache.hadoop.hbase.NamespaceNotFoundException";
inline constexpr std::string_view kNamespaceExist = "org.apache.hadoop.hbase.NamespaceExistException";
inline constexpr std::string_view kPeerNotFound = "org.apache.hadoop.hbase.ReplicationPeerNotFoundException";
inline constexpr std::string_view kUnknownRegion = "org.apache.hadoop.hbase.UnknownRegionException";
inline constexpr std::string_view kInvalidFamilyOperation = "org.apache.hadoop.hbase.InvalidFamilyOperationException";
inline constexpr std::string_view kConstraint = "org.apache.hadoop.hbase.constraint.ConstraintException";
inline constexpr std::string_view kMergeRegion = "org.apache.hadoop.hbase.exceptions.MergeRegionException";
inline constexpr std::string_view kDoNotRetryRegion = "org.apache.hadoop.hbase.client.DoNotRetryRegionException";
inline constexpr std::string_view kIllegalArgumentIo = "org.apache.hadoop.hbase.exceptions.IllegalArgumentIOException";
// Connections
inline constexpr std::string_view kFatalConnection = "org.apache.hadoop.hbase.ipc.FatalConnectionException";
inline constexpr std::string_view kWrongVersion = "org.apache.hadoop.hbase.ipc.WrongVersionException";
inline constexpr std::string_view kBadAuth = "org.apache.hadoop.hbase.ipc.BadAuthException";
inline constexpr std::string_view kUnknownService = "org.apache.hadoop.hbase.ipc.UnknownServiceException";
inline constexpr std::string_view kEmptyServiceName = "org.apache.hadoop.hbase.ipc.EmptyServiceNameException";
inline constexpr std::string_view kUnsupportedCellCodec = "org.apache.hadoop.hbase.ipc.UnsupportedCellCodecException";
inline constexpr std::string_view kUnsupportedCompressionCodec =
    "org.apache.hadoop.hbase.ipc.UnsupportedCompressionCodecException";
inline constexpr std::string_view kSecurityNotEnabled = "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException";
inline constexpr std::string_view kUnknownProtocol = "org.apache.hadoop.hbase.exceptions.UnknownProtocolException";
// Ratchet's own, between its servers only: the sender is behind (a lower epoch) ...
inline constexpr std::string_view kStale = "org.apache.ratchet.StaleException";
// ... and: the order is for another run of the server at this address, which has ended or is not known here.
inline constexpr std::string_view kOtherRun = "org.apache.ratchet.OtherRunException";
// General
inline constexpr std::string_view kDoNotRetryIo = "org.apache.hadoop.hbase.DoNotRetryIOException";
inline constexpr std::string_view kHBaseIo = "org.apache.hadoop.hbase.HBaseIOException";
inline constexpr std::string_view kIo = "java.io.IOException";
inline constexpr std::string_view kInterruptedIo = "java.io.InterruptedIOException";
// Snapshots. Each is a descendant of DoNotRetryIOException.
inline constexpr std::string_view kSnapshotExists = "org.apache.hadoop.hbase.snapshot.SnapshotExistsException";
inline constexpr std::string_view kSnapshotDoesNotExist =
    "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException";
inline constexpr std::string_view kSnapshotCreation = "org.apache.hadoop.hbase.snapshot.SnapshotCreationException";
inline constexpr std::string_view kUnknownSnapshot = "org.apache.hadoop.hbase.snapshot.UnknownSnapshotException";
inline constexpr std::string_view kRestoreSnapshotFailed = "org.apache.hadoop.hbase.snapshot.RestoreSnapshotException";
inline constexpr std::string_view kSnapshotExpired = "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException";
inline constexpr std::string_view kCorruptedSnapshot = "org.apache.hadoop.hbase.snapshot.CorruptedSnapshotException";
// Ratchet's own, for an operator's verb; only Ratchet's clients know it.
// No unfinished procedure has this pid, or there is no such pause. kNotFound.
inline constexpr std::string_view kUnknownProcedure = "org.apache.ratchet.UnknownProcedureException";
}  // namespace exception

// remote_class of errors that no peer sent.
inline constexpr std::string_view kNotSent = "ratchet.rpc.NotSent";                // certainly not executed
inline constexpr std::string_view kConnectionLost = "ratchet.rpc.ConnectionLost";  // may have been executed
inline constexpr std::string_view kCallTimeout = "ratchet.rpc.CallTimeout";        // may have been executed
// remote_class of errors that are sent as a class of HBase's, with a field that carries the exact meaning for Ratchet's
// clients. A write may still become durable, e.g. when a server loses its log between append and answer; sent as
// NotServingRegionException.
inline constexpr std::string_view kWriteInDoubt = "ratchet.rpc.WriteInDoubt";
// The service has no such method; sent as DoNotRetryIOException.
inline constexpr std::string_view kNoSuchMethod = "ratchet.rpc.NoSuchMethod";

// An error with the given exception class; the class determines the code.
[[nodiscard]] Error RemoteError(std::string_view exception_class, std::string message);
// The region is served elsewhere: the text has the location in the exact form that Java clients parse.
[[nodiscard]] Error RegionMovedError(const ServerName& destination, std::uint64_t open_sequence);
// Extracts the location from such an error's text; nullopt when there is none.
[[nodiscard]] std::optional<ServerName> MovedTo(const Error& error);

[[nodiscard]] Code CodeOfClass(std::string_view exception_class);
// The class as which an error is sent: its remote_class if it is a Java name, else one chosen by its code.
[[nodiscard]] std::string_view ClassOf(const Error& error);
// A descendant of DoNotRetryIOException: clients give up.
[[nodiscard]] bool IsDoNotRetry(std::string_view exception_class);
// A descendant of FatalConnectionException: clients drop the connection.
[[nodiscard]] bool IsFatalForConnection(std::string_view exception_class);

[[nodiscard]] inline bool IsClass(const Error& error, std::string_view exception_class) {
  return error.remote_class() == exception_class;
}
// The request may or may not have been executed: time-out, connection lost after sending, channel stopped, or the
// server reports that (kWriteInDoubt).
[[nodiscard]] bool OutcomeUnknown(const Error& error);
// The region is not at this server: look it up again, then retry.
[[nodiscard]] bool IsRelocate(const Error& error);
// The server or master is busy, starting or stopping: wait, then retry (after a new look-up of the active master).
[[nodiscard]] bool IsTransient(const Error& error);

// Exception class, Java-style stack trace and flags; both texts are always set.
void FillException(const Error& error, hbase::pb::ExceptionResponse& out);
[[nodiscard]] Error ErrorFrom(const hbase::pb::ExceptionResponse& exception);
// FillException for one action or region of a Multi.
void FillPair(const Error& error, hbase::pb::NameBytesPair& out);
[[nodiscard]] Error ErrorFrom(const hbase::pb::NameBytesPair& pair);
// FillException for results of procedures and remote operations; the receiver gets the same code. `source`: free text,
// e.g. a server name.
void FillForeign(const Error& error, std::string_view source, hbase::pb::ForeignExceptionMessage& out);
[[nodiscard]] Error ErrorFrom(const hbase::pb::ForeignExceptionMessage& message);

}  // namespace ratchet::rpc
