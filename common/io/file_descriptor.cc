#include "common/io/file_descriptor.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
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

Status CheckIsFile(const FileDescriptor& fd, std::string_view path) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return SystemError("looking at", path, errno);
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return Ok();
  return Error(Code::kCorruption, fmt::format("{} is not a file, but a pipe, a socket or a device", path));
}

Result<std::uint64_t> FreeBytesOf(const FileDescriptor& fd, std::string_view path) {
  struct statvfs info {};
  if (::fstatvfs(fd.get(), &info) != 0) return SystemError("asking for the free space of", path, errno);
  if (info.f_blocks == 0) return kSpaceUnknown;
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

std::uint64_t DataFrom(const FileDescriptor& fd, std::uint64_t offset) {
  const off_t data = ::lseek(fd.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return static_cast<std::uint64_t>(data);
  if (errno != ENXIO) return offset;
  const off_t end = ::lseek(fd.get(), 0, SEEK_END);
  return end < 0 ? offset : std::max(offset, static_cast<std::uint64_t>(end));
}

}  // namespace ratchet::io
