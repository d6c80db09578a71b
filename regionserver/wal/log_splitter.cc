#include "regionserver/wal/log_splitter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "regionserver/wal/edits_file.h"
#include "regionserver/wal/log_entry.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

// A region's entries, between the reading of the log and the writing of the region's file: {type, length, payload}*.
class Gathered {
 public:
  void Add(std::uint8_t type, std::string_view payload) {
    bytes_.push_back(static_cast<char>(type));
    const auto length = static_cast<std::uint32_t>(payload.size());  // the length of a record fits
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes_.append(payload);
  }
  Status WriteTo(EditsFile& file) const {
    for (std::size_t at = 0; at < bytes_.size();) {
      const auto type = static_cast<std::uint8_t>(bytes_[at]);
      std::uint32_t length = 0;
      std::copy_n(bytes_.data() + at + 1, sizeof(length), reinterpret_cast<char*>(&length));
      at += 1 + sizeof(length);
      RATCHET_TRY(file.Add(type, std::string_view(bytes_).substr(at, length)));
      at += length;
    }
    return Ok();
  }

 private:
  std::string bytes_;
};

// The regions that one pass over the log handles: as many as fit into memory together. A region that is too large for
// memory has a group of its own, and its entries go to its file as they are read.
struct Group {
  std::map<std::string, Gathered, std::less<>> regions;
  std::uint64_t bytes = 0;
};

// Where the entries of a region were written.
enum class Went : std::uint8_t { kDropped, kIntoTheRegion, kAside };

class Splitter {
 public:
  Splitter(io::Directory& directory, const SplitRequest& request)
      : directory_(directory),
        request_(request),
        done_name_(fmt::format("split.{}", request.file)),
        full_name_(fmt::format("{}/{}", request.server, request.file)) {}

  Result<SplitReport> Run() {
    RATCHET_ASSIGN(report_.already_done, directory_.Exists(done_name_));
    // S3 (durable fence mark): before this process relies on a name that another process made, it syncs the directory.
    if (report_.already_done) {
      RATCHET_TRY(directory_.Sync());
      return report_;
    }
    const Status read = Survey();
    if (!read.ok() && read.error().code() == Code::kNotFound) {
      RATCHET_ASSIGN(report_.retired, IsRetired());
      if (report_.retired) return report_;
    }
    if (!read.ok() && read.error().code() != Code::kCorruption) return read.error();
    damaged_ = !read.ok();
    RATCHET_TRY(WriteGroups());
    if (damaged_) return Damage(read.error());
    RATCHET_TRY(HitFault("split.before_done", full_name_));
    RATCHET_TRY(SayDone());
    return report_;
  }

 private:
  struct Target {
    std::unique_ptr<EditsFile> file;  // null: the entries are dropped
    Went went = Went::kDropped;
  };
  // The file of one region of a group.
  struct Output {
    const std::string* region = nullptr;
    Gathered* entries = nullptr;
    Target target{};
    Status status = Ok();
  };

  // S57 (damaged log is split as far as readable): a log that is shorter than its seal or differs from it has lost
  // acknowledged bytes, so its split is not done. All readable entries are published anyway: if an operator continues
  // without the rest, only the unreadable part is missing.
  Error Damage(const Error& error) const {
    return Error(error.code(),
                 fmt::format("{}; its {} readable entries are in the recovered edits of {} regions. Put a good copy of "
                             "the log there, or bypass this split to continue without the rest",
                             error.message(), report_.entries, report_.regions));
  }

  Status Survey() {
    if (request_.sealed_length == 0) {
      if (request_.sealed_last_sequence == 0) return Ok();
      return Error(Code::kCorruption, fmt::format("log {} is empty or missing; records up to {} were in it", full_name_,
                                                  request_.sealed_last_sequence));
    }
    RATCHET_ASSIGN(file_, directory_.OpenForRead(request_.file));
    RATCHET_ASSIGN(file_size_, file_->size());
    const Status bytes = CheckBytes();
    if (!bytes.ok() && bytes.error().code() != Code::kCorruption) return bytes;
    const Status entries = Walk([this](const io::Record& record, const LogEntryKey& key) {
      ++report_.entries;
      const auto flushed = request_.flushed_sequences.find(key.region);
      const bool covered = flushed != request_.flushed_sequences.end() && key.sequence <= flushed->second;
      auto share = survey_.find(key.region);
      if (share == survey_.end()) share = survey_.emplace(std::string(key.region), RegionShare{}).first;
      share->second.Add(record.offset, key.sequence, record.payload.size());
      share->second.covered += covered ? 1 : 0;
      report_.covered += covered ? 1 : 0;
      return Ok();
    });
    if (bytes.ok() || (!entries.ok() && entries.error().code() != Code::kCorruption)) return entries;
    return entries.ok()
               ? bytes
               : Status(Error(bytes.error().code(), bytes.error().message() + "; " + entries.error().message()));
  }

  // Compares the length and the checksum of the log with the seal.
  Status CheckBytes() {
    if (file_size_ < request_.sealed_length && !RATCHET_MUTANT("split.ignore_seal"))
      return Error(Code::kCorruption,
                   fmt::format("log {} has {} bytes, sealed at {}", full_name_, file_size_, request_.sealed_length));
    constexpr std::size_t kStep = 1U << 20;
    io::LogBytes bytes(*file_, request_.sealed_length, kStep);
    const std::uint32_t crc = io::ChecksumOf(bytes, 0, request_.sealed_length);
    if (!bytes.status().ok()) return bytes.status().error().Annotate("log " + full_name_);
    if (crc == request_.sealed_crc32c || RATCHET_MUTANT("split.ignore_seal")) return Ok();
    return Error(Code::kCorruption, fmt::format("log {}: checksum of the first {} bytes is {:08x}, sealed as {:08x}",
                                                full_name_, request_.sealed_length, crc, request_.sealed_crc32c));
  }

  Status Walk(const std::function<Status(const io::Record&, const LogEntryKey&)>& take) const {
    io::RecordReader::Options options;
    options.expected = {kServerLogKind, io::LogFileId(full_name_)};
    if (!RATCHET_MUTANT("split.ignore_seal")) options.sealed_length = request_.sealed_length;
    io::RecordReader reader(*file_, file_size_, options);
    const Status walked = WalkEntries(reader, {full_name_, request_.sealed_last_sequence, take});
    const bool taken =
        walked.ok() || (walked.error().code() == Code::kCorruption && RATCHET_MUTANT("split.ignore_seal"));
    return taken ? Ok() : walked;
  }

  // S32 (two-stage cleaner): the log was sealed. Then an earlier master's cleaner took it, because its owner had
  // recorded that manifests cover it.
  Result<bool> IsRetired() {
    RATCHET_ASSIGN(const std::vector<std::string> names, directory_.List());
    const auto log = io::ParseLogFileName(request_.file);
    return log && io::IsCovered(names, *log);
  }

  // Reads the log in passes, each for the regions that fit into memory, so that descriptors and memory do not grow with
  // the log.
  Status WriteGroups() {
    Group group;
    for (const auto& [region, share] : survey_) {
      if (!share.IsNeeded()) continue;
      if (!group.regions.empty() && group.bytes + share.bytes > request_.memory_bytes)
        RATCHET_TRY(Write(std::exchange(group, {})));
      group.regions.emplace(region, Gathered{});
      group.bytes += share.bytes;
    }
    return group.regions.empty() ? Ok() : Write(std::move(group));
  }

  Status Write(Group group) {
    if (group.bytes > request_.memory_bytes) return WriteLarge(group.regions.begin()->first);
    RATCHET_TRY(ForEntriesOf(group, [&group](const LogEntryKey& key, std::uint8_t type, std::string_view payload) {
      group.regions.find(key.region)->second.Add(type, payload);
      return Ok();
    }));
    std::vector<Output> outputs;
    for (auto& [region, gathered] : group.regions) outputs.push_back({&region, &gathered});
    // Few files are synced faster one by one.
    constexpr std::size_t kMostSingle = 3;
    if (request_.shared_sync != nullptr && outputs.size() > kMostSingle) {
      RATCHET_TRY(ForEach(outputs, [this](Output& output) { return Prepare(output); }));
      RATCHET_TRY(PublishTogether(outputs));
    } else {
      RATCHET_TRY(ForEach(outputs, [this](Output& output) { return PublishAlone(output); }));
    }
    for (const Output& output : outputs) Count(*output.region, output.target.went);
    return Ok();
  }

  Status ForEach(std::vector<Output>& outputs, const std::function<Status(Output&)>& act) const {
    const auto job = [&](std::size_t i) { outputs[i].status = act(outputs[i]); };
    if (request_.side_by_side) {
      request_.side_by_side(outputs.size(), job);
    } else {
      for (std::size_t i = 0; i < outputs.size(); ++i) job(i);
    }
    for (const Output& output : outputs) RATCHET_TRY(output.status);
    return Ok();
  }

  // Creates the file and writes the entries, which are no longer needed then.
  Status Begin(Output& output) const {
    const Gathered entries = std::exchange(*output.entries, Gathered());
    RATCHET_ASSIGN(output.target, CreateFile(*output.region));
    return output.target.file == nullptr ? Ok() : entries.WriteTo(*output.target.file);
  }

  Status PublishAlone(Output& output) const {
    RATCHET_TRY(Begin(output));
    const std::unique_ptr<EditsFile> file = std::move(output.target.file);
    return file == nullptr ? Ok() : file->Publish(damaged_);
  }

  // S142 (shared syncs of a split): the file keeps no descriptor while it waits for the sync, nor does the light
  // directory of a region.
  Status Prepare(Output& output) const {
    RATCHET_TRY(Begin(output));
    if (output.target.file == nullptr) return Ok();
    const bool shares = output.target.went == Went::kIntoTheRegion;  // other places may hold a descriptor
    if (shares && request_.shared_sync->Covers(output.target.file->directory())) return output.target.file->Finish();
    const std::unique_ptr<EditsFile> file = std::move(output.target.file);
    return file->Publish(damaged_);
  }

  Status PublishTogether(const std::vector<Output>& outputs) const {
    std::vector<SharedSync::Change> files;
    std::vector<SharedSync::Change> names;
    for (const Output& output : outputs) {
      if (output.target.file == nullptr) continue;
      files.push_back({&output.target.file->directory(), output.target.file->temporary()});
      names.push_back({&output.target.file->directory(), {}});
    }
    if (files.empty()) return Ok();
    if (!RATCHET_MUTANT("split.show_before_shared_sync")) RATCHET_TRY(request_.shared_sync->Sync(files));
    for (const Output& output : outputs)
      if (output.target.file != nullptr) RATCHET_TRY(output.target.file->Show(damaged_));
    return RATCHET_MUTANT("split.no_second_shared_sync") ? Ok() : request_.shared_sync->Sync(names);
  }

  Status WriteLarge(const std::string& region) {
    RATCHET_ASSIGN(const Target target, CreateFile(region));
    if (target.file != nullptr) {
      Group alone;
      alone.regions.emplace(region, Gathered());
      RATCHET_TRY(ForEntriesOf(alone, [&target](const LogEntryKey&, std::uint8_t type, std::string_view payload) {
        return target.file->Add(type, payload);
      }));
      RATCHET_TRY(target.file->Publish(damaged_));
    }
    Count(region, target.went);
    return Ok();
  }

  void Count(const std::string& region, Went went) {
    const auto share = survey_.find(region);
    switch (went) {
      case Went::kDropped: report_.dropped += share->second.entries - share->second.covered; break;
      case Went::kIntoTheRegion: ++report_.regions; break;
      case Went::kAside:
        report_.kept.push_back(region);
        RATCHET_LOG(kError, "{}: the directory of region {} is missing; {} entries are kept in the folder of its edits",
                    full_name_, region, share->second.entries - share->second.covered);
        break;
    }
  }

  // Visits the entries of the group's regions that manifests may not cover, in the order of the log.
  Status ForEntriesOf(
      const Group& group,
      const std::function<Status(const LogEntryKey&, std::uint8_t type, std::string_view payload)>& take) const {
    const Status walked = Walk([&](const io::Record& record, const LogEntryKey& key) -> Status {
      if (group.regions.find(key.region) == group.regions.end()) return Ok();
      const RegionShare& share = survey_.find(key.region)->second;
      if (share.IsOfAnEarlierLine(record.offset, key.sequence) && !RATCHET_MUTANT("split.trust_fallen_sequences"))
        return take(key, kUncoveredEntryRecordType, UnderThe(share, record.payload));
      const auto flushed = request_.flushed_sequences.find(key.region);
      if (flushed != request_.flushed_sequences.end() && key.sequence <= flushed->second) return Ok();
      return take(key, kEntryRecordType, Unshipped(record));
    });
    // The survey has already reported the damage.
    return damaged_ && !walked.ok() && walked.error().code() == Code::kCorruption ? Ok() : walked;
  }

  // Writes of a later line with lower sequences are newer. Returns the entry with a sequence below those of that line.
  // An entry that cannot be decoded stays unchanged: the opening of its region reports it.
  static std::string UnderThe(const RegionShare& share, std::string_view payload) {
    Result<LogEntry> entry = DecodeLogEntry(payload);
    if (!entry.ok()) return std::string(payload);
    entry->sequence = share.fell_to == 0 ? 0 : share.fell_to - 1;
    entry->shipped = {};
    entry->mark.reset();
    std::string again;
    EncodeLogEntry(*entry, again);
    return again;
  }

  // Recovered edits have no replication part, because replication ships from the log. An entry that cannot be decoded
  // stays unchanged here as well.
  static std::string Unshipped(const io::Record& record) {
    if (record.version == kEntryVersion) return std::string(record.payload);
    Result<LogEntry> entry = DecodeLogEntry(record.payload);
    if (!entry.ok()) return std::string(record.payload);
    entry->shipped = {};
    entry->mark.reset();
    std::string again;
    EncodeLogEntry(*entry, again);
    return again;
  }

  Result<Target> CreateFile(const std::string& region) const {
    Target target;
    target.went = Went::kIntoTheRegion;
    Result<std::unique_ptr<io::Directory>> directory = request_.open_region(region);
    if (!directory.ok() && directory.error().code() == Code::kNotFound) {
      directory = KeepEdits(region);
      const bool gone = directory.ok() && *directory == nullptr;
      if (gone || RATCHET_MUTANT("split.missing_is_gone")) return Target{};
      target.went = Went::kAside;
    }
    if (!directory.ok()) return std::move(directory).error();
    const std::string final_name = fmt::format("{}{}.{}", kEditsPrefix, request_.server, request_.file);
    RATCHET_ASSIGN(target.file, EditsFile::Create(std::move(directory).value(),
                                                  {region, final_name,
                                                   fmt::format("tmp.{}.{:016x}", final_name, request_.attempt_token)}));
    return target;
  }

  Result<std::unique_ptr<io::Directory>> KeepEdits(const std::string& region) const {
    if (!request_.keep_edits)
      return Error(Code::kFailedPrecondition,
                   fmt::format("{}: the directory of region {} is missing", full_name_, region));
    const RegionShare& share = survey_.find(region)->second;
    return request_.keep_edits(region, share.last_fall != 0 ? UINT64_MAX : share.last_sequence);
  }

  // Several splitters may reach this point at once: each has its own temporary name.
  Status SayDone() {
    const std::string temporary = fmt::format("tmp.{}.{:016x}", done_name_, request_.attempt_token);
    RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory_.Create(temporary));
    Status said =
        file->Append(fmt::format("length {} crc32c {:08x}\n", request_.sealed_length, request_.sealed_crc32c));
    if (said.ok()) said = file->Sync();
    if (said.ok()) said = file->Close();
    if (said.ok()) said = directory_.Rename(temporary, done_name_);
    if (said.ok()) return directory_.Sync();
    IgnoreResult(directory_.Unlink(temporary), "it goes with the directory at the latest");
    return said;
  }

  io::Directory& directory_;
  const SplitRequest& request_;
  const std::string done_name_;
  const std::string full_name_;
  std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t file_size_ = 0;
  LogSurvey survey_;
  bool damaged_ = false;
  SplitReport report_;
};

}  // namespace

Result<SplitReport> SplitLog(io::Directory& log_directory, const SplitRequest& request) {
  RATCHET_CHECK(request.open_region != nullptr, "a splitter needs a way to open regions");
  return Splitter(log_directory, request).Run();
}

}  // namespace ratchet::regionserver
