#include <algorithm>

#include "common/base/check.h"
#include "common/model/cell_codec.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/frame.h"
#include "common/rpc/frame_dump.h"
#include "common/rpc/handshake.h"
#include "tests/fuzz/targets.h"

namespace ratchet::fuzz {
namespace {

constexpr std::size_t kMaxFrame = 64U << 10;

void ReadCells(std::string_view cells) {
  CellBlockReader block(cells);
  while (block.Take(1).ok() && !block.AtEnd()) continue;
}

// Parses one request as the server does.
void ReadFrame(std::string_view frame) {
  std::string_view header_bytes;
  std::string_view message;
  if (!rpc::CutDelimited(frame, header_bytes)) return;
  hbase::pb::RequestHeader header;
  if (!header.ParseFromArray(header_bytes.data(), static_cast<int>(header_bytes.size()))) return;
  if (!rpc::CutDelimited(frame, message)) return;
  hbase::pb::MutateRequest request;
  (void)request.ParseFromArray(message.data(), static_cast<int>(message.size()));
  ReadCells(frame);
}

void Feed(std::string_view bytes) {
  if (bytes.size() >= rpc::kPreambleBytes) (void)rpc::ReadPreamble(bytes.substr(0, rpc::kPreambleBytes));
  (void)rpc::ReadConnectionHeader(bytes);
  (void)rpc::DumpFrames(bytes, bytes);
  ReadCells(bytes);
  // The first byte determines the length of the segments.
  const std::size_t segment = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes.front());
  rpc::FrameBuffer buffer(kMaxFrame);
  std::string cut;  // the output, joined again
  for (std::size_t at = 0; at < bytes.size(); at += segment) {
    buffer.Append(bytes.substr(at, std::min(segment, bytes.size() - at)));
    std::string frame;
    while (buffer.Next(frame) == rpc::FrameBuffer::Cut::kFrame) {
      RATCHET_CHECK(frame.size() <= kMaxFrame, "a frame of {} bytes", frame.size());
      rpc::AppendBig32(static_cast<std::uint32_t>(frame.size()), cut);
      cut += frame;
      ReadFrame(frame);
    }
    RATCHET_CHECK(cut.size() + buffer.size() == std::min(at + segment, bytes.size()), "bytes were lost or made up");
  }
  RATCHET_CHECK(bytes.substr(0, cut.size()) == cut, "a frame is not what was sent");
}

std::vector<std::string> Seeds() {
  hbase::pb::RequestHeader header;
  header.set_call_id(7);
  header.set_method_name("Mutate");
  hbase::pb::MutateRequest put;
  put.mutable_region()->set_type(hbase::pb::RegionSpecifier::ENCODED_REGION_NAME);
  put.mutable_region()->set_value("0123456789abcdef0123456789abcdef");
  put.mutable_mutation()->set_row("row");
  std::string cells;
  AppendCell(Cell{"row", "f", "q", 5, CellType::kPut, "value"}, cells);
  const std::string request = rpc::EncodeRequest(header, put, cells);
  return {request, request + request, rpc::ClientHello("user", "ClientService", true) + request, cells};
}

}  // namespace

const Target kFrames{"frames", Feed, Seeds};

}  // namespace ratchet::fuzz
