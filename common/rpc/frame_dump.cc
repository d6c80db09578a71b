#include "common/rpc/frame_dump.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/printable.h"
#include "common/model/cell_codec.h"
#include "common/model/message_limits.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_proof.h"

namespace ratchet::rpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;

// Methods whose messages are not called <method>Request and <method>Response.
struct Irregular {
  std::string_view method, request, response;
};
constexpr std::array kIrregular{
    Irregular{"SplitRegion", "SplitTableRegionRequest", "SplitTableRegionResponse"},
    Irregular{"truncateTable", "TruncateTableRequest", "TruncateTableResponse"},
    Irregular{"getProcedureResult", "GetProcedureResultRequest", "GetProcedureResultResponse"},
    Irregular{"getSecurityCapabilities", "SecurityCapabilitiesRequest", "SecurityCapabilitiesResponse"},
    Irregular{"IsMasterInMaintenanceMode", "IsInMaintenanceModeRequest", "IsInMaintenanceModeResponse"},
    Irregular{"RequestLock", "LockRequest", "LockResponse"},
};

// Links the generated files in, so that the pool of generated types contains them.
void LinkMessages() {
  static const std::array kOneOfEach{hbase::pb::GetRegionInfoRequest::descriptor(),
                                     hbase::pb::GetRequest::descriptor(),
                                     hbase::pb::FilterList::descriptor(),
                                     hbase::pb::AssignsRequest::descriptor(),
                                     hbase::pb::CreateTableRequest::descriptor(),
                                     hbase::pb::LockRequest::descriptor(),
                                     hbase::pb::RegionServerReportRequest::descriptor(),
                                     hbase::pb::GetClusterIdRequest::descriptor(),
                                     hbase::pb::SnapshotRequest::descriptor()};
  static_cast<void>(kOneOfEach);
}

std::string TypeOf(const std::string& method, bool request) {
  for (const Irregular& irregular : kIrregular) {
    if (irregular.method == method) return std::string(request ? irregular.request : irregular.response);
  }
  return method + (request ? "Request" : "Response");
}

std::string Shorten(std::string text, std::size_t most) {
  if (text.size() > most) text = text.substr(0, most) + fmt::format(" ... ({} more characters)", text.size() - most);
  return text;
}

std::string Escaped(std::string_view bytes) {
  constexpr std::size_t kMost = 60;
  const std::string out = PrintableText(bytes.substr(0, kMost));
  return bytes.size() > kMost ? out + fmt::format("...({})", bytes.size()) : out;
}

class Dumper {
 public:
  explicit Dumper(const DumpOptions& options) : options_(options) {}

  void ToServer(std::string_view bytes) {
    if (bytes.size() < kPreambleBytes) return Line("preamble cut after {} bytes", bytes.size());
    const auto preamble = ReadPreamble(bytes.substr(0, kPreambleBytes));
    Line("-> preamble {}{}", Escaped(bytes.substr(0, kPreambleBytes)),
         preamble.ok() ? "" : "   INVALID: " + preamble.error().message());
    bytes.remove_prefix(kPreambleBytes);
    if (!preamble.ok() || (*preamble != Preamble::kHBase && *preamble != Preamble::kMember)) return;
    if (*preamble == Preamble::kMember && !ProofToServer(bytes)) return;
    if (bytes.size() < 4 || bytes.size() - 4 < ReadBig32(bytes)) return Line("-> connection header cut");
    const std::string_view header = bytes.substr(4, ReadBig32(bytes));
    Line("-> connection header {}", Text<hbase::pb::ConnectionHeader>(header));
    hbase::pb::ConnectionHeader parsed;
    if (parsed.ParsePartialFromArray(header.data(), static_cast<int>(header.size())))
      compression_ = CompressionOf(parsed.cell_block_compressor_class()).value_or(CellCompression::kNone);
    bytes.remove_prefix(4 + header.size());
    Frames(bytes, [&](std::string_view frame) { Request(frame); });
  }

  void ToClient(std::string_view bytes) {
    if (member_) ProofToClient(bytes);
    Frames(bytes, [&](std::string_view frame) { Answer(frame); });
  }

  std::string Take() { return std::move(out_); }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string Print(const Message& message) const {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    printer.PrintToString(message, &text);
    return "{ " + Shorten(std::move(text), options_.max_message_chars) + "}";
  }

  template <class T>
  std::string Text(std::string_view bytes) const {
    T message;
    if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "UNREADABLE";
    return Print(message);
  }

  std::string TextOf(const std::string& type, std::string_view bytes) const {
    LinkMessages();
    const auto* descriptor = DescriptorPool::generated_pool()->FindMessageTypeByName("hbase.pb." + type);
    if (descriptor == nullptr) return fmt::format("{} (type not known, {} bytes)", type, bytes.size());
    const std::unique_ptr<Message> message(MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
    if (!message->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return type + " UNREADABLE";
    return type + " " + Print(*message) + (message->IsInitialized() ? "" : "   MISSING: " + MissingFields(*message));
  }

  // Cuts the units of the member proof; false if they are not complete.
  bool ProofToServer(std::string_view& bytes) {
    member_ = true;
    for (int unit = 0; unit < kProofUnits; ++unit) {
      if (bytes.size() < 4 || bytes.size() - 4 < ReadBig32(bytes)) {
        Line("-> member proof cut");
        return false;
      }
      const std::size_t size = ReadBig32(bytes);
      const auto hello = ReadMemberHello(bytes.substr(4, size));
      Line("-> member proof, {} bytes{}", size,
           unit == 0 && hello.ok() ? fmt::format(", {} {}", MemberRoleName(hello->role), hello->name.ToString()) : "");
      bytes.remove_prefix(4 + size);
    }
    return true;
  }

  void ProofToClient(std::string_view& bytes) {
    for (int unit = 0; unit < kProofUnits; ++unit) {
      const ServerItem item = ReadServerItem(bytes);
      if (item.kind == ServerItem::Kind::kRefusal) Line("<- member proof REFUSED {} {}", item.error_class, item.text);
      if (item.kind == ServerItem::Kind::kUnit) Line("<- member proof, {} bytes", item.text.size());
      bytes.remove_prefix(item.size);
      if (item.kind != ServerItem::Kind::kUnit) return;
    }
  }

  template <class Each>
  void Frames(std::string_view bytes, Each each) {
    while (!bytes.empty()) {
      if (bytes.size() < 4) return Line("cut in a length");
      const std::uint32_t length = ReadBig32(bytes);
      if (length > INT32_MAX) return Line("NEGATIVE LENGTH {:#x}", length);
      if (bytes.size() - 4 < length) return Line("frame of {} bytes cut after {}", length, bytes.size() - 4);
      each(bytes.substr(4, length));
      bytes.remove_prefix(4 + std::size_t{length});
    }
  }

  void Request(std::string_view frame) {
    std::string_view rest = frame;
    std::string_view bytes;
    hbase::pb::RequestHeader header;
    if (!CutDelimited(rest, bytes) || !header.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Line("-> UNREADABLE request of {} bytes", frame.size());
    }
    methods_[header.call_id()] = header.method_name();
    Line("-> call {}{} {} priority={} timeout={}", header.call_id(), header.has_call_id() ? "" : " (ABSENT)",
         header.method_name(), header.priority(), header.timeout());
    if (!CutDelimited(rest, bytes)) return Line("     NO PARAMETER");
    Line("     {}", TextOf(TypeOf(header.method_name(), true), bytes));
    Cells(rest, header.has_cell_block_meta() ? std::optional(header.cell_block_meta().length()) : std::nullopt);
  }

  void Answer(std::string_view frame) {
    std::string_view rest = frame;
    std::string_view bytes;
    hbase::pb::ResponseHeader header;
    if (!CutDelimited(rest, bytes) || !header.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Line("<- UNREADABLE answer of {} bytes", frame.size());
    }
    const auto method = methods_.find(header.call_id());
    const std::string name = header.call_id() == kConnectionCallId ? "(connection)"
                             : method == methods_.end()            ? "(no such call)"
                                                                   : method->second;
    Line("<- answer {}{} {}", static_cast<std::int32_t>(header.call_id()), header.has_call_id() ? "" : " (ABSENT)",
         name);
    if (header.has_exception()) return Line("     EXCEPTION {}", Print(header.exception()));
    if (!CutDelimited(rest, bytes)) return Line("     NO RESULT: an empty message must be the byte 00");
    Line("     {}", TextOf(TypeOf(name, false), bytes));
    Cells(rest, header.has_cell_block_meta() ? std::optional(header.cell_block_meta().length()) : std::nullopt);
  }

  void Cells(std::string_view block, std::optional<std::uint32_t> announced) {
    if (block.size() != announced.value_or(0)) {
      Line("     CELL BLOCK of {} bytes, announced {}", block.size(), announced.value_or(0));
    }
    const auto cells = Decompress(compression_, block, kMostCells);
    if (!block.empty() && !cells.ok())
      return Line("     cell block of {} bytes: {}", block.size(), cells.error().message());
    CellBlockReader reader(block.empty() ? block : std::string_view(*cells));
    std::size_t count = 0;
    for (; !reader.AtEnd(); ++count) {
      const auto cell = reader.Next();
      if (!cell.ok()) return Line("     cell {}: {}", count, cell.error().message());
      if (count >= options_.max_cells) continue;
      Line("     cell {}/{}:{}/{}/{} = {}", Escaped(cell->row), Escaped(cell->family), Escaped(cell->qualifier),
           cell->timestamp, static_cast<int>(cell->type), Escaped(cell->value));
    }
    if (count > 0) Line("     {} cells, {} bytes", count, block.size());
  }

  static constexpr std::size_t kMostCells = 256u << 20;  // of one block, decompressed

  static constexpr int kProofUnits = 2;  // in each direction

  const DumpOptions options_;
  bool member_ = false;                                   // the connection began with the member proof
  CellCompression compression_ = CellCompression::kNone;  // from the connection's header
  std::string out_;
  std::map<std::uint32_t, std::string> methods_;
};

}  // namespace

std::string DumpFrames(std::string_view to_server, std::string_view to_client, const DumpOptions& options) {
  Dumper dumper(options);
  if (!to_server.empty()) dumper.ToServer(to_server);
  dumper.ToClient(to_client);
  return dumper.Take();
}

}  // namespace ratchet::rpc
