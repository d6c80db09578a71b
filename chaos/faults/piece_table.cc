#include "chaos/faults/piece_table.h"

#include <fmt/core.h>

#include "common/client/table.h"

namespace ratchet::chaos {

std::optional<std::string> WhyNoLocalRoot(Target& target) {
  if (target.kind() != "local" || target.processes() == nullptr || !target.Root()) {
    return "the root of this target is not this run's own";
  }
  if (target.processes()->ceph() != nullptr) return "the root is in a shared storage";
  return std::nullopt;
}

Result<std::unique_ptr<PieceTable>> PieceTable::Make(Target& target, std::uint64_t number) {
  client::ConnectionOptions options;
  options.zookeeper = target.zookeeper();
  options.user = "chaos";
  options.operation_timeout = Millis(20'000);
  options.rpc_timeout = Millis(2'000);
  RATCHET_ASSIGN(auto connection, client::Connection::Open(options));
  static int made_before = 0;  // a fault that is tried again draws the same number
  TableDescriptor descriptor;
  descriptor.name = TableName("default", fmt::format("piece_{:x}_{}", number & 0xffffffU, ++made_before));
  descriptor.families.push_back(DefaultFamily("f"));
  auto made = std::unique_ptr<PieceTable>(new PieceTable(std::move(connection), descriptor.name));
  client::Admin admin(*made->connection_);
  RATCHET_TRY(admin.WaitOk(admin.CreateTable(descriptor, {})));
  return made;
}

Status PieceTable::WriteRows(std::size_t count) {
  client::Table table(*connection_, table_);
  for (std::size_t i = 0; i < count; ++i) {
    RATCHET_TRY(table.Mutate(client::Mutation::Put(fmt::format("r{:05}", written_)).Set("f", "q", "v")));
    ++written_;
  }
  return Ok();
}

Status PieceTable::Flush() {
  client::Admin admin(*connection_);
  return admin.WaitOk(admin.FlushTable(table_));
}

Result<std::size_t> PieceTable::CountRows(Millis patience) {
  client::Table table(*connection_, table_, patience);
  auto scanner = table.Scan({});
  for (std::size_t rows = 0;; ++rows) {
    const auto row = scanner.Next();
    if (!row.ok()) return row.error();
    if (!*row) return rows;
    if ((*row)->Value("f", "q") == "v") continue;
    wrong_ = fmt::format("row {} has a value that was never written", (*row)->key);
    return Error(Code::kInternal, wrong_);
  }
}

Result<client::RegionLocation> PieceTable::Region() {
  client::Admin admin(*connection_);
  RATCHET_ASSIGN(auto regions, admin.Regions(table_));
  if (regions.size() == 1) return std::move(regions.front());
  return Error(Code::kUnavailable, fmt::format("table {} has {} regions", table_.ToString(), regions.size()));
}

Result<std::string> PieceTable::Server(Target& target) {
  RATCHET_ASSIGN(const auto region, Region());
  std::string name = target.NameOf(region.server);
  if (!name.empty() && target.Running(name)) return name;
  return Error(Code::kUnavailable, fmt::format("the region of {} is on no running server", table_.ToString()));
}

Result<std::filesystem::path> PieceTable::Folder(Target& target) {
  const auto root = target.Root();
  if (!root) return Error(Code::kUnsupported, "the root of this target cannot be reached");
  RATCHET_ASSIGN(const auto region, Region());
  // A table's directory has a number behind its name.
  const std::filesystem::path tables = *root / "data" / table_.ns;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(tables, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::filesystem::path folder = entry->path() / region.region.encoded_name();
    std::error_code unknown;
    if (std::filesystem::is_directory(folder, unknown)) return folder;
  }
  return Error(Code::kNotFound, fmt::format("{} has no directory of region {}: {}", tables.string(),
                                            region.region.encoded_name(), failed.message()));
}

void PieceTable::Drop() {
  client::Admin admin(*connection_);
  IgnoreResult(admin.WaitOk(admin.DisableTable(table_)), "only a fault's own table");
  IgnoreResult(admin.WaitOk(admin.DeleteTable(table_)), "only a fault's own table");
}

}  // namespace ratchet::chaos
