// The exception classes that HBase clients know by name, and how they map to our errors.
//
// Clients match exact names; an unknown class is never retried by them. Error::remote_class carries such a name through
// our code; without one, DefaultClass chooses by code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/exception_names.h"
#include "common/base/result.h"
#include "common/model/server_name.h"

namespace hbase::pb {
class ExceptionResponse;
class ForeignExceptionMessage;
class NameBytesPair;
}  // namespace hbase::pb

namespace ratchet::rpc {

namespace exception = ::ratchet::exception;

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
