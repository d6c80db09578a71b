#include "procedure/store/quarantine.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/io/record_log.h"

namespace ratchet::procedure {
namespace {

constexpr std::uint64_t kCopiedAtOnce = 1U << 20;
// Larger than any segment: a copy of such a file could fill the disk that the cluster needs, and would add nothing to
// the file.
constexpr std::uint64_t kMostCopied = 2 * io::kMaxUnsyncedBytes;

// Reads both files piece by piece; returns false when `take` returns false.
template <class Take>
Result<bool> ForPieces(const io::ReadableFile& file, std::uint64_t size, Take take) {
  std::string piece;
  for (std::uint64_t at = 0; at < size; at += kCopiedAtOnce) {
    piece.resize(std::min(kCopiedAtOnce, size - at));
    RATCHET_ASSIGN(const std::size_t got, file.ReadAt(at, piece.data(), piece.size()));
    piece.resize(got);
    RATCHET_ASSIGN(const bool go_on, take(at, piece));
    if (!go_on) return false;
  }
  return true;
}

Result<bool> IsTheSame(const io::ReadableFile& file, std::uint64_t size, const io::ReadableFile& other) {
  RATCHET_ASSIGN(const std::uint64_t other_size, other.size());
  if (other_size != size) return false;
  return ForPieces(file, size, [&other](std::uint64_t at, const std::string& piece) -> Result<bool> {
    std::string there(piece.size(), '\0');
    RATCHET_ASSIGN(const std::size_t got, other.ReadAt(at, there.data(), there.size()));
    return got == piece.size() && there == piece;
  });
}

}  // namespace

Result<std::string> QuarantineCopy(io::Directory& from, const std::string& name, io::Directory& quarantine) {
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, from.OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  if (size > kMostCopied)
    return Error(Code::kResourceExhausted,
                 fmt::format("{} has {} bytes, at most {} are copied", name, size, kMostCopied));
  std::string copy = name;
  for (int i = 1;; ++i) {
    RATCHET_ASSIGN(const bool taken, quarantine.Exists(copy));
    if (!taken) break;
    RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> earlier, quarantine.OpenForRead(copy));
    RATCHET_ASSIGN(const bool same, IsTheSame(*file, size, *earlier));
    if (same) return quarantine.path() + "/" + copy;  // a copy made at an earlier start
    copy = fmt::format("{}.{}", name, i);
  }
  // The copy gets its final name only when it is complete, so that no reader sees a part of it.
  const std::string unfinished = copy + ".tmp";
  const Status removed = quarantine.Unlink(unfinished);
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed.error();
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> written, quarantine.Create(unfinished));
  Result<bool> copied = ForPieces(*file, size, [&written](std::uint64_t, const std::string& piece) -> Result<bool> {
    RATCHET_TRY(written->Append(piece));
    return true;
  });
  Status done = copied.ok() ? written->Sync() : Status(copied.error());
  if (done.ok()) done = written->Close();
  if (done.ok()) done = quarantine.Rename(unfinished, copy);
  if (done.ok()) done = quarantine.Sync();
  if (done.ok()) return quarantine.path() + "/" + copy;
  IgnoreResult(quarantine.Unlink(unfinished), "part of a copy");
  return done.error();
}

}  // namespace ratchet::procedure
