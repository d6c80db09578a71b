#include "common/base/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace ratchet {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  const int fd_;
};

Error FileError(const std::string& path, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", path, why)};
}

}  // namespace

FileGuard RuleFile() { return {S_IWOTH, "every user of this machine may change it; chmod o-w"}; }

FileGuard SecretFile() {
  return {S_IROTH | S_IWOTH | S_IWGRP, "it holds a secret, and other users may read or change it; chmod 600"};
}

Result<std::string> ReadSmallFile(const std::string& path, std::size_t most, FileGuard guard) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return FileError(path, fmt::format("cannot open: {}", std::strerror(errno)));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return FileError(path, "not a regular file");
  if ((facts.st_mode & guard.forbidden) != 0) return FileError(path, guard.why);
  // One byte more than allowed, so that a file that grows meanwhile is found.
  std::string bytes(most + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError(path, fmt::format("cannot read: {}", std::strerror(errno)));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > most) return FileError(path, fmt::format("larger than {} bytes", most));
  bytes.resize(size);
  return bytes;
}

Status WriteNewSecret(const std::string& path, std::string_view bytes) {
  const auto failed = [&path](Code code) {
    return Error(code, fmt::format("{}: cannot write a new file: {}", path, std::strerror(errno)));
  };
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return failed(errno == EEXIST ? Code::kAlreadyExists : Code::kIo);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(Code::kIo);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file.get()) == 0 ? Ok() : Status(failed(Code::kIo));
}

}  // namespace ratchet
