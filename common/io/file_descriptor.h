// A file descriptor with one owner, and errno as an Error.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace ratchet::io {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { IgnoreClose(Close()); }

  [[nodiscard]] int get() const { return fd_; }
  // False with errno set when the system reports an error; the descriptor is closed in both cases.
  [[nodiscard]] bool Close();
  void Release() { fd_ = -1; }

 private:
  static void IgnoreClose(bool /*closed*/) {}  // unsynced data is never relied upon, so an error here has no effect
  int fd_;
};

// kCorruption for a pipe, a socket or a device. A directory passes: reading it fails.
[[nodiscard]] Status CheckIsFile(const FileDescriptor& fd, std::string_view path);
// The free space of a file system without a size, such as CephFS while no manager of Ceph counts: only ENOSPC shows
// that it is full.
inline constexpr std::uint64_t kSpaceUnknown = std::uint64_t{1} << 60U;
// Bytes that the file system of an open file or directory has left for its user.
[[nodiscard]] Result<std::uint64_t> FreeBytesOf(const FileDescriptor& fd, std::string_view path);
// The next allocated offset at or after `offset`; the file's size if there is none, `offset` if it is unknown.
[[nodiscard]] std::uint64_t DataFrom(const FileDescriptor& fd, std::uint64_t offset);

// "reading /x/y: No space left on device", with the code that belongs to `error_number`.
[[nodiscard]] Error SystemError(std::string_view doing, std::string_view path, int error_number);

}  // namespace ratchet::io
