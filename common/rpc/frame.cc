#include "common/rpc/frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>

#include <utility>

#include "common/base/varint.h"
#include "common/model/proto/rpc.pb.h"

namespace ratchet::rpc {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::CodedOutputStream;

constexpr std::size_t kSplitFrom = 16 << 10;  // below it a copy costs less than a separate part
constexpr std::size_t kKeepCapacity = 4096;   // an empty buffer keeps at most this

std::size_t DelimitedSize(std::size_t body) {
  return CodedOutputStream::VarintSize32(static_cast<std::uint32_t>(body)) + body;
}

// `size`: the result of ByteSizeLong just before.
void AppendDelimited(const MessageLite& message, std::size_t size, std::string& out) {
  std::uint8_t varint[10];
  const std::uint8_t* end = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(size), varint);
  out.append(reinterpret_cast<const char*>(varint), static_cast<std::size_t>(end - varint));
  const std::size_t at = out.size();
  out.resize(at + size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()) + at);
}

template <class Header>
std::string EncodeHead(Header& header, const MessageLite* message, std::size_t cells, std::size_t room) {
  header.clear_cell_block_meta();
  if (cells > 0) header.mutable_cell_block_meta()->set_length(static_cast<std::uint32_t>(cells));
  const std::size_t header_size = header.ByteSizeLong();
  const std::size_t message_size = message == nullptr ? 0 : message->ByteSizeLong();
  const std::size_t head = DelimitedSize(header_size) + (message == nullptr ? 0 : DelimitedSize(message_size));
  std::string frame;
  frame.reserve(4 + head + room);
  AppendBig32(static_cast<std::uint32_t>(head + cells), frame);
  AppendDelimited(header, header_size, frame);
  if (message != nullptr) AppendDelimited(*message, message_size, frame);
  return frame;
}

template <class Header>
std::string Encode(Header& header, const MessageLite* message, std::string_view cells) {
  std::string frame = EncodeHead(header, message, cells.size(), cells.size());
  frame += cells;
  return frame;
}

}  // namespace

std::string EncodeRequest(hbase::pb::RequestHeader& header, const MessageLite& parameter, std::string_view cells) {
  return Encode(header, &parameter, cells);
}

std::string EncodeResponse(hbase::pb::ResponseHeader& header, const MessageLite* result, std::string_view cells) {
  return Encode(header, result, cells);
}

SplitFrame EncodeSplitResponse(hbase::pb::ResponseHeader& header, const MessageLite* result, std::string cells) {
  if (cells.size() < kSplitFrom) return {Encode(header, result, cells), {}};
  std::string head = EncodeHead(header, result, cells.size(), 0);
  return {std::move(head), std::move(cells)};
}

bool CutDelimited(std::string_view& rest, std::string_view& message) {
  std::string_view after = rest;
  if (!GetBytes(after, &message)) return false;
  rest = after;
  return true;
}

std::uint32_t ReadBig32(std::string_view four_bytes) {
  std::uint32_t value = 0;
  for (const char byte : four_bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

void AppendBig32(std::uint32_t value, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

void FrameBuffer::Append(std::string_view bytes) {
  if (start_ > 0) {
    bytes_.erase(0, start_);
    start_ = 0;
  }
  bytes_ += bytes;
}

FrameBuffer::Cut FrameBuffer::Next(std::string& frame, std::size_t most) {
  if (size() < 4) return Cut::kNothing;
  const std::uint32_t length = ReadBig32(Peek());
  if (length > INT32_MAX) return Cut::kBad;
  if (length > most) return Cut::kTooBig;
  if (size() < 4 + std::size_t{length}) return Cut::kNothing;
  frame.assign(Peek().substr(4, length));
  Consume(4 + std::size_t{length});
  return Cut::kFrame;
}

bool FrameBuffer::CutBytes(std::size_t count, std::string& out) {
  if (size() < count) return false;
  out.assign(Peek().substr(0, count));
  Consume(count);
  return true;
}

void FrameBuffer::Consume(std::size_t count) {
  start_ += count;
  if (start_ < bytes_.size()) return;
  start_ = 0;
  bytes_.clear();
  if (bytes_.capacity() > kKeepCapacity) bytes_.shrink_to_fit();
}

}  // namespace ratchet::rpc
