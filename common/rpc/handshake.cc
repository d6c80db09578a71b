#include "common/rpc/handshake.h"

#include "common/base/printable.h"
#include "common/model/cell_codec.h"
#include "common/model/message_limits.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/frame.h"
#include "common/rpc/member_proof.h"

namespace ratchet::rpc {
namespace {

constexpr std::string_view kMagic = "HBas";

}  // namespace

Result<Preamble> ReadPreamble(std::string_view bytes) {
  if (bytes == "Regist") return Preamble::kRegistry;
  if (bytes == "Securi") return Preamble::kSecurity;
  if (!bytes.starts_with(kMagic)) {
    // Java clients recognise an old server by how this text starts.
    return RemoteError(exception::kFatalConnection, fmt::format("Expected HEADER={} but received HEADER={}", kMagic,
                                                                PrintableText(bytes.substr(0, kMagic.size()))));
  }
  const int version = static_cast<unsigned char>(bytes[4]);
  const int auth = static_cast<unsigned char>(bytes[5]);
  if (version != 0) return RemoteError(exception::kWrongVersion, fmt::format("version {}; expected 0", version));
  if (auth == kAuthMember) return Preamble::kMember;
  if (auth == kAuthDigest) return Preamble::kDigest;
  if (auth == kAuthKerberos) return Preamble::kKerberos;
  if (auth != kAuthSimple) {
    return RemoteError(exception::kBadAuth,
                       fmt::format("authentication {}; only SIMPLE ({}), KERBEROS ({}) and DIGEST ({}) are offered",
                                   auth, kAuthSimple, kAuthKerberos, kAuthDigest));
  }
  return Preamble::kHBase;
}

Result<ConnectionFacts> ReadConnectionHeader(std::string_view bytes) {
  hbase::pb::ConnectionHeader header;
  if (!ParseMessage(bytes, header).ok()) {
    return RemoteError(exception::kFatalConnection, "cannot parse the connection header");
  }
  if (header.service_name().empty())
    return RemoteError(exception::kEmptyServiceName, "the connection names no service");
  const std::string& codec = header.cell_block_codec_class();
  if (!codec.empty() && codec != kKeyValueCodecClass && codec != kKeyValueCodecWithTagsClass)
    return RemoteError(exception::kUnsupportedCellCodec, codec);
  const auto compression = CompressionOf(header.cell_block_compressor_class());
  if (!compression) return RemoteError(exception::kUnsupportedCompressionCodec, header.cell_block_compressor_class());
  ConnectionFacts facts;
  facts.codec_has_tags = codec == kKeyValueCodecWithTagsClass;
  facts.compression = *compression;
  facts.user = header.user_info().effective_user();
  facts.real_user = header.user_info().real_user();
  facts.service = header.service_name();
  facts.has_codec = !codec.empty();
  facts.has_version_info = header.has_version_info();
  facts.version = header.version_info().version();
  for (const auto& attribute : header.attribute()) {
    if (attribute.name() == kClusterKeyAttribute) facts.cluster_key = attribute.value();
  }
  return facts;
}

std::string ConnectionExceptionFrame(const Error& error) {
  hbase::pb::ResponseHeader header;
  header.set_call_id(kConnectionCallId);
  auto& exception = *header.mutable_exception();
  FillException(error, exception);
  // Without a class prefix: the text itself must start with "Expected HEADER=".
  if (IsClass(error, exception::kFatalConnection)) exception.set_stack_trace(error.message());
  return EncodeResponse(header, nullptr, {});
}

std::string ClusterIdFrame(const std::string& cluster_id) {
  hbase::pb::ResponseHeader header;
  header.set_call_id(kConnectionCallId);
  hbase::pb::GetConnectionRegistryResponse response;
  response.set_cluster_id(cluster_id);
  return EncodeResponse(header, &response, {});
}

std::string PrincipalFrame(const std::string& principal) {
  hbase::pb::ResponseHeader header;
  header.set_call_id(kConnectionCallId);
  hbase::pb::SecurityPreamableResponse response;
  response.set_server_principal(principal);
  return EncodeResponse(header, &response, {});
}

std::string MemberPreamble() {
  std::string preamble(kMagic);
  preamble += '\0';
  preamble += kAuthMember;
  return preamble;
}

std::string ConnectionHeaderUnit(const std::string& user, const std::string& service, bool cell_blocks,
                                 const std::string& cluster_key) {
  hbase::pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user(user);
  header.set_service_name(service);
  if (cell_blocks) header.set_cell_block_codec_class(std::string(kKeyValueCodecClass));
  if (!cluster_key.empty()) {
    auto& attribute = *header.add_attribute();
    attribute.set_name(std::string(kClusterKeyAttribute));
    attribute.set_value(cluster_key);
  }
  const std::string body = header.SerializeAsString();
  std::string unit;
  AppendBig32(static_cast<std::uint32_t>(body.size()), unit);
  return unit + body;
}

std::string ClientHello(const std::string& user, const std::string& service, bool cell_blocks,
                        const std::string& cluster_key) {
  std::string hello(kMagic);
  hello += '\0';
  hello += kAuthSimple;
  return hello + ConnectionHeaderUnit(user, service, cell_blocks, cluster_key);
}

}  // namespace ratchet::rpc
