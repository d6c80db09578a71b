#include "regionserver/log/log_splitter.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/crc32c.h"
#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "regionserver/log/log_entry.h"

namespace ratchet::regionserver {
namespace {

// A region's output of this log, being written.
struct Output {
  std::string region;
  std::unique_ptr<io::Directory> directory;  // null: the region is gone
  std::string temporary;
  std::string final_name;
  std::unique_ptr<io::RecordWriter> writer;
};

class Splitter {
 public:
  Splitter(io::Directory& directory, const SplitRequest& request)
      : directory_(directory), request_(request), done_name_(fmt::format("split.{}", request.file)),
        full_name_(fmt::format("{}/{}", request.server, request.file)) {}

  Result<SplitReport> Run() {
    RATCHET_ASSIGN(report_.already_done, directory_.Exists(done_name_));
    // S3: somebody else's name is relied upon only after a sync of one's own.
    if (report_.already_done) {
      RATCHET_TRY(directory_.Sync());
      return report_;
    }
    const Status read = ReadSealed();
    if (!read.ok() && read.error().code() == Code::kNotFound) {
      RATCHET_ASSIGN(report_.retired, IsRetired());
      if (report_.retired) return report_;
    }
    RATCHET_TRY(read);
    RATCHET_TRY(Distribute());
    RATCHET_TRY(Publish());
    RATCHET_TRY(HitFault("split.before_done", full_name_));
    RATCHET_TRY(SayDone());
    return report_;
  }

 private:
  // A log that is shorter than its seal or differs from it has lost acknowledged bytes, as nobody has published it yet.
  Status ReadSealed() {
    if (request_.sealed_length == 0) return Ok();
    RATCHET_ASSIGN(bytes_, directory_.ReadAll(request_.file));
    if (RATCHET_MUTANT("split.ignore_seal")) return Ok();
    if (bytes_.size() < request_.sealed_length)
      return Error(Code::kCorruption, fmt::format("log {} has {} bytes, sealed at {}", full_name_, bytes_.size(),
                                                  request_.sealed_length));
    bytes_.resize(request_.sealed_length);
    const std::uint32_t crc = Crc32c(bytes_);
    if (crc == request_.sealed_crc32c) return Ok();
    return Error(Code::kCorruption, fmt::format("log {}: checksum of the first {} bytes is {:08x}, sealed as {:08x}{}",
                                                full_name_, request_.sealed_length, crc, request_.sealed_crc32c, FirstDamage()));
  }

  // S32: it was sealed, and then an earlier master's cleaner took it, because its owner had said that manifests cover it.
  Result<bool> IsRetired() {
    RATCHET_ASSIGN(const std::vector<std::string> names, directory_.List());
    const auto log = io::ParseLogFileName(request_.file);
    return log && io::IsCovered(names, *log);
  }

  // ", damage at offset N: why", or nothing when every single record is good.
  std::string FirstDamage() const {
    io::RecordReader reader(bytes_, ReaderOptions());
    io::Record record;
    while (reader.Next(&record)) continue;
    if (reader.tail().end == io::LogEnd::kClean) return {};
    return fmt::format(", damage at offset {}: {}", reader.tail().offset, reader.tail().reason);
  }

  io::RecordReader::Options ReaderOptions() const {
    io::RecordReader::Options options;
    options.expected = {kServerLogKind, io::LogFileId(full_name_)};
    if (!RATCHET_MUTANT("split.ignore_seal")) options.sealed_length = request_.sealed_length;
    return options;
  }

  Status Distribute() {
    if (request_.sealed_length == 0) return Ok();
    io::RecordReader reader(bytes_, ReaderOptions());
    io::Record record;
    std::uint64_t last_sequence = 0;
    while (reader.Next(&record)) {
      if (record.type != kEntryRecordType || record.version != kEntryVersion)
        return Error(Code::kCorruption, fmt::format("log {}: record of unknown type {} version {} at offset {}", full_name_,
                                                    record.type, record.version, record.offset));
      last_sequence = record.sequence;
      RATCHET_TRY(Take(record));
    }
    if (RATCHET_MUTANT("split.ignore_seal")) return Ok();
    if (reader.tail().end != io::LogEnd::kClean || last_sequence != request_.sealed_last_sequence)
      return Error(Code::kCorruption,
                   fmt::format("log {} is damaged below its seal at offset {}: {} (last sequence {}, sealed {})", full_name_,
                               reader.tail().offset, reader.tail().reason, last_sequence, request_.sealed_last_sequence));
    return Ok();
  }

  Status Take(const io::Record& record) {
    ++report_.entries;
    RATCHET_ASSIGN(const LogEntryKey key, DecodeLogEntryKey(record.payload));
    const auto flushed = request_.flushed_sequences.find(key.region);
    if (flushed != request_.flushed_sequences.end() && key.sequence <= flushed->second) {
      ++report_.covered;
      return Ok();
    }
    RATCHET_ASSIGN(Output* output, OutputFor(std::string(key.region)));
    if (!output->directory) {
      ++report_.dropped;
      return Ok();
    }
    return output->writer->Add(kEntryRecordType, kEntryVersion, key.sequence, record.payload);
  }

  Result<Output*> OutputFor(const std::string& region) {
    const auto found = outputs_.find(region);
    if (found != outputs_.end()) return &found->second;
    Output output;
    output.region = region;
    Result<std::unique_ptr<io::Directory>> directory = request_.open_region(region);
    if (!directory.ok() && directory.error().code() != Code::kNotFound) return std::move(directory).error();
    if (directory.ok()) {
      output.directory = std::move(directory).value();
      output.final_name = fmt::format("{}{}.{}", kEditsPrefix, request_.server, request_.file);
      output.temporary = fmt::format("tmp.{}.{:016x}", output.final_name, request_.attempt_token);
      RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, output.directory->Create(output.temporary));
      const io::LogIdentity identity{kRecoveredEditsKind, io::LogFileId(region + "/" + output.final_name)};
      output.writer = std::make_unique<io::RecordWriter>(std::move(file), identity);
    }
    return &outputs_.emplace(region, std::move(output)).first->second;
  }

  Status Publish() {
    std::vector<Output*> files;
    for (auto& [region, output] : outputs_) {
      if (output.directory) files.push_back(&output);
    }
    std::vector<Status> done(files.size(), Ok());
    const auto publish = [&](std::size_t i) { done[i] = PublishOne(*files[i]); };
    if (request_.side_by_side) {
      request_.side_by_side(files.size(), publish);
    } else {
      for (std::size_t i = 0; i < files.size(); ++i) publish(i);
    }
    for (const Status& status : done) RATCHET_TRY(status);
    report_.regions = files.size();
    return Ok();
  }

  // File, then name, then the name's durability; the final name appears with its whole content or not at all.
  static Status PublishOne(Output& output) {
    const bool early = RATCHET_MUTANT("split.no_publish_sync");
    RATCHET_TRY(early ? output.writer->Flush() : output.writer->Sync());
    RATCHET_TRY(output.writer->file().Close());
    RATCHET_TRY(HitFault("split.before_publish", output.region));
    RATCHET_TRY(output.directory->Rename(output.temporary, output.final_name));
    return output.directory->Sync();
  }

  // Several splitters may get here at once: each has its own temporary name.
  Status SayDone() {
    const std::string temporary = fmt::format("tmp.{}.{:016x}", done_name_, request_.attempt_token);
    RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory_.Create(temporary));
    RATCHET_TRY(file->Append(fmt::format("length {} crc32c {:08x}\n", request_.sealed_length, request_.sealed_crc32c)));
    RATCHET_TRY(file->Sync());
    RATCHET_TRY(file->Close());
    RATCHET_TRY(directory_.Rename(temporary, done_name_));
    return directory_.Sync();
  }

  io::Directory& directory_;
  const SplitRequest& request_;
  const std::string done_name_;
  const std::string full_name_;
  std::string bytes_;
  std::map<std::string, Output> outputs_;
  SplitReport report_;
};

}  // namespace

Result<SplitReport> SplitLog(io::Directory& log_directory, const SplitRequest& request) {
  RATCHET_CHECK(request.open_region != nullptr, "a splitter needs a way to open regions");
  return Splitter(log_directory, request).Run();
}

}  // namespace ratchet::regionserver
