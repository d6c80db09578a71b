// A file of the operating system, opened for reading.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/io/disk.h"
#include "common/io/file_descriptor.h"
#include "common/io/storage_proof.h"

namespace ratchet::io {

// True if clients of the file system at `path` cache names, by its kind; true if the kind is unknown.
[[nodiscard]] bool CachesNames(const std::string& path);

class PosixReadableFile final : public ReadableFile, public ProvableFile {
 public:
  PosixReadableFile(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override;
  [[nodiscard]] Result<std::uint64_t> size() const override;
  [[nodiscard]] std::uint64_t SkipHole(std::uint64_t offset) const override { return DataFrom(fd_, offset); }
  Status Sync() override;

  // Depends on the file system's kind: true for FUSE and Ceph.
  [[nodiscard]] bool NamesAreCached() const override;
  // Queries the lock of the file: only the metadata server can answer that.
  [[nodiscard]] Status RoundTrip() const override;

 private:
  const FileDescriptor fd_;
  const std::string path_;
};

}  // namespace ratchet::io
