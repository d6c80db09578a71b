#include "common/io/disk.h"

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::io {

Result<std::string> Directory::ReadAll(const std::string& name, std::uint64_t most) {
  RATCHET_ASSIGN(const std::unique_ptr<ReadableFile> file, OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  if (size > most && !RATCHET_MUTANT("io.read_whole"))
    return Error(Code::kCorruption, fmt::format("{}/{} is not read: it has {} bytes, but such a file has at most {}",
                                                path(), name, size, most));
  std::string bytes(size, '\0');
  RATCHET_ASSIGN(const std::size_t got, file->ReadAt(0, bytes.data(), bytes.size()));
  bytes.resize(got);
  return bytes;
}

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
