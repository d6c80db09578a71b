#include "common/base/result.h"

namespace ratchet {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kAlreadyExists: return "ALREADY_EXISTS";
    case Code::kFailedPrecondition: return "FAILED_PRECONDITION";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kTimeout: return "TIMEOUT";
    case Code::kFenced: return "FENCED";
    case Code::kStale: return "STALE";
    case Code::kCorruption: return "CORRUPTION";
    case Code::kIo: return "IO";
    case Code::kNoSpace: return "NO_SPACE";
    case Code::kAborted: return "ABORTED";
    case Code::kUnsupported: return "UNSUPPORTED";
    case Code::kResourceExhausted: return "RESOURCE_EXHAUSTED";
    case Code::kInternal: return "INTERNAL";
    case Code::kWentBack: return "WENT_BACK";
  }
  return "UNKNOWN";
}

std::string Error::ToString() const {
  std::string text(CodeName(code_));
  text += ": ";
  text += message_;
  return text;
}

Error Error::Annotate(std::string_view context) const {
  std::string text(context);
  text += ": ";
  text += message_;
  return Error(code_, std::move(text), remote_class_);
}

}  // namespace ratchet
