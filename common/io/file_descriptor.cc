#include "common/io/file_descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ratchet::io {
namespace {

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT: return Code::kNotFound;
    case EEXIST:
    case ENOTEMPTY: return Code::kAlreadyExists;
    case ENOTDIR: return Code::kFailedPrecondition;
    case ENAMETOOLONG: return Code::kInvalidArgument;  // no file of this name can exist
    case ENOSPC:
    case EDQUOT: return Code::kNoSpace;
    default: return Code::kIo;
  }
}

}  // namespace

bool FileDescriptor::Close() {
  if (fd_ < 0) return true;
  return ::close(std::exchange(fd_, -1)) == 0;
}

Error SystemError(std::string_view doing, std::string_view path, int error_number) {
  return {CodeOf(error_number), fmt::format("{} {}: {}", doing, path, std::generic_category().message(error_number))};
}

}  // namespace ratchet::io
