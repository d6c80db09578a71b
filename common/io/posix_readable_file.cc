#include "common/io/posix_readable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/fault_point.h"
#include "common/io/sync_watch.h"

namespace ratchet::io {
namespace {

constexpr std::uint32_t kFuseMagic = 0x65735546;
constexpr std::uint32_t kCephMagic = 0x00c36400;

bool CachesNames(const struct statfs& info) {
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  return magic == kFuseMagic || magic == kCephMagic;
}

}  // namespace

bool CachesNames(const std::string& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) != 0 || CachesNames(info);
}

Result<std::size_t> PosixReadableFile::ReadAt(std::uint64_t offset, char* out, std::size_t length) const {
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::pread(fd_.get(), out + done, length - done, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return SystemError("reading", path_, errno);
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::uint64_t> PosixReadableFile::size() const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return SystemError("size of", path_, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

Status PosixReadableFile::Sync() {
  const SyncWatch::Operation operation(SyncWatch::OfProcess(), 0);
  RATCHET_TRY(HitFault("io.sync", path_));
  if (::fdatasync(fd_.get()) != 0) return SystemError("sync of", path_, errno);
  return Ok();
}

bool PosixReadableFile::NamesAreCached() const {
  struct statfs info {};
  if (::fstatfs(fd_.get(), &info) != 0) return true;  // an unknown file system is not trusted
  return CachesNames(info);
}

Status PosixReadableFile::RoundTrip() const {
  const SyncWatch::Operation operation(SyncWatch::OfProcess(), 0);
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  while (::fcntl(fd_.get(), F_GETLK, &lock) != 0) {
    if (errno != EINTR) return SystemError("asking the storage about", path_, errno);
  }
  return Ok();
}

}  // namespace ratchet::io
