#include "common/io/disk.h"

namespace ratchet::io {

Status WriteFileAtomically(Directory& directory, const std::string& name, std::string_view content) {
  const std::string temporary = name + ".tmp";
  RATCHET_ASSIGN(const bool leftover, directory.Exists(temporary));
  if (leftover) RATCHET_TRY(directory.Unlink(temporary));
  RATCHET_ASSIGN(auto file, directory.Create(temporary));
  RATCHET_TRY(file->Append(content));
  RATCHET_TRY(file->Sync());
  RATCHET_TRY(file->Close());
  RATCHET_TRY(directory.Rename(temporary, name));
  return directory.Sync();
}

}  // namespace ratchet::io
