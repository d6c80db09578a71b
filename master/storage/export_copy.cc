#include "master/storage/export_copy.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/crc32c.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "master/storage/checked_content.h"
#include "master/storage/directory_tools.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kChunk = 1U << 20;
constexpr std::size_t kMostFiles = 100'000;  // of one region
constexpr std::string_view kUnfinished = ".copying";

using Check = std::function<Status()>;

struct ListedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
};

// Reads a file and passes each chunk to `take`; returns its length and checksum.
Result<ListedFile> ReadThrough(io::Directory& directory, const std::string& name, const Check& check,
                               const std::function<Status(std::string_view)>& take = {}) {
  RATCHET_ASSIGN(const auto file, directory.OpenForRead(name));
  ListedFile read{name, 0, 0};
  std::string chunk(kChunk, '\0');
  for (;;) {
    RATCHET_ASSIGN(const std::size_t got, file->ReadAt(read.bytes, chunk.data(), chunk.size()));
    if (got == 0) return read;
    RATCHET_TRY(check());
    const std::string_view bytes(chunk.data(), got);
    read.checksum = Crc32c(bytes, read.checksum);
    read.bytes += got;
    if (take) RATCHET_TRY(take(bytes));
  }
}

bool SameContent(const ListedFile& a, const ListedFile& b) { return a.bytes == b.bytes && a.checksum == b.checksum; }

// Returns true if `directory` has the file as listed.
Result<bool> Has(io::Directory& directory, const ListedFile& listed, const Check& check) {
  RATCHET_ASSIGN(const bool there, directory.Exists(listed.name));
  if (!there) return false;
  RATCHET_ASSIGN(const ListedFile found, ReadThrough(directory, listed.name, check));
  return SameContent(found, listed);
}

Status CopyOne(io::Directory& from, const ListedFile& listed, io::Directory& to, const Check& check) {
  const std::string temporary = fmt::format("{}.{:x}{}", listed.name, RandomSeed(), kUnfinished);
  RATCHET_TRY(check());
  RATCHET_ASSIGN(auto file, to.Create(temporary));
  const auto copied =
      ReadThrough(from, listed.name, check, [&file](std::string_view bytes) { return file->Append(bytes); });
  Status done = copied.ok() ? file->Sync() : Status(copied.error());
  if (done.ok()) done = file->Close();
  // Reads the copy again, so that the checksum is of the copy.
  if (done.ok()) {
    const auto arrived = ReadThrough(to, temporary, check);
    if (!arrived.ok()) {
      done = arrived.error();
    } else if (!SameContent(*arrived, listed) && !RATCHET_MUTANT("export.trust_copies")) {
      done =
          Error(Code::kCorruption, fmt::format("{}/{}: the copy in {} has {} bytes with checksum {:08x}, not {} with "
                                               "{:08x}",
                                               from.path(), listed.name, to.path(), arrived->bytes, arrived->checksum,
                                               listed.bytes, listed.checksum));
    }
  }
  if (done.ok()) done = check();
  if (done.ok()) done = to.Rename(temporary, listed.name);
  if (!done.ok()) IgnoreResult(to.Unlink(temporary), "what failed before is said");
  return done;
}

std::string ListText(const std::vector<ListedFile>& files) {
  std::string text;
  for (const ListedFile& file : files) text += fmt::format("{:08x} {} {}\n", file.checksum, file.bytes, file.name);
  return text;
}

template <class Number>
bool ConsumeNumber(std::string_view& line, Number& number, int base) {
  const auto [end, wrong] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  const auto used = static_cast<std::size_t>(end - line.data());
  if (wrong != std::errc() || used == line.size() || line[used] != ' ') return false;
  line.remove_prefix(used + 1);
  return true;
}

bool IsFileName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Result<std::vector<ListedFile>> ReadList(io::Directory& source) {
  RATCHET_ASSIGN(const std::string bytes, source.ReadAll(kExportList));
  const std::string what = fmt::format("{}/{}", source.path(), kExportList);
  RATCHET_ASSIGN(std::string_view text, CheckedContent(bytes, what));
  std::vector<ListedFile> files;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ListedFile file;
    const bool sound =
        ConsumeNumber(line, file.checksum, 16) && ConsumeNumber(line, file.bytes, 10) && IsFileName(line);
    if (!sound || files.size() == kMostFiles)
      return Error(Code::kCorruption, fmt::format("{}: line {} is not a valid file entry", what, files.size() + 1));
    file.name = std::string(line);
    files.push_back(std::move(file));
  }
  return files;
}

CopiedFiles SumOf(const std::vector<ListedFile>& files) {
  CopiedFiles sum{files.size(), 0};
  for (const ListedFile& file : files) sum.bytes += file.bytes;
  return sum;
}

}  // namespace

Result<CopiedFiles> ExportRegionFiles(io::Directory& part, io::Directory& target,
                                      const std::function<Status()>& check) {
  RATCHET_ASSIGN(const auto names, part.List());
  std::vector<ListedFile> files;
  for (const std::string& name : names) {
    if (name.ends_with(kUnfinished)) continue;
    if (files.size() == kMostFiles)
      return Error(Code::kResourceExhausted,
                   fmt::format("cannot export {}: it has more than {} files", part.path(), kMostFiles));
    RATCHET_ASSIGN(const ListedFile listed, ReadThrough(part, name, check));
    RATCHET_ASSIGN(const bool there, Has(target, listed, check));
    if (!there) RATCHET_TRY(CopyOne(part, listed, target, check));
    files.push_back(listed);
  }
  RATCHET_TRY(target.Sync());
  RATCHET_TRY(io::WriteFileAtomically(target, kExportList, WithChecksum(ListText(files))));
  return SumOf(files);
}

Result<CopiedFiles> ImportRegionFiles(io::Directory& source, io::Directory& part,
                                      const std::function<Status()>& check) {
  RATCHET_ASSIGN(const auto files, ReadList(source));
  for (const ListedFile& listed : files) {
    RATCHET_ASSIGN(const bool there, Has(part, listed, check));
    if (!there) RATCHET_TRY(CopyOne(source, listed, part, check));
  }
  RATCHET_TRY(SyncOrDie(part));
  return SumOf(files);
}

}  // namespace ratchet::master
