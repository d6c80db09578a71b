#include "procedure/store/store_directory.h"

namespace ratchet::procedure {

Result<std::unique_ptr<io::Directory>> OpenStoreDirectory(const std::string& path) {
  RATCHET_ASSIGN(auto directory, io::PosixDisk().Open(path));
  RATCHET_ASSIGN(const bool is_root, directory->Exists("procedures"));
  if (!is_root) return directory;
  return directory->OpenDir("procedures");
}

}  // namespace ratchet::procedure
