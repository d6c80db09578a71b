#include "common/audit/audit_file.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "common/audit/audit_line.h"
#include "common/base/mutant.h"
#include "common/io/cluster_key.h"

namespace ratchet::audit {
namespace {

constexpr std::string_view kPrefix = "audit.";
constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDigits = 16;
constexpr const char* kNewReserve = "reserve.next";
constexpr const char* kNewHead = "first.next";

std::uint64_t FirstLineOf(const std::string& name) {
  std::uint64_t number = 0;
  const char* const digits = name.data() + kPrefix.size();
  std::from_chars(digits, digits + kDigits, number);
  return number;
}

// Bytes of one unsynced group; only these can be missing in part after a power failure.
constexpr std::size_t kMostGroupBytes = 32U << 20;

// The last whole line and the end of the whole lines. Zeros are space that was reserved.
struct Tail {
  std::uint64_t whole_bytes = 0;
  std::uint64_t lines = 0;
  std::string last;
};

// A power failure may lose any sectors of the last group, which are zeros then, and keep later ones. So the first line
// near the end with a zero ends the log. Other bytes that are not a line are damage: they stay, and the verification
// names them.
Tail FindTail(std::string_view text) {
  Tail tail;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return tail;
    const std::string_view line = text.substr(begin, end + 1 - begin);
    if (line.find('\0') != std::string_view::npos && text.size() - begin <= kMostGroupBytes) return tail;
    ++tail.lines;
    tail.last = line;
    tail.whole_bytes = begin = end + 1;
  }
}

// 0 if it is not known.
std::uint64_t SizeOf(io::Directory& directory, const std::string& name) {
  const auto file = directory.OpenForRead(name);
  const auto size = file.ok() ? (*file)->size() : Result<std::uint64_t>(0);
  return size.ok() ? *size : 0;
}

}  // namespace

bool IsAuditFileName(const std::string& name) {
  if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix))
    return false;
  const auto digits = name.substr(kPrefix.size(), kDigits);
  return digits.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<std::uint64_t> ReadHead(std::string_view text) {
  const std::size_t line = text.find('\n');  // zeros may follow
  if (line == std::string_view::npos) return std::nullopt;
  text = text.substr(0, line);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, wrong] = std::from_chars(text.data(), end, number);
  if (wrong != std::errc() || last != end || number == 0) return std::nullopt;
  return number;
}

std::string AuditFile::NextName() const { return fmt::format("{}{:016}{}", kPrefix, number_ + 1, kSuffix); }

Result<std::unique_ptr<AuditFile>> AuditFile::Open(std::unique_ptr<io::Directory> directory, AuditLimits limits) {
  std::unique_ptr<AuditFile> made(new AuditFile(std::move(directory), limits));
  RATCHET_TRY(made->Recover());
  made->Refill();
  return made;
}

// Sorted, oldest first.
Result<std::vector<std::string>> AuditFile::Names() {
  RATCHET_ASSIGN(std::vector<std::string> names, directory_->List());
  std::erase_if(names, [](const std::string& name) { return !IsAuditFileName(name); });
  std::sort(names.begin(), names.end());
  return names;
}

Status AuditFile::Recover() {
  hash_ = NoHash();
  RATCHET_ASSIGN(const std::vector<std::string> names, Names());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    RATCHET_TRY(RecoverFrom(*name));
    if (number_ > 0) break;
    RATCHET_TRY(directory_->Unlink(*name));  // no line in it became whole
  }
  RATCHET_TRY(directory_->Sync());
  RATCHET_ASSIGN(has_reserve_, directory_->Exists(kReserveName));
  return Ok();
}

Status AuditFile::RecoverFrom(const std::string& name) {
  RATCHET_ASSIGN(const std::string text, directory_->ReadAll(name, kMostAuditFileBytes + kMostLineBytes + (64U << 20)));
  const Tail tail = FindTail(text);
  if (tail.whole_bytes < text.size()) {
    const std::size_t last = text.find_last_not_of('\0');
    cut_at_start_ = last == std::string::npos || last < tail.whole_bytes ? 0 : last + 1 - tail.whole_bytes;
    RATCHET_TRY(directory_->Cut(name, tail.whole_bytes));
  }
  RATCHET_TRY(directory_->SyncFile(name));
  if (tail.lines == 0) return Ok();
  // The number in the line is believed if it is a line; otherwise the lines are counted, so that damage stops no start.
  std::uint64_t number = 0;
  std::string_view prev;
  number_ = ReadLine(tail.last, number, prev) ? number : FirstLineOf(name) + tail.lines - 1;
  hash_ = ChainHash(tail.last);
  // No text from outside has a quotation mark without a backslash.
  ended_without_room_ =
      tail.last.find(R"("event":"lost")") != std::string::npos && tail.last.find(R"("count":)") == std::string::npos;
  name_ = name;
  durable_bytes_ = tail.whole_bytes;
  return Ok();
}

Status AuditFile::Write(const std::vector<std::string>& bodies, Room room) {
  std::string text;
  std::uint64_t number = number_;
  std::string hash = hash_;
  for (const std::string& body : bodies) {
    const std::string line = WholeLine(++number, hash, body);
    hash = ChainHash(line);
    text += line;
  }
  RATCHET_TRY(Repair());
  Status written = WriteOnce(text, room);
  if (!written.ok() && written.error().code() == Code::kNoSpace && has_reserve_ && Repair().ok()) {
    written = BeginOnReserve();
    if (written.ok()) written = WriteOnce(text, room);
  }
  if (!written.ok()) return written;
  number_ = number;
  hash_ = std::move(hash);
  return Ok();
}

Status AuditFile::WriteOnce(const std::string& text, Room room) {
  const std::uint64_t kept = room == Room::kLastLine ? 0 : kLastLineBytes;
  const std::uint64_t most = of_reserve_ ? limits_.reserve_bytes - kept : limits_.file_bytes;
  if (file_ != nullptr && of_reserve_ && file_->size() + text.size() > most)
    return Error(Code::kNoSpace, fmt::format("{}: the reserve is used up", path()));
  if (file_ != nullptr && !of_reserve_ && (roll_ || (file_->size() > 0 && file_->size() + text.size() > most))) End();
  if (file_ == nullptr) RATCHET_TRY(Begin());
  Status durable = file_->Append(text);
  if (durable.ok() && !RATCHET_MUTANT("audit.no_sync")) durable = file_->Sync();
  if (durable.ok()) {
    durable_bytes_ = file_->size();
    return Ok();
  }
  broken_ = true;
  file_.reset();
  return durable;
}

// Removes the lines of a failed write from the file, because their calls were refused.
Status AuditFile::Repair() {
  if (!broken_) return Ok();
  const Status cut = directory_->Cut(name_, durable_bytes_);
  if (!cut.ok() && cut.error().code() != Code::kNotFound) return cut;
  if (cut.ok()) RATCHET_TRY(directory_->SyncFile(name_));
  if (cut.ok() && durable_bytes_ == 0) RATCHET_TRY(directory_->Unlink(name_));
  broken_ = false;
  return Ok();
}

Status AuditFile::Begin() {
  const std::string name = NextName();
  RATCHET_ASSIGN(file_, io::CreatePrivate(*directory_, name));
  name_ = name;
  durable_bytes_ = 0;
  of_reserve_ = roll_ = false;
  broken_ = true;  // until its name is durable
  const Status named = directory_->Sync();
  if (!named.ok()) {
    file_.reset();
    return named;
  }
  broken_ = false;
  RemoveOldest();
  return Ok();
}

Status AuditFile::BeginOnReserve() {
  const std::string name = NextName();
  RATCHET_TRY(directory_->Rename(kReserveName, name));
  has_reserve_ = false;
  name_ = name;
  durable_bytes_ = 0;
  roll_ = false;
  broken_ = true;  // until its name is durable
  RATCHET_ASSIGN(file_, directory_->OpenForWrite(name));
  of_reserve_ = true;
  const Status named = directory_->Sync();
  broken_ = !named.ok();
  if (!named.ok()) file_.reset();
  return named;
}

void AuditFile::End() {
  if (file_ != nullptr) IgnoreResult(file_->Trim(), "zeros at the end of a file are not lines");
  file_.reset();
  of_reserve_ = false;
}

void AuditFile::RemoveOldest() {
  auto names = Names();
  if (!names.ok()) return;
  std::uint64_t bytes = 0;
  std::size_t keep = 0;  // of the newest
  while (keep < names->size() && keep < kMostAuditFiles) {
    bytes += SizeOf(*directory_, (*names)[names->size() - 1 - keep]);
    if (keep >= limits_.files && bytes > limits_.files * limits_.file_bytes) break;
    ++keep;
  }
  if (keep == names->size()) return;
  const std::uint64_t first = FirstLineOf((*names)[names->size() - keep]);
  const bool noted = RATCHET_MUTANT("audit.remove_without_head") || WriteHead(first).ok();
  if (!noted) return;  // the next file tries again
  for (std::size_t i = 0; i + keep < names->size(); ++i)
    IgnoreResult(directory_->Unlink((*names)[i]), "it is removed with the next file");
}

Status AuditFile::WriteHead(std::uint64_t number) {
  const auto is_left = directory_->Exists(kNewHead);
  if (is_left.ok() && *is_left) RATCHET_TRY(directory_->Unlink(kNewHead));
  RATCHET_ASSIGN(const auto file, io::CreatePrivate(*directory_, kNewHead));
  RATCHET_TRY(file->Append(fmt::format("{}\n", number)));
  RATCHET_TRY(file->Sync());
  RATCHET_TRY(file->Trim());
  RATCHET_TRY(directory_->Rename(kNewHead, kHeadName));
  return directory_->Sync();
}

void AuditFile::Refill() {
  if (has_reserve_ || !Repair().ok()) return;
  IgnoreResult(directory_->Unlink(kNewReserve), "it may be left from a full disk");
  const auto fill = [this]() -> Status {
    RATCHET_ASSIGN(const auto file, io::CreatePrivate(*directory_, kNewReserve));
    RATCHET_TRY(file->ZeroFill(limits_.reserve_bytes));
    RATCHET_TRY(file->Sync());
    RATCHET_TRY(directory_->Rename(kNewReserve, kReserveName));
    return directory_->Sync();
  };
  if (!fill().ok()) {
    IgnoreResult(directory_->Unlink(kNewReserve), "the next attempt removes it");
    return;
  }
  has_reserve_ = true;
  End();  // the next line begins a file of the usual size
}

}  // namespace ratchet::audit
