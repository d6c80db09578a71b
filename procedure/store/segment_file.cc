#include "procedure/store/segment_file.h"

#include "procedure/store/frame.h"

namespace ratchet::procedure {
namespace {

constexpr std::size_t kStep = 1U << 20;  // read at once

}  // namespace

io::LogIdentity SegmentIdentity(SegmentId id) { return {kStoreLogKind, io::LogFileId(SegmentName(id))}; }

Result<SegmentFile> SegmentFile::Open(io::Directory& directory, SegmentId id) {
  RATCHET_ASSIGN(std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(SegmentName(id)));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  return SegmentFile(id, std::move(file), size);
}

io::LogBytes SegmentFile::Bytes() const { return {*file_, size_, kStep}; }

Status SegmentFile::CheckRead(const io::RecordReader& reader) const {
  return reader.status().ok() ? Ok() : Status(reader.status().error().Annotate(SegmentName(id_)));
}

}  // namespace ratchet::procedure
