// Makes many files and directories durable with one call, syncfs (S133: shared syncs).
//
// syncfs writes everything that any process has changed in the file system, so it pays only for many files at once.
// It is used only on file systems where it is known to wait for the data and for the journal, and on kernels that
// report failed writes through it. FUSE, for example, may return without a write.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/file_descriptor.h"

namespace ratchet::io {

class FileSystemSync {
 public:
  // `below`: a directory of the file system. Returns null where syncfs cannot be used, or on another disk than that of
  // the operating system. Make the object before the first write that it is to sync: it reports failed writes of the
  // whole file system since then.
  [[nodiscard]] static std::shared_ptr<FileSystemSync> Of(Directory& below);
  // True when the directory is on this file system.
  [[nodiscard]] bool Covers(Directory& directory) const;
  // Makes durable the names in the directories, and the bytes of the files, that were changed before the call. The
  // caller has checked that the object covers all of them. An error means that durability is permanently unknown (S6:
  // failed sync ends the process).
  [[nodiscard]] Status Sync(const std::vector<Directory*>& directories, const std::vector<WritableFile*>& files) const;

  // True for a file system, by its number in statfs, whose syncfs is trusted.
  [[nodiscard]] static bool IsTrusted(std::uint32_t magic);
  // True when syncfs of this kernel, "6.1.0-18-amd64", reports failed writes: from 5.8 on.
  [[nodiscard]] static bool ReportsErrors(const std::string& release);

 private:
  FileSystemSync(FileDescriptor fd, std::string path, std::uint64_t device)
      : fd_(std::move(fd)), path_(std::move(path)), device_(device) {}

  const FileDescriptor fd_;
  const std::string path_;
  const std::uint64_t device_;
};

}  // namespace ratchet::io
