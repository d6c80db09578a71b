#include "master/history/history_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/io/little_endian.h"

namespace ratchet::master {
namespace {

constexpr std::uint32_t kHistoryKind = 'H';
constexpr std::uint8_t kEntry = 1;
constexpr std::uint8_t kEncoding = 1;
constexpr std::size_t kTimeBytes = 8;  // time before each payload, so that readers need not decode the payload
constexpr std::size_t kDash = 1 + 16;
constexpr std::size_t kNameLength = kDash + 1 + 8;

io::LogIdentity IdentityOf(const std::string& name) { return {kHistoryKind, io::LogFileId("history/" + name)}; }

bool IsSegmentName(const std::string& name) {
  if (name.size() != kNameLength || name[0] != 'e' || name[kDash] != '-') return false;
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (i != kDash && (name[i] < '0' || name[i] > '9')) return false;
  }
  return true;
}

// `visit` gets time and payload of each record. Returns a description of damage; empty if there is none.
Result<std::string> ReadRecords(io::Directory& directory, const std::string& name,
                                const std::function<void(std::int64_t at_ms, std::string_view payload)>& visit) {
  RATCHET_ASSIGN(const auto file, directory.OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  io::RecordReader reader(*file, size, {IdentityOf(name)});
  std::string problem;
  io::Record record;
  while (true) {
    while (reader.Next(&record)) {
      if (record.type != kEntry || record.version != kEncoding || record.payload.size() < kTimeBytes) {
        problem = fmt::format("history/{}: skipping a record of another version at {}", name, record.offset);
        continue;
      }
      visit(static_cast<std::int64_t>(io::GetFixed<std::uint64_t>(record.payload.data())),
            record.payload.substr(kTimeBytes));
    }
    if (!reader.status().ok()) return reader.status().error();
    const io::LogTail tail = reader.tail();
    // A torn end was never synced; without its header the file has no records.
    if (tail.end == io::LogEnd::kTorn && tail.offset == 0 && size > 0)
      return fmt::format("history/{}: cannot be read: {}", name, tail.reason);
    if (tail.end != io::LogEnd::kDamage) return problem;
    problem = fmt::format("history/{}: damage at {}: {}", name, tail.offset, tail.reason);
    if (!reader.SkipDamage()) return problem;
  }
}

}  // namespace

HistoryFiles::HistoryFiles(std::unique_ptr<io::Directory> directory, Epoch epoch)
    : directory_(std::move(directory)), epoch_(epoch) {}

HistoryFiles::~HistoryFiles() = default;

Status HistoryFiles::Open(const std::function<void(std::string_view payload)>& visit) {
  RATCHET_ASSIGN(const auto names, directory_->List());
  const std::string mine = fmt::format("e{:016}-", epoch_.value());
  for (const std::string& name : names) {
    if (!IsSegmentName(name)) continue;
    HistorySegment segment;
    segment.name = name;
    const auto read = ReadRecords(*directory_, name, [&](std::int64_t at_ms, std::string_view payload) {
      if (segment.last_ms == 0) segment.first_ms = at_ms;
      segment.last_ms = std::max(segment.last_ms, at_ms);
      visit(payload);
    });
    segment.problem = read.ok() ? *read : read.error().ToString();
    if (const auto file = directory_->OpenForRead(name); file.ok()) {
      if (const auto size = (*file)->size(); size.ok()) segment.bytes = *size;
    }
    // An epoch is claimed once; if a file of it exists nevertheless, its name is not reused.
    if (name.starts_with(mine)) number_ = std::max<std::uint64_t>(number_, std::stoull(name.substr(kDash + 1)));
    segments_.push_back(std::move(segment));
  }
  return Ok();
}

Status HistoryFiles::CheckRoom() const {
  RATCHET_ASSIGN(const std::uint64_t free, directory_->FreeBytes());
  if (free >= kKeepFree) return Ok();
  return Error(Code::kNoSpace,
               fmt::format("only {} bytes are free on the disk, and {} are reserved for the cluster's own files", free,
                           kKeepFree));
}

Status HistoryFiles::Append(std::int64_t at_ms, std::string_view payload) {
  if (writer_ != nullptr && writer_->end_offset() >= kSegmentBytes) RATCHET_TRY(Sync());
  if (writer_ == nullptr || writer_->end_offset() >= kSegmentBytes) {
    writer_.reset();
    const std::string name = fmt::format("e{:016}-{:08}", epoch_.value(), ++number_);
    RATCHET_ASSIGN(auto file, directory_->Create(name));
    RATCHET_TRY(directory_->Sync());
    writer_ = std::make_unique<io::RecordWriter>(std::move(file), IdentityOf(name));
    segments_.push_back({name, 0, at_ms, at_ms, ""});
  }
  std::string& buffer = writer_->Begin();
  char time[kTimeBytes];
  io::PutFixed(time, static_cast<std::uint64_t>(at_ms));
  buffer.append(time, sizeof time);
  buffer.append(payload);
  RATCHET_TRY(writer_->End(kEntry, kEncoding, ++sequence_));
  segments_.back().last_ms = std::max(segments_.back().last_ms, at_ms);
  segments_.back().bytes = writer_->end_offset();
  return Ok();
}

Status HistoryFiles::Flush() {
  if (writer_ == nullptr) return Ok();
  const Status flushed = writer_->Flush();
  if (!flushed.ok()) writer_.reset();
  return flushed;
}

Status HistoryFiles::Sync() {
  if (writer_ == nullptr || writer_->durable_offset() == writer_->end_offset()) return Ok();
  const Status synced = writer_->Sync();
  // Never a second sync of this file (S6: failed sync ends the process): its end may be lost, and readers detect
  // where.
  if (!synced.ok()) writer_.reset();
  return synced;
}

std::uint64_t HistoryFiles::bytes() const {
  std::uint64_t sum = 0;
  for (const HistorySegment& segment : segments_) sum += segment.bytes;
  return sum;
}

Result<std::size_t> HistoryFiles::Trim(std::uint64_t bytes, std::int64_t oldest_ms,
                                       const std::function<Status()>& check) {
  std::size_t removed = 0;
  std::uint64_t left = this->bytes();
  while (segments_.size() > (writer_ == nullptr ? 0U : 1U)) {
    const HistorySegment& oldest = segments_.front();
    if (left <= bytes && oldest.last_ms >= oldest_ms) break;
    RATCHET_TRY(check());
    const Status gone = directory_->Unlink(oldest.name);
    if (!gone.ok() && gone.error().code() != Code::kNotFound) return gone.error();
    left -= std::min(left, oldest.bytes);
    segments_.erase(segments_.begin());
    ++removed;
  }
  return removed;
}

Result<std::string> HistoryFiles::Read(const std::string& name,
                                       const std::function<void(std::string_view payload)>& visit) const {
  return ReadRecords(*directory_, name, [&](std::int64_t, std::string_view payload) { visit(payload); });
}

}  // namespace ratchet::master
