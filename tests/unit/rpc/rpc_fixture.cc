#include "tests/unit/rpc/rpc_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/model/cell_codec.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::rpc {
namespace {

constexpr int kPatienceMillis = 10'000;

void EchoRow(const CallContext& context, const std::string& row, const Responder<hbase::pb::GetResponse>& responder) {
  hbase::pb::GetResponse response;
  std::string block;
  FillResult({Cell{row, "f", "q", 1, CellType::kPut, row}}, context.has_codec ? &block : nullptr,
             *response.mutable_result());
  responder.Reply(response, std::move(block));
}

}  // namespace

RawClient::RawClient(std::uint16_t port) {
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd_ >= 0 && ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::ReadExactly(std::size_t count, std::string& out) {
  out.clear();
  while (out.size() < count) {
    pollfd poll{fd_, POLLIN, 0};
    if (::poll(&poll, 1, kPatienceMillis) <= 0) return false;
    char buffer[4096];
    const ssize_t got = ::recv(fd_, buffer, std::min(sizeof(buffer), count - out.size()), 0);
    if (got <= 0) return false;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

std::string RawClient::ReadFrame() {
  std::string length;
  std::string frame;
  if (!ReadExactly(4, length) || !ReadExactly(ReadBig32(length), frame)) return {};
  return frame;
}

std::string RawClient::ReadUnit() {
  std::string part;
  const auto read = [&] {
    std::string length;
    part.clear();
    return ReadExactly(4, length) && ReadExactly(ReadBig32(length), part);
  };
  std::string status;
  if (!ReadExactly(4, status) || !read()) return {};
  if (ReadBig32(status) == 0) return part;
  const std::string name = part;
  return read() ? name + ": " + part : name;
}

std::optional<std::string> RawClient::ReadToEnd() {
  std::string all;
  std::string byte;
  while (ReadExactly(1, byte)) all += byte;
  pollfd poll{fd_, POLLIN, 0};
  if (::poll(&poll, 1, 0) <= 0) return std::nullopt;
  char more = 0;
  if (::recv(fd_, &more, 1, MSG_DONTWAIT) > 0) return std::nullopt;
  return all;
}

bool RawClient::WaitClosed() { return ReadToEnd().has_value(); }

void ExpectTooLong(RawClient& client, const std::string& before, std::uint32_t length, std::string_view after) {
  std::string bytes = before;
  AppendBig32(length, bytes);
  client.Send(bytes.append(after));
  const std::string answer = client.ReadUnit();
  EXPECT_NE(answer.find(fmt::format("a message of {} bytes", length)), std::string::npos) << answer;
  EXPECT_TRUE(client.WaitClosed());
}

void RpcTest::Restart(ServerOptions options) {
  pool_.reset();
  server_.reset();
  server_ = std::make_unique<RpcServer>(std::move(options));
  auto service = std::make_shared<Service>(methods::kClientService);
  service->On(methods::kGet,
              [this](const CallContext& context, const hbase::pb::GetRequest& request, std::string_view,
                     const Responder<hbase::pb::GetResponse>& responder) { HandleGet(context, request, responder); });
  service->On(methods::kMutate, [this](const CallContext&, const hbase::pb::MutateRequest&, std::string_view,
                                       const Responder<hbase::pb::MutateResponse>& responder) {
    ++mutations_;
    hbase::pb::MutateResponse response;
    response.set_processed(true);
    responder.Reply(response);
  });
  service->On(methods::kScan,
              [](const CallContext&, const hbase::pb::ScanRequest&, std::string_view,
                 const Responder<hbase::pb::ScanResponse>& responder) { responder.Reply({}); },
              {QueueClass::kAdmin});
  server_->Add(service);
  ASSERT_TRUE(server_->Start().ok());
  pool_ = std::make_unique<ChannelPool>(ChannelPoolOptions{});
}

void RpcTest::TearDown() {
  Release();
  Unblock();
  pool_.reset();
  server_.reset();
}

void RpcTest::WaitBlocked(int count) {
  const TimePoint deadline = SystemClock().Now() + Millis(kPatienceMillis);
  MutexLock lock(mutex_);
  while (blocked_ < count && SystemClock().Now() < deadline) held_changed_.WaitFor(mutex_, Millis(100));
  ASSERT_GE(blocked_, count);
}

void RpcTest::Unblock() {
  MutexLock lock(mutex_);
  blocking_ = false;
  held_changed_.NotifyAll();
}

void RpcTest::HandleGet(const CallContext& context, const hbase::pb::GetRequest& request,
                        const Responder<hbase::pb::GetResponse>& responder) {
  const std::string& row = request.get().row();
  if (row.starts_with("hold")) {
    MutexLock lock(mutex_);
    held_.push_back(responder);
    held_changed_.NotifyAll();
    return;
  }
  if (row.starts_with("fail:")) {
    responder.Fail(RemoteError(row.substr(5), "told to fail"));
    return;
  }
  if (row == "block") {
    MutexLock lock(mutex_);
    ++blocked_;
    held_changed_.NotifyAll();
    while (blocking_) held_changed_.Wait(mutex_);
  }
  if (row == "throw") throw std::runtime_error("told to throw");
  if (row == "drop") return;
  EchoRow(context, row, responder);
  if (row == "twice") {
    EXPECT_FALSE(responder.Fail(Error(Code::kInternal, "second answer")));
  }
}

void RpcTest::Release() {
  std::vector<Responder<hbase::pb::GetResponse>> held;
  {
    MutexLock lock(mutex_);
    held.swap(held_);
  }
  for (auto responder = held.rbegin(); responder != held.rend(); ++responder) {
    EchoRow(responder->context(), "released", *responder);
  }
}

void RpcTest::WaitHeld(std::size_t count) {
  const TimePoint deadline = SystemClock().Now() + Millis(kPatienceMillis);
  MutexLock lock(mutex_);
  while (held_.size() < count && SystemClock().Now() < deadline) held_changed_.WaitFor(mutex_, Millis(100));
  ASSERT_GE(held_.size(), count);
}

hbase::pb::GetRequest MakeGet(std::string_view row) {
  hbase::pb::GetRequest request;
  request.mutable_region()->set_type(hbase::pb::RegionSpecifier::REGION_NAME);
  request.mutable_region()->set_value("t,,1");
  request.mutable_get()->set_row(row.data(), row.size());
  return request;
}

hbase::pb::MutateRequest MakePut(std::string_view row) {
  hbase::pb::MutateRequest request;
  *request.mutable_region() = MakeGet(row).region();
  request.mutable_mutation()->set_row(row.data(), row.size());
  return request;
}

std::string Hello(bool codec) { return ClientHello("tester", "ClientService", codec); }

std::string RequestFrame(std::uint32_t call_id, const std::string& method,
                         const google::protobuf::MessageLite& request) {
  hbase::pb::RequestHeader header;
  header.set_call_id(call_id);
  header.set_method_name(method);
  header.set_request_param(true);
  return EncodeRequest(header, request, {});
}

ParsedAnswer ParseAnswer(const std::string& frame) {
  ParsedAnswer answer;
  std::string_view rest = frame;
  std::string_view header;
  EXPECT_TRUE(CutDelimited(rest, header)) << "frame of " << frame.size() << " bytes";
  EXPECT_TRUE(answer.header.ParseFromArray(header.data(), static_cast<int>(header.size())));
  answer.body = rest;
  return answer;
}

std::string RowOfAnswer(const std::string& frame, std::string* value) {
  if (frame.empty()) return "closed";
  const ParsedAnswer answer = ParseAnswer(frame);
  if (answer.header.has_exception()) return answer.header.exception().stack_trace();
  std::string_view body = answer.body;
  std::string_view message;
  hbase::pb::GetResponse response;
  if (!CutDelimited(body, message) || !response.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return "unreadable";
  if (value != nullptr) *value = response.result().cell(0).value();
  return response.result().cell(0).row();
}

bool Eventually(const std::function<bool()>& condition) {
  const TimePoint deadline = SystemClock().Now() + Millis(kPatienceMillis);
  while (!condition()) {
    if (SystemClock().Now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace ratchet::rpc
