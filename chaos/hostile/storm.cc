#include "chaos/hostile/storm.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "common/model/proto/common.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/cell_compression.h"
#include "common/rpc/frame.h"

namespace ratchet::chaos {
namespace {

constexpr int kTakenWithinMs = 5'000;

hbase::pb::RequestHeader Header(std::uint32_t call, std::string_view method) {
  hbase::pb::RequestHeader header;
  header.set_call_id(call);
  header.set_method_name(std::string(method));
  header.set_request_param(true);
  return header;
}

}  // namespace

std::string ManyEmptyMessages(std::uint32_t call, std::string_view method, std::size_t count) {
  hbase::pb::EmptyMsg message;
  auto* const fields = message.GetReflection()->MutableUnknownFields(&message);
  for (std::size_t i = 0; i < count; ++i) fields->AddLengthDelimited(1, "");
  auto header = Header(call, method);
  return rpc::EncodeRequest(header, message, {});
}

std::string CompressedBomb(std::uint32_t call, std::string_view method, std::size_t bytes) {
  const auto cells = rpc::Compress(rpc::CellCompression::kGzip, std::string(bytes, '\0'));
  auto header = Header(call, method);
  return rpc::EncodeRequest(header, hbase::pb::EmptyMsg(), cells.ok() ? *cells : std::string());
}

std::string GzipHello(std::string_view service) {
  hbase::pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user("storm");
  header.set_service_name(std::string(service));
  header.set_cell_block_codec_class("org.apache.hadoop.hbase.codec.KeyValueCodec");
  header.set_cell_block_compressor_class("org.apache.hadoop.io.compress.GzipCodec");
  const std::string body = header.SerializeAsString();
  std::string hello("HBas\0\x50", 6);
  rpc::AppendBig32(static_cast<std::uint32_t>(body.size()), hello);
  return hello + body;
}

bool StormConnection::Open(std::uint16_t port, std::string_view service) {
  fd_ = io::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd_.get() < 0 || ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    closed_ = true;
    return false;
  }
  return Send(GzipHello(service));
}

bool StormConnection::Send(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    pollfd room{fd_.get(), POLLOUT, 0};
    if (::poll(&room, 1, kTakenWithinMs) != 1) return false;
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) closed_ = true;
  }
  return !closed_;
}

std::size_t StormConnection::Answers() {
  std::array<char, 65'536> piece{};
  while (!closed_) {
    const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) closed_ = true;
    if (got <= 0) break;
    received_.append(piece.data(), static_cast<std::size_t>(got));
  }
  while (received_.size() >= 4) {
    const std::size_t whole = 4 + std::size_t{rpc::ReadBig32(std::string_view(received_).substr(0, 4))};
    if (received_.size() < whole) break;
    received_.erase(0, whole);
    ++answers_;
  }
  return answers_;
}

}  // namespace ratchet::chaos
