#include "master/procedures/table/create_table.h"

#include <fmt/format.h>

#include "common/model/cell.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/key_ranges.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {
namespace {

// Bounds the procedure's record, which is written with each step, and the descriptor's file.
constexpr std::size_t kMaxRequestBytes = 4u << 20;

}  // namespace

ProcedurePtr CreateTable::Make(const TableDescriptor& descriptor, const std::vector<std::string>& split_keys,
                               const std::string& owner) {
  pb::TableData data = NewTableData(descriptor.name);
  hbase::pb::TableSchema schema;
  ToProto(descriptor, schema);
  data.set_schema(schema.SerializeAsString());
  for (const std::string& key : split_keys) data.add_split_keys(key);
  if (!owner.empty()) data.set_owner(owner);
  return std::make_unique<CreateTable>(std::move(data));
}

Status CreateTable::CheckInitial() const {
  const auto descriptor = DescriptorIn(data_);
  if (!descriptor.ok()) return descriptor.error();
  if (Status sound = descriptor->Check(); !sound.ok()) return IllegalRequest(sound.error().message());
  if (data_.ByteSizeLong() > kMaxRequestBytes) {
    return IllegalRequest(fmt::format("descriptor and split keys have {} bytes together: at most {}",
                                      data_.ByteSizeLong(), kMaxRequestBytes));
  }
  std::string_view last;
  for (const std::string& key : data_.split_keys()) {
    if (!FitsMeta(descriptor->name, key)) {
      return IllegalRequest(
          fmt::format("a split key of {} bytes is too long: with the table's name it makes a region's name, "
                      "which is a row of hbase:meta and has at most {} bytes",
                      key.size(), kMaxRowLength));
    }
    if (key.empty()) return IllegalRequest("an empty split key");
    if (key == last) return IllegalRequest(fmt::format("split keys must be unique: '{}' is given twice", KeyText(key)));
    if (key < last) {
      return IllegalRequest(fmt::format("split keys must rise: '{}' follows '{}'", KeyText(key), KeyText(last)));
    }
    last = key;
  }
  return Ok();
}

procedure::Description CreateTable::Describe() const {
  return procedure::Description().Add("table", TableOf(data_).ToString()).Add("regions", data_.split_keys_size() + 1);
}

NamespaceDirectory::Claim CreateTable::Claimed() const {
  return {TableOf(data_), /*makes_table=*/true, static_cast<std::size_t>(data_.split_keys_size()) + 1};
}

StepOutcome CreateTable::PreOperation(StepContext& ctx) {
  if (EnvOf(ctx).tables.Exists(TableOf(data_))) return Fail{TableExists(TableOf(data_))};
  RATCHET_STEP(RequireNoOtherCreation(ctx, data_));
  if (!EnvOf(ctx).namespaces.Exists(TableOf(data_).ns)) return Fail{NamespaceNotFound(TableOf(data_).ns)};
  if (Status owner = CheckOwner(EnvOf(ctx), data_); !owner.ok()) return Fail{IllegalRequest(owner.error().message())};
  if (Status room = EnvOf(ctx).namespaces.Take(ctx.pid(), Claimed()); !room.ok()) return Fail{room.error()};
  data_.set_directory(TableDirectoryName(TableOf(data_), ctx.pid()));
  RecordLockGrant(EnvOf(ctx), data_, ctx.pid(), std::nullopt);
  return GoTo<&CreateTable::MakeLayout>();
}

void CreateTable::OnRecovered(const procedure::EnvRef& env) {
  NewTableProcedure::OnRecovered(env);
  if (!data_.directory().empty()) env.As<MasterEnv>().namespaces.Restore(pid(), Claimed());
}

}  // namespace ratchet::master
