// A connection of HBase's wire protocol by hand, with any codec and compressor: for features that the client library
// does not use. Blocks; one call at a time.
#pragma once

#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <google/protobuf/message_lite.h>

#include "common/base/check.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/cell_compression.h"
#include "common/rpc/frame.h"

namespace ratchet::regionserver {

class WireClient {
 public:
  WireClient(std::uint16_t port, const std::string& service, std::string_view codec, std::string_view compressor,
             bool compresses = true)
      : compression_(rpc::CompressionOf(compressor).value()), compresses_(compresses) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    RATCHET_CHECK(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, "a server");
    hbase::pb::ConnectionHeader header;
    header.mutable_user_info()->set_effective_user("me");
    header.set_service_name(service);
    header.set_cell_block_codec_class(std::string(codec));
    if (!compressor.empty()) header.set_cell_block_compressor_class(std::string(compressor));
    const std::string body = header.SerializeAsString();
    std::string hello("HBas\0\x50", 6);
    rpc::AppendBig32(static_cast<std::uint32_t>(body.size()), hello);
    Send(hello + body);
  }
  ~WireClient() { ::close(fd_); }
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  // Sends a number of equal calls in one piece, and returns the size of the answers.
  std::size_t CallMany(int calls, const std::string& method, const google::protobuf::MessageLite& request) {
    std::string frames;
    for (int i = 0; i < calls; ++i) {
      hbase::pb::RequestHeader header;
      header.set_call_id(++last_call_);
      header.set_method_name(method);
      header.set_request_param(true);
      frames += rpc::EncodeRequest(header, request, {});
    }
    Send(frames);
    std::size_t bytes = 0;
    for (int i = 0; i < calls; ++i) bytes += Read(rpc::ReadBig32(Read(4))).size();
    return bytes;
  }

  // Empty, or the class of the exception. `block`: the answer's cells, decompressed; may be null.
  std::string Call(const std::string& method, const google::protobuf::MessageLite& request, const std::string& cells,
                   google::protobuf::MessageLite* response, std::string* block) {
    hbase::pb::RequestHeader header;
    header.set_call_id(++last_call_);
    header.set_method_name(method);
    header.set_request_param(true);
    const bool packs = compresses_ && !cells.empty();
    Send(rpc::EncodeRequest(header, request, packs ? rpc::Compress(compression_, cells).value() : cells));
    const std::string frame = Read(rpc::ReadBig32(Read(4)));
    std::string_view rest = frame;
    std::string_view bytes;
    hbase::pb::ResponseHeader answer;
    if (!rpc::CutDelimited(rest, bytes) || !answer.ParseFromString(std::string(bytes))) return "no header";
    if (answer.has_exception()) return answer.exception().exception_class_name();
    if (!rpc::CutDelimited(rest, bytes) || !response->ParseFromString(std::string(bytes))) return "no message";
    if (rest.size() != answer.cell_block_meta().length()) return "a cell block of another length";
    if (block != nullptr && !rest.empty()) *block = rpc::Decompress(compression_, rest, kMost).value();
    return {};
  }

 private:
  static constexpr std::size_t kMost = 64u << 20;

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      RATCHET_CHECK(sent > 0, "the server reads");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::string Read(std::size_t count) {
    std::string out(count, '\0');
    RATCHET_CHECK(::recv(fd_, out.data(), count, MSG_WAITALL) == static_cast<ssize_t>(count), "the server answers");
    return out;
  }

  const rpc::CellCompression compression_;
  const bool compresses_;
  int fd_ = -1;
  std::uint32_t last_call_ = 0;
};

}  // namespace ratchet::regionserver
