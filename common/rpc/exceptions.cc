#include "common/rpc/exceptions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "common/model/proto/common.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/rpc.pb.h"

namespace ratchet::rpc {
namespace {

enum Trait : unsigned {
  kPlainClass = 0,
  kGiveUp = 1,    // a descendant of DoNotRetryIOException
  kFatal = 2,     // a descendant of FatalConnectionException
  kRelocate = 4,  // ask hbase:meta again
  kBusy = 8,      // wait and retry
  kOverloaded = 16,
};

struct ClassFacts {
  std::string_view name;
  Code code;
  unsigned traits;
};

using namespace exception;  // NOLINT(google-build-using-namespace): the names of this very file's header

constexpr std::array kClasses{
    ClassFacts{kNotServingRegion, Code::kUnavailable, kRelocate},
    ClassFacts{kRegionMoved, Code::kUnavailable, kRelocate},
    ClassFacts{kRegionOpening, Code::kUnavailable, kRelocate | kBusy},
    ClassFacts{kRegionTooBusy, Code::kResourceExhausted, kBusy},
    ClassFacts{kRegionServerStopped, Code::kUnavailable, kRelocate},
    ClassFacts{kRegionServerAborted, Code::kUnavailable, kRelocate},
    ClassFacts{kServerNotRunningYet, Code::kUnavailable, kBusy},
    ClassFacts{kWrongRegion, Code::kInvalidArgument, kRelocate},
    ClassFacts{kNoSuchColumnFamily, Code::kNotFound, kGiveUp},
    ClassFacts{exception::kRowTooBig, Code::kInvalidArgument, kGiveUp},  // of region servers only
    ClassFacts{kAccessDenied, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kYouAreDead, Code::kFenced, kPlainClass},
    ClassFacts{kClockOutOfSync, Code::kFailedPrecondition, kPlainClass},
    ClassFacts{kUnknownScanner, Code::kNotFound, kGiveUp},
    ClassFacts{kOutOfOrderScannerNext, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kScannerReset, Code::kAborted, kGiveUp},
    ClassFacts{kLease, Code::kNotFound, kGiveUp},
    ClassFacts{kCallQueueTooBig, Code::kResourceExhausted, kBusy | kOverloaded},
    ClassFacts{kCallDropped, Code::kResourceExhausted, kBusy | kOverloaded},
    ClassFacts{kRequestTooBig, Code::kInvalidArgument, kGiveUp},
    ClassFacts{kMultiActionResultTooLarge, Code::kResourceExhausted, kBusy},
    ClassFacts{kRpcThrottling, Code::kResourceExhausted, kBusy},
    ClassFacts{kRetryImmediately, Code::kUnavailable, kBusy},
    ClassFacts{kPleaseHold, Code::kUnavailable, kBusy},
    ClassFacts{kMasterStopped, Code::kUnavailable, kGiveUp | kBusy},
    ClassFacts{kMasterNotRunning, Code::kUnavailable, kBusy},
    ClassFacts{kTableNotFound, Code::kNotFound, kGiveUp},
    ClassFacts{kTableExists, Code::kAlreadyExists, kGiveUp},
    ClassFacts{kTableNotEnabled, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kTableNotDisabled, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kNamespaceNotFound, Code::kNotFound, kGiveUp},
    ClassFacts{kNamespaceExist, Code::kAlreadyExists, kGiveUp},
    ClassFacts{exception::kQuotaExceeded, Code::kFailedPrecondition, kGiveUp},  // of a namespace's limits
    ClassFacts{kPeerNotFound, Code::kNotFound, kGiveUp},
    ClassFacts{kUnknownRegion, Code::kNotFound, kGiveUp},
    ClassFacts{kInvalidFamilyOperation, Code::kInvalidArgument, kGiveUp},
    ClassFacts{kConstraint, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kMergeRegion, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kDoNotRetryRegion, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kIllegalArgumentIo, Code::kInvalidArgument, kGiveUp},
    ClassFacts{kSnapshotExists, Code::kAlreadyExists, kGiveUp},
    ClassFacts{kSnapshotDoesNotExist, Code::kNotFound, kGiveUp},
    ClassFacts{kSnapshotCreation, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kSnapshotExpired, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kUnknownSnapshot, Code::kNotFound, kGiveUp},
    ClassFacts{kRestoreSnapshotFailed, Code::kFailedPrecondition, kGiveUp},
    ClassFacts{kCorruptedSnapshot, Code::kCorruption, kGiveUp},
    ClassFacts{kFatalConnection, Code::kInvalidArgument, kGiveUp | kFatal},
    ClassFacts{kWrongVersion, Code::kInvalidArgument, kGiveUp | kFatal},
    ClassFacts{kBadAuth, Code::kInvalidArgument, kGiveUp | kFatal},
    ClassFacts{kUnknownService, Code::kUnsupported, kGiveUp | kFatal},
    ClassFacts{kEmptyServiceName, Code::kInvalidArgument, kGiveUp | kFatal},
    ClassFacts{kUnsupportedCellCodec, Code::kUnsupported, kGiveUp | kFatal},
    ClassFacts{kUnsupportedCompressionCodec, Code::kUnsupported, kGiveUp | kFatal},
    ClassFacts{kSecurityNotEnabled, Code::kUnsupported, kGiveUp},
    ClassFacts{kUnknownProtocol, Code::kUnsupported, kGiveUp},
    ClassFacts{kDoNotRetryIo, Code::kInvalidArgument, kGiveUp},
    ClassFacts{kStale, Code::kStale, kPlainClass},
    ClassFacts{kOtherRun, Code::kStale, kPlainClass},
    ClassFacts{kWriteInDoubt, Code::kUnavailable, kRelocate},
    ClassFacts{kNoSuchMethod, Code::kUnsupported, kGiveUp},
    ClassFacts{kUnknownProcedure, Code::kNotFound, kGiveUp},
    ClassFacts{kHBaseIo, Code::kInternal, kPlainClass},
    ClassFacts{kIo, Code::kIo, kPlainClass},
    ClassFacts{kInterruptedIo, Code::kAborted, kPlainClass},
};

const ClassFacts* Find(std::string_view exception_class) {
  const auto found = std::find_if(kClasses.begin(), kClasses.end(),
                                  [&](const ClassFacts& facts) { return facts.name == exception_class; });
  return found == kClasses.end() ? nullptr : &*found;
}

bool Has(std::string_view exception_class, unsigned trait) {
  const ClassFacts* facts = Find(exception_class);
  return facts != nullptr && (facts->traits & trait) != 0;
}

struct MeaningFacts {
  std::string_view own;      // remote_class in Ratchet's processes
  std::string_view travels;  // the class that is sent
  hbase::pb::ExceptionMeaning meaning;
};
constexpr std::array kMeanings{
    MeaningFacts{kWriteInDoubt, kNotServingRegion, hbase::pb::WRITE_IN_DOUBT},
    MeaningFacts{kNoSuchMethod, kDoNotRetryIo, hbase::pb::NO_SUCH_METHOD},
};

const MeaningFacts* MeaningOf(std::string_view own) {
  const auto found =
      std::find_if(kMeanings.begin(), kMeanings.end(), [&](const MeaningFacts& facts) { return facts.own == own; });
  return found == kMeanings.end() ? nullptr : &*found;
}

// `Message`: ExceptionResponse or NameBytesPair.
template <class Message>
void FillMeaning(const Error& error, Message& out) {
  if (const MeaningFacts* facts = MeaningOf(error.remote_class())) out.set_meaning(facts->meaning);
}

// The class by which our own code identifies the error; a meaning that does not belong to the class is ignored.
template <class Message>
std::string_view OwnClass(const std::string& exception_class, const Message& message) {
  for (const MeaningFacts& facts : kMeanings) {
    if (message.has_meaning() && message.meaning() == facts.meaning && exception_class == facts.travels)
      return facts.own;
  }
  return exception_class;
}

// A name that may be sent to a Java client: dotted, and not one of our own markers.
bool IsJavaName(std::string_view name) {
  return name.find('.') != std::string_view::npos && !name.starts_with("ratchet.");
}

// A text may quote the bytes of a client many times, e.g. for each action of a Multi.
constexpr std::size_t kMostErrorText = 16u << 10;

std::string Bounded(const Error& error) {
  const std::string& text = error.message();
  if (text.size() <= kMostErrorText) return text;
  return fmt::format("{}... ({} bytes more)", std::string_view(text).substr(0, kMostErrorText),
                     text.size() - kMostErrorText);
}

#if defined(RATCHET_MUTANTS)
// In builds for tests only: with RATCHET_REWORD_ERRORS=1 in the environment every error leaves the process with another
// text, which detects a peer that parses the text. Texts that HBase's clients parse are unchanged.
std::string Worded(const Error& error) {
  static const bool reword = std::getenv("RATCHET_REWORD_ERRORS") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  std::string words = Bounded(error);
  if (!reword || IsClass(error, kRegionMoved)) return words;
  for (char& c : words) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>('a' + (c - 'a' + 13) % 26);
    if (c >= 'A' && c <= 'Z') c = static_cast<char>('A' + (c - 'A' + 13) % 26);
    if (c >= '0' && c <= '9') c = '#';
  }
  return words;
}
#else
std::string Worded(const Error& error) { return Bounded(error); }
#endif

// First line as Java prints an exception; clients take their message from here.
std::string StackTrace(std::string_view exception_class, std::string_view message) {
  return fmt::format("{}: {}", exception_class, message);
}

// Extracts the message after "<class>: " in a stack trace's first line.
std::string MessageIn(std::string_view exception_class, std::string_view stack_trace) {
  std::string_view line = stack_trace.substr(0, stack_trace.find("\n\tat "));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with(exception_class)) {
    line.remove_prefix(exception_class.size());
    if (line.starts_with(": ")) line.remove_prefix(2);
  }
  return std::string(line);
}

}  // namespace

Error RemoteError(std::string_view exception_class, std::string message) {
  return {CodeOfClass(exception_class), std::move(message), std::string(exception_class)};
}

Error RegionMovedError(const ServerName& destination, std::uint64_t open_sequence) {
  return RemoteError(kRegionMoved,
                     fmt::format("Region moved to: hostname={} port={} startCode={}. As of locationSeqNum={}.",
                                 destination.host, destination.port, destination.start_code, open_sequence));
}

std::optional<ServerName> MovedTo(const Error& error) {
  if (!IsClass(error, kRegionMoved)) return std::nullopt;
  const std::string_view text = error.message();
  const auto field = [&](std::string_view key, char end) -> std::string_view {
    const auto at = text.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, rest.find(end));
  };
  auto parsed = ServerName::Parse(
      fmt::format("{},{},{}", field("hostname=", ' '), field("port=", ' '), field("startCode=", '.')));
  if (!parsed.ok()) return std::nullopt;
  return std::move(parsed).value();
}

Code CodeOfClass(std::string_view exception_class) {
  if (const ClassFacts* facts = Find(exception_class)) return facts->code;
  return Code::kInternal;
}

std::string_view ClassOf(const Error& error) {
  if (IsJavaName(error.remote_class())) return error.remote_class();
  if (const MeaningFacts* facts = MeaningOf(error.remote_class())) return facts->travels;
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
    case Code::kUnsupported: return kDoNotRetryIo;
    case Code::kFenced: return kRegionServerAborted;
    case Code::kUnavailable: return kPleaseHold;
    case Code::kResourceExhausted:
    case Code::kNoSpace: return kRegionTooBusy;
    case Code::kTimeout:
    case Code::kAborted: return kInterruptedIo;
    case Code::kStale: return kStale;
    case Code::kCorruption:
    case Code::kIo:
    case Code::kWentBack:
    case Code::kInternal: return kIo;
  }
  return kIo;
}

bool IsDoNotRetry(std::string_view exception_class) { return Has(exception_class, kGiveUp); }
bool IsFatalForConnection(std::string_view exception_class) { return Has(exception_class, kFatal); }

bool OutcomeUnknown(const Error& error) {
  return error.code() == Code::kTimeout || error.code() == Code::kAborted || IsClass(error, kConnectionLost) ||
         IsClass(error, kWriteInDoubt);
}

bool IsRelocate(const Error& error) {
  return Has(error.remote_class(), kRelocate) || IsClass(error, kNotSent) || IsClass(error, kConnectionLost);
}

bool IsTransient(const Error& error) { return Has(error.remote_class(), kBusy); }

void FillException(const Error& error, hbase::pb::ExceptionResponse& out) {
  const std::string_view name = ClassOf(error);
  out.set_exception_class_name(std::string(name));
  out.set_stack_trace(StackTrace(name, Worded(error)));
  out.set_do_not_retry(Has(name, kGiveUp));
  if (Has(name, kOverloaded)) out.set_server_overloaded(true);
  FillMeaning(error, out);
  if (const auto moved = MovedTo(error)) {
    out.set_hostname(moved->host);
    out.set_port(moved->port);
  }
}

Error ErrorFrom(const hbase::pb::ExceptionResponse& exception) {
  const std::string& name = exception.exception_class_name();
  return RemoteError(OwnClass(name, exception), MessageIn(name, exception.stack_trace()));
}

void FillPair(const Error& error, hbase::pb::NameBytesPair& out) {
  const std::string_view name = ClassOf(error);
  out.set_name(std::string(name));
  out.set_value(StackTrace(name, Worded(error)));
  FillMeaning(error, out);
}

Error ErrorFrom(const hbase::pb::NameBytesPair& pair) {
  return RemoteError(OwnClass(pair.name(), pair), MessageIn(pair.name(), pair.value()));
}

void FillForeign(const Error& error, std::string_view source, hbase::pb::ForeignExceptionMessage& out) {
  out.set_source(std::string(source));
  // A client would treat InterruptedIOException as an interrupt of its own thread. The result of a procedure is final;
  // the code keeps the kind of error.
  const std::string_view name = ClassOf(error) == kInterruptedIo ? kDoNotRetryIo : ClassOf(error);
  out.mutable_generic_exception()->set_class_name(std::string(name));
  out.mutable_generic_exception()->set_message(Worded(error));
  out.set_code(static_cast<std::uint32_t>(error.code()));
}

Error ErrorFrom(const hbase::pb::ForeignExceptionMessage& message) {
  const std::string& name = message.generic_exception().class_name();
  const bool known = message.code() >= static_cast<std::uint32_t>(Code::kInvalidArgument) &&
                     message.code() <= static_cast<std::uint32_t>(Code::kInternal);
  return {known ? static_cast<Code>(message.code()) : CodeOfClass(name), message.generic_exception().message(), name};
}

}  // namespace ratchet::rpc
