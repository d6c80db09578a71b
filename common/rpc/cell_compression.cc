#include "common/rpc/cell_compression.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/frame.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kGrowth = 64u << 10;     // step by which output grows
constexpr std::size_t kRawChunk = 128u << 10;  // raw; Hadoop's readers have buffers of 256 KiB
constexpr int kZstdLevel = 3;
constexpr int kGzipBits = 16 + MAX_WBITS;

Error MalformedBlock(std::string_view why) {
  return RemoteError(exception::kDoNotRetryIo, fmt::format("malformed compressed cell block: {}", why));
}

Error BlockTooBig(std::size_t most) {
  return RemoteError(exception::kRequestTooBig, fmt::format("a cell block of more than {} bytes, decompressed", most));
}

Error LibraryFailed(std::string_view what) {
  return Error(Code::kInternal, fmt::format("a cell block: {} failed", what));
}

// Output that reserves memory before it grows. It doubles, and holds both pieces of memory while it moves.
class Output {
 public:
  Output(std::size_t most, const DecompressionRoom& room) : most_(most), room_(room) {}
  // Grows to this size; the caller fills the new bytes. At most one more than `most`.
  Status Resize(std::size_t size) {
    if (size > bytes_.capacity()) {
      const std::size_t before = taken_;
      const std::size_t after = std::max(size, std::min(2 * bytes_.capacity(), most_ + 1));
      RATCHET_TRY(Take(after));
      bytes_.reserve(after);
      taken_ = after;
      Give(before);
    }
    bytes_.resize(size);
    return Ok();
  }
  // Reserves memory that a codec allocates in addition to its output.
  Status Take(std::size_t size) const {
    if (room_.take && !room_.take(size) && !RATCHET_MUTANT("rpc.charge_cells_late")) {
      return RemoteError(
          exception::kCallQueueTooBig,
          "the requests of this server take too much memory when they are decompressed; try again later");
    }
    return Ok();
  }
  void Give(std::size_t size) const {
    if (size > 0 && room_.give) room_.give(size);
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] char* at(std::size_t offset) { return bytes_.data() + offset; }
  [[nodiscard]] std::string Finish() { return std::move(bytes_); }

 private:
  const std::size_t most_;
  const DecompressionRoom& room_;
  std::string bytes_;
  std::size_t taken_ = 0;
};

Bytef* InOf(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }

// ---- gzip and zlib --------------------------------------------------------------------------------------------------

Result<std::string> Deflate(std::string_view bytes, int window_bits) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return LibraryFailed("deflate");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = InOf(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return LibraryFailed("deflate");
  out.resize(stream.total_out);
  return out;
}

// Several members one after the other are one block, as in gzip.
Status Inflate(std::string_view bytes, int window_bits, std::size_t most, Output& out) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return LibraryFailed("inflate");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = InOf(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  for (;;) {
    const std::size_t before = out.size();
    RATCHET_TRY(out.Resize(std::min(before + kGrowth, most + 1)));
    stream.next_out = reinterpret_cast<Bytef*>(out.at(before));
    stream.avail_out = static_cast<uInt>(out.size() - before);
    const int code = inflate(&stream, Z_NO_FLUSH);
    const bool full = stream.avail_out == 0;
    RATCHET_TRY(out.Resize(out.size() - stream.avail_out));
    if (out.size() > most) return BlockTooBig(most);
    if (code == Z_STREAM_END) {
      if (stream.avail_in == 0) return Ok();
      if (inflateReset(&stream) != Z_OK) return LibraryFailed("inflate");
    } else if (code != Z_OK || (stream.avail_in == 0 && !full)) {
      return MalformedBlock("cut off, or no such stream");
    }
  }
}

// ---- snappy and LZ4 -------------------------------------------------------------------------------------------------

std::string CompressChunk(CellCompression compression, std::string_view raw) {
  std::string out;
  if (compression == CellCompression::kSnappy) {
    snappy::Compress(raw.data(), raw.size(), &out);
    return out;
  }
  out.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  const int size =
      LZ4_compress_default(raw.data(), out.data(), static_cast<int>(raw.size()), static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(std::max(size, 0)));
  return out;
}

Result<std::string> CompressBlocks(CellCompression compression, std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::string_view raw = bytes.substr(0, kRawChunk);
    bytes.remove_prefix(raw.size());
    const std::string chunk = CompressChunk(compression, raw);
    if (chunk.empty()) return LibraryFailed("compression");
    AppendBig32(static_cast<std::uint32_t>(raw.size()), out);
    AppendBig32(static_cast<std::uint32_t>(chunk.size()), out);
    out += chunk;
  }
  return out;
}

// Appends the content of the chunk: at least one byte, at most `most`.
Status DecompressChunk(CellCompression compression, std::string_view chunk, std::size_t most, Output& out) {
  const std::size_t begin = out.size();
  if (compression == CellCompression::kSnappy) {
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(chunk.data(), chunk.size(), &size) || size == 0 || size > most ||
        !snappy::IsValidCompressedBuffer(chunk.data(), chunk.size()))
      return MalformedBlock("no chunk of snappy, or one that is longer than its block");
    RATCHET_TRY(out.Resize(begin + size));
    if (!snappy::RawUncompress(chunk.data(), chunk.size(), out.at(begin))) return MalformedBlock("snappy");
    return Ok();
  }
  // An LZ4 chunk does not contain its decompressed length; each byte of it expands to at most 255.
  const std::size_t room = std::min(most, chunk.size() * 255);
  RATCHET_TRY(out.Resize(begin + room));
  const int size = LZ4_decompress_safe(chunk.data(), out.at(begin), static_cast<int>(chunk.size()),
                                       static_cast<int>(std::min<std::size_t>(room, INT32_MAX)));
  if (size <= 0) return MalformedBlock("no chunk of LZ4, or one that is longer than its block");
  return out.Resize(begin + static_cast<std::size_t>(size));
}

Status DecompressBlocks(CellCompression compression, std::string_view bytes, std::size_t most, Output& out) {
  while (!bytes.empty()) {
    if (bytes.size() < 4) return MalformedBlock("cut off");
    const std::size_t raw = ReadBig32(bytes);
    bytes.remove_prefix(4);
    if (raw > most - out.size()) return BlockTooBig(most);
    for (const std::size_t end = out.size() + raw; out.size() < end;) {
      if (bytes.size() < 4) return MalformedBlock("cut off");
      const std::size_t length = ReadBig32(bytes);
      if (length == 0 || length > bytes.size() - 4) return MalformedBlock("a chunk is longer than the block");
      RATCHET_TRY(DecompressChunk(compression, bytes.substr(4, length), end - out.size(), out));
      bytes.remove_prefix(4 + length);
    }
  }
  return Ok();
}

// ---- zstd -----------------------------------------------------------------------------------------------------------

Result<std::string> CompressZstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) return LibraryFailed("zstd");
  out.resize(size);
  return out;
}

// Bytes that the decoder allocates for the frame that begins here: its window, from its header.
std::size_t ZstdWindow(std::string_view frame) {
  constexpr std::string_view kMagic("\x28\xB5\x2F\xFD", 4);
  constexpr std::size_t kLargest = std::size_t{1} << 27;  // the decoder refuses more
  if (frame.size() < 6 || !frame.starts_with(kMagic)) return 0;
  const auto flags = static_cast<unsigned char>(frame[4]);
  const auto window = static_cast<unsigned char>(frame[5]);
  if ((flags & 0x20) != 0) {  // the window is the content
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    return static_cast<std::size_t>(std::min<unsigned long long>(size, kLargest));
  }
  const std::size_t base = std::size_t{1} << std::min(10 + (window >> 3), 27);
  return std::min(base + base / 8 * (window & 7), kLargest);
}

Status DecompressZstd(std::string_view bytes, std::size_t most, Output& out) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (stream == nullptr) return LibraryFailed("zstd");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t window = 0;
  bool begins = true;
  for (;;) {
    if (begins) {
      const std::size_t next = ZstdWindow(bytes.substr(in.pos));
      if (next > window) RATCHET_TRY(out.Take(next - window));
      window = std::max(window, next);
    }
    const std::size_t before = out.size();
    RATCHET_TRY(out.Resize(std::min(before + kGrowth, most + 1)));
    ZSTD_outBuffer to{out.at(before), out.size() - before, 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &in);
    const bool full = to.pos == to.size;
    RATCHET_TRY(out.Resize(before + to.pos));
    if (ZSTD_isError(left) != 0) return MalformedBlock(ZSTD_getErrorName(left));
    if (out.size() > most) return BlockTooBig(most);
    if (in.pos == in.size && left == 0) {
      out.Give(window);
      return Ok();
    }
    if (in.pos == in.size && !full) return MalformedBlock("cut off");
    begins = left == 0;
  }
}

Status DecompressTo(CellCompression compression, std::string_view bytes, std::size_t most, Output& out) {
  switch (compression) {
    case CellCompression::kNone: break;
    case CellCompression::kGzip: return Inflate(bytes, kGzipBits, most, out);
    case CellCompression::kZlib: return Inflate(bytes, MAX_WBITS, most, out);
    case CellCompression::kSnappy:
    case CellCompression::kLz4: return DecompressBlocks(compression, bytes, most, out);
    case CellCompression::kZstd: return DecompressZstd(bytes, most, out);
  }
  if (bytes.size() > most) return BlockTooBig(most);
  RATCHET_TRY(out.Resize(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), out.at(0));
  return Ok();
}

constexpr std::array<std::pair<std::string_view, CellCompression>, 6> kCodecClasses{{
    {"org.apache.hadoop.io.compress.GzipCodec", CellCompression::kGzip},
    {"org.apache.hadoop.io.compress.DefaultCodec", CellCompression::kZlib},
    {"org.apache.hadoop.io.compress.DeflateCodec", CellCompression::kZlib},
    {"org.apache.hadoop.io.compress.SnappyCodec", CellCompression::kSnappy},
    {"org.apache.hadoop.io.compress.Lz4Codec", CellCompression::kLz4},
    {"org.apache.hadoop.io.compress.ZStandardCodec", CellCompression::kZstd},
}};

}  // namespace

std::optional<CellCompression> CompressionOf(std::string_view java_class) {
  if (java_class.empty()) return CellCompression::kNone;
  for (const auto& [name, compression] : kCodecClasses) {
    if (name == java_class) return compression;
  }
  return std::nullopt;
}

Result<std::string> Compress(CellCompression compression, std::string_view bytes) {
  switch (compression) {
    case CellCompression::kNone: break;
    case CellCompression::kGzip: return Deflate(bytes, kGzipBits);
    case CellCompression::kZlib: return Deflate(bytes, MAX_WBITS);
    case CellCompression::kSnappy:
    case CellCompression::kLz4: return CompressBlocks(compression, bytes);
    case CellCompression::kZstd: return CompressZstd(bytes);
  }
  return std::string(bytes);
}

Result<std::string> Decompress(CellCompression compression, std::string_view bytes, std::size_t most,
                               const DecompressionRoom& room) {
  Output out(most, room);
  RATCHET_TRY(DecompressTo(compression, bytes, most, out));
  return out.Finish();
}

}  // namespace ratchet::rpc
