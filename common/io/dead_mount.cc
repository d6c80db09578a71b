#include "common/io/dead_mount.h"

#include <fcntl.h>

#include <cerrno>

#include "common/base/exit_codes.h"
#include "common/io/file_descriptor.h"
#include "common/io/posix_readable_file.h"

namespace ratchet::io {
namespace {

std::string& Watched() {
  static auto* const root = new std::string;  // never freed: threads may use it during exit
  return *root;
}

// Returns 0, or the reason why it cannot be opened. A client that was evicted may still show its cached names of a
// directory, but cannot open it.
int OpenError(const std::string& path) {
  const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory.get() >= 0 ? 0 : errno;
}

}  // namespace

void WatchMount(const std::string& root) {
  const int error = OpenError(root);
  const bool dead = error == ESHUTDOWN || error == ENOTCONN;
  Watched() = dead || (error == 0 && CachesNames(root)) ? root : std::string();
}

bool MountIsDead() {
  if (Watched().empty()) return false;
  const int error = OpenError(Watched());
  return error == ENOENT || error == ESHUTDOWN || error == ENOTCONN;
}

int CodeBesideMount(int code) { return code != exit_code::kOk && MountIsDead() ? exit_code::kMountIsDead : code; }

}  // namespace ratchet::io
