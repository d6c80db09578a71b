// A segment that is read piece by piece, so that its length, which may be anything after damage, takes no memory, S91
// (lengths are checked). Owner: one reader, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/io/record_log.h"
#include "procedure/store/segment_name.h"

namespace ratchet::procedure {

// The identity in a segment's file header.
[[nodiscard]] io::LogIdentity SegmentIdentity(SegmentId id);

class SegmentFile {
 public:
  SegmentFile() = default;  // refers to no file; only to be replaced
  static Result<SegmentFile> Open(io::Directory& directory, SegmentId id);

  // Reads the records below `length`. A reader whose status() is an error has not reached the end: see CheckRead.
  [[nodiscard]] io::RecordReader Records(std::uint64_t length = UINT64_MAX) const {
    return {*file_, size_, {SegmentIdentity(id_), length}};
  }
  [[nodiscard]] io::LogBytes Bytes() const;
  [[nodiscard]] SegmentId id() const { return id_; }
  // Returns the disk's error, which is not evidence about the segment.
  [[nodiscard]] Status CheckRead(const io::RecordReader& reader) const;

 private:
  SegmentFile(SegmentId id, std::unique_ptr<io::ReadableFile> file, std::uint64_t size)
      : id_(id), file_(std::move(file)), size_(size) {}

  SegmentId id_;
  std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t size_ = 0;
};

}  // namespace ratchet::procedure
