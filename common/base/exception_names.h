// The names of the exception classes that HBase's clients know, and of Ratchet's own: the values of
// Error::remote_class.
//
// Clients match exact names. Every part that names a class uses these constants, so that each name is written once.
#pragma once

#include <string_view>

namespace ratchet::exception {

// Regions and servers
// Ratchet's own: answers to orders to open a region (S118: older copy stays closed).
inline constexpr std::string_view kStoreWentBack = "ratchet.StoreWentBackException";
inline constexpr std::string_view kOlderCopy = "ratchet.OlderCopyException";
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
inline constexpr std::string_view kRowTooBig = "org.apache.hadoop.hbase.client.RowTooBigException";
inline constexpr std::string_view kQuotaExceeded = "org.apache.hadoop.hbase.quotas.QuotaExceededException";
inline constexpr std::string_view kCoprocessor = "org.apache.hadoop.hbase.coprocessor.CoprocessorException";
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
// A token is expired or was withdrawn, or its key is not known.
inline constexpr std::string_view kInvalidToken = "org.apache.hadoop.security.token.SecretManager$InvalidToken";
// A login by SASL is refused.
inline constexpr std::string_view kSasl = "javax.security.sasl.SaslException";
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

}  // namespace ratchet::exception
