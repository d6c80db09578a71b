// A disk that counts the syncs of its user, by the kind of file. It counts as the operating system's files sync: a
// Preallocate that extends a file is a sync of its own (disk.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/io/disk.h"

namespace ratchet::costs {

// Thread-safe.
class SyncCounts {
 public:
  // kLeaveOut: the syncs are only counted, so that the rest of an operation does not wait for the disk.
  enum class Syncs : std::uint8_t { kDo, kLeaveOut };
  explicit SyncCounts(Syncs syncs = Syncs::kDo) : do_(syncs == Syncs::kDo) {}
  [[nodiscard]] bool are_done() const { return do_; }
  void Add(const std::string& kind) {
    MutexLock lock(mutex_);
    ++counts_[kind];
  }
  [[nodiscard]] std::uint64_t Of(const std::string& kind) const {
    MutexLock lock(mutex_);
    const auto found = counts_.find(kind);
    return found == counts_.end() ? 0 : found->second;
  }
  void Clear() {
    MutexLock lock(mutex_);
    counts_.clear();
  }

 private:
  const bool do_;
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> counts_ GUARDED_BY(mutex_);
};

inline std::string KindOfFile(const std::string& name) {
  if (name.starts_with("manifest.") || name.starts_with("tmp.manifest.")) return "manifest";
  if (name.ends_with(".sst")) return "store_file";
  if (name.find("edits.") != std::string::npos) return "edits";
  if (name.starts_with("log.") || name.starts_with("meta.")) return "log";
  return "other";
}

class CountingFile final : public io::WritableFile {
 public:
  CountingFile(std::unique_ptr<io::WritableFile> file, std::string kind, SyncCounts& counts)
      : file_(std::move(file)), kind_(std::move(kind)), counts_(counts) {}
  Status Append(std::string_view data) override { return file_->Append(data); }
  Status Sync() override {
    counts_.Add(kind_);
    return counts_.are_done() ? file_->Sync() : Ok();
  }
  Status Preallocate(std::uint64_t bytes) override {
    if (bytes > std::max(filled_, file_->size())) counts_.Add(kind_);
    filled_ = std::max(filled_, bytes);
    return file_->Preallocate(bytes);
  }
  Status ZeroFill(std::uint64_t bytes) override {
    filled_ = std::max(filled_, bytes);
    return file_->ZeroFill(bytes);
  }
  Status Trim() override { return filled_ = 0, file_->Trim(); }
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  Status Close() override { return file_->Close(); }

 private:
  const std::unique_ptr<io::WritableFile> file_;
  const std::string kind_;
  SyncCounts& counts_;
  std::uint64_t filled_ = 0;
};

class CountingDirectory final : public io::Directory {
 public:
  CountingDirectory(std::unique_ptr<io::Directory> directory, SyncCounts& counts)
      : directory_(std::move(directory)), counts_(counts) {}

  Result<std::unique_ptr<io::WritableFile>> Create(const std::string& name) override {
    return Counted(directory_->Create(name), name);
  }
  Result<std::unique_ptr<io::WritableFile>> OpenForWrite(const std::string& name) override {
    return Counted(directory_->OpenForWrite(name), name);
  }
  Result<std::unique_ptr<io::ReadableFile>> OpenForRead(const std::string& name) override {
    return directory_->OpenForRead(name);
  }
  Result<bool> Exists(const std::string& name) override { return directory_->Exists(name); }
  Result<std::vector<std::string>> List() override { return directory_->List(); }
  Status Rename(const std::string& from, const std::string& to) override { return directory_->Rename(from, to); }
  Status RenameTo(const std::string& from, io::Directory& target, const std::string& to) override {
    return directory_->RenameTo(from, Inner(target), to);
  }
  Status Link(const std::string& from, const std::string& to) override { return directory_->Link(from, to); }
  Status LinkTo(const std::string& from, io::Directory& target, const std::string& to) override {
    return directory_->LinkTo(from, Inner(target), to);
  }
  Status Unlink(const std::string& name) override { return directory_->Unlink(name); }
  Status Cut(const std::string& name, std::uint64_t bytes) override { return directory_->Cut(name, bytes); }
  Status MakeDir(const std::string& name) override { return directory_->MakeDir(name); }
  Result<std::unique_ptr<io::Directory>> OpenDir(const std::string& name) override {
    return Counted(directory_->OpenDir(name));
  }
  Status RemoveDir(const std::string& name) override { return directory_->RemoveDir(name); }
  Status SyncFile(const std::string& name) override {
    return counts_.Add(KindOfFile(name)), directory_->SyncFile(name);
  }
  Status Sync() override { return counts_.Add("directory"), directory_->Sync(); }
  [[nodiscard]] Result<std::uint64_t> FreeBytes() override { return directory_->FreeBytes(); }
  Result<std::unique_ptr<io::Directory>> Reopen() override { return Counted(directory_->Reopen()); }
  [[nodiscard]] const std::string& path() const override { return directory_->path(); }

 private:
  static io::Directory& Inner(io::Directory& directory) {
    auto* const counting = dynamic_cast<CountingDirectory*>(&directory);
    return counting == nullptr ? directory : *counting->directory_;
  }
  Result<std::unique_ptr<io::WritableFile>> Counted(Result<std::unique_ptr<io::WritableFile>> file,
                                                    const std::string& name) {
    if (!file.ok()) return file;
    return std::unique_ptr<io::WritableFile>(
        std::make_unique<CountingFile>(std::move(file).value(), KindOfFile(name), counts_));
  }
  Result<std::unique_ptr<io::Directory>> Counted(Result<std::unique_ptr<io::Directory>> directory) {
    if (!directory.ok()) return directory;
    return std::unique_ptr<io::Directory>(std::make_unique<CountingDirectory>(std::move(directory).value(), counts_));
  }

  const std::unique_ptr<io::Directory> directory_;
  SyncCounts& counts_;
};

class CountingDisk final : public io::Disk {
 public:
  CountingDisk(io::Disk& disk, SyncCounts& counts) : disk_(disk), counts_(counts) {}
  Result<std::unique_ptr<io::Directory>> Open(const std::string& path) override { return Counted(disk_.Open(path)); }
  Result<std::unique_ptr<io::Directory>> OpenOrMake(const std::string& path) override {
    return Counted(disk_.OpenOrMake(path));
  }

 private:
  Result<std::unique_ptr<io::Directory>> Counted(Result<std::unique_ptr<io::Directory>> directory) {
    if (!directory.ok()) return directory;
    return std::unique_ptr<io::Directory>(std::make_unique<CountingDirectory>(std::move(directory).value(), counts_));
  }

  io::Disk& disk_;
  SyncCounts& counts_;
};

}  // namespace ratchet::costs
