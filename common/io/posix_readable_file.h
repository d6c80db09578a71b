// A file of the operating system that is read.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/io/disk.h"
#include "common/io/file_descriptor.h"
#include "common/io/storage_proof.h"

namespace ratchet::io {

// Do clients of the file system at `path` cache names? By its kind; true where that cannot be told.
[[nodiscard]] bool CachesNames(const std::string& path);

class PosixReadableFile final : public ReadableFile, public ProvingFile {
 public:
  PosixReadableFile(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override;
  [[nodiscard]] Result<std::uint64_t> size() const override;
  [[nodiscard]] std::uint64_t SkipHole(std::uint64_t offset) const override { return DataFrom(fd_, offset); }
  Status Sync() override;

  // By the file system's kind: FUSE and Ceph.
  [[nodiscard]] bool NamesAreCached() const override;
  // Whether another process has locked the file: that is known to the metadata server alone.
  [[nodiscard]] Status RoundTrip() const override;

 private:
  const FileDescriptor fd_;
  const std::string path_;
};

}  // namespace ratchet::io
