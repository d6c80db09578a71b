#include "procedure/store/segment_file.h"

#include "procedure/store/frame.h"

namespace ratchet::procedure {
namespace {

// Number of bytes read at once. A record that crosses the end of a piece is read again from its beginning; with pieces
// of 1 MiB the loading of a store took 4 to 6 % longer.
constexpr std::size_t kStep = 4U << 20;

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
