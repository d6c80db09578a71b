// Frames of HBase's wire protocol: int32 length, delimited header, delimited message, cell block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace google::protobuf {
class MessageLite;
}
namespace hbase::pb {
class RequestHeader;
class ResponseHeader;
}  // namespace hbase::pb

namespace ratchet::rpc {

inline constexpr std::uint32_t kConnectionCallId = 0xFFFFFFFF;  // -1: about the connection, not about a call

// A whole frame, length included. A message without fields is still written, as the varint 0. `result` may be null (an
// exception has no result). The header's cell_block_meta is set here, and only when there are cells.
[[nodiscard]] std::string EncodeRequest(hbase::pb::RequestHeader& header,
                                        const google::protobuf::MessageLite& parameter, std::string_view cells);
[[nodiscard]] std::string EncodeResponse(hbase::pb::ResponseHeader& header, const google::protobuf::MessageLite* result,
                                         std::string_view cells);

// A frame whose cell block, if it is large, stays in its own string. `head` is sent first, then `cells`.
struct SplitFrame {
  std::string head;
  std::string cells;
  [[nodiscard]] std::size_t size() const { return head.size() + cells.size(); }
  [[nodiscard]] bool empty() const { return head.empty(); }
};
[[nodiscard]] SplitFrame EncodeSplitResponse(hbase::pb::ResponseHeader& header,
                                             const google::protobuf::MessageLite* result, std::string cells);

// Cuts a delimited message off the front of `rest`; false when its length is malformed or exceeds `rest`.
[[nodiscard]] bool CutDelimited(std::string_view& rest, std::string_view& message);

// Big-endian 32 bit.
[[nodiscard]] std::uint32_t ReadBig32(std::string_view four_bytes);
void AppendBig32(std::uint32_t value, std::string& out);

// Collects received bytes and cuts them into frames. Holds memory only for received bytes, and none while it is empty.
class FrameBuffer {
 public:
  explicit FrameBuffer(std::size_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  enum class Cut : std::uint8_t {
    kNothing,  // wait for more bytes
    kFrame,    // `frame` is the next frame without its length
    kTooBig,   // its length is above the bound: see Peek; no more frames can be cut
    kBad,      // its length is negative
  };

  void Append(std::string_view bytes);
  [[nodiscard]] Cut Next(std::string& frame) { return Next(frame, max_frame_bytes_); }
  // With another bound: for what has the form of a frame before the connection has requests.
  [[nodiscard]] Cut Next(std::string& frame, std::size_t most);
  // Cuts `count` bytes off the front; false when there are fewer.
  [[nodiscard]] bool CutBytes(std::size_t count, std::string& out);
  void Clear() { Consume(size()); }
  // The bytes that have arrived and were not cut.
  [[nodiscard]] std::string_view Peek() const { return std::string_view(bytes_).substr(start_); }
  [[nodiscard]] std::size_t size() const { return bytes_.size() - start_; }

 private:
  void Consume(std::size_t count);

  const std::size_t max_frame_bytes_;
  std::string bytes_;
  std::size_t start_ = 0;  // bytes before it are consumed
};

}  // namespace ratchet::rpc
