#include "master/procedures/table/modify_table.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/rights/rights_steps.h"

namespace ratchet::master {
namespace {

// Bounds the procedure's record, which is written with each step, and the descriptor's file.
constexpr std::size_t kMaxDescriptorBytes = 2u << 20;

std::string BytesOf(const TableDescriptor& descriptor) {
  hbase::pb::TableSchema schema;
  ToProto(descriptor, schema);
  return schema.SerializeAsString();
}

Result<TableDescriptor> FromBytes(const std::string& bytes) {
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromString(bytes)) return IllegalRequest("unreadable table schema");
  return FromProto(schema);
}

}  // namespace

ProcedurePtr ModifyTable::Make(const SchemaChange& change, bool reopen) {
  pb::ModifyTableData data;
  data.set_ns(change.asked.name.ns);
  data.set_qualifier(change.asked.name.qualifier);
  data.set_change(static_cast<pb::ModifyTableData::Change>(change.kind));
  data.set_asked(BytesOf(change.asked));
  if (!reopen) data.set_keep_open(true);
  return std::make_unique<ModifyTable>(std::move(data));
}

Result<SchemaChange> ModifyTable::Change() const {
  SchemaChange change;
  change.kind = static_cast<ChangeKind>(data_.change());
  RATCHET_ASSIGN(change.asked, FromBytes(data_.asked()));
  return change;
}

procedure::LockSet ModifyTable::Locks() const { return {procedure::Exclusive(TableKey(Table()))}; }

Status ModifyTable::CheckInitial() const {
  if (data_.ByteSizeLong() <= kMaxDescriptorBytes) return Ok();
  return IllegalRequest(
      fmt::format("the descriptor has {} bytes: at most {}", data_.ByteSizeLong(), kMaxDescriptorBytes));
}

procedure::Description ModifyTable::Describe() const {
  const auto change = Change();
  procedure::Description about;
  about.Add("table", Table().ToString()).Note(change.ok() ? DescribeChange(*change) : "?");
  if (data_.has_number()) about.Add("descriptor", data_.number());
  return about;
}

Claims ModifyTable::Uses() const {
  Claims claims;
  claims.altered = Table();
  return claims;
}

void ModifyTable::OnRecovered(const procedure::EnvRef& env) {
  if (data_.has_number()) env.As<MasterEnv>().tables.RestoreDescriptor(Table(), data_.number());
}

StepOutcome ModifyTable::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Table().IsMeta()) return Fail{MetaStays("Cannot alter hbase:meta")};
  RATCHET_STEP(ReadNewestSchema(ctx, Table()));
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  const auto change = Change();
  if (!change.ok()) return Fail{IllegalRequest(change.error().message())};
  auto changed = ChangedDescriptor(*table->schema, *change, env.options.table_sanity_checks);
  if (!changed.ok()) return Fail{changed.error()};
  SetFamilyIds(*table->schema, ctx.pid(), *changed);
  data_.set_schema(BytesOf(*changed));
  data_.set_directory(table->directory);
  // Chosen in the step that reads the current descriptor, whose number it exceeds: another master may not be able to
  // read that descriptor.
  data_.set_number(RATCHET_MUTANT("master.descriptor_by_submission") ? ctx.pid().value()
                                                                     : env.tables.DrawDescriptor(Table()));
  return GoTo<&ModifyTable::PreOperation>();
}

StepOutcome ModifyTable::PreOperation(StepContext& /*ctx*/) { return GoTo<&ModifyTable::UpdateDescriptor>(); }

StepOutcome ModifyTable::UpdateDescriptor(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto schema = FromBytes(data_.schema());
  if (!schema.ok()) return Fail{schema.error()};
  const auto write = [directory = data_.directory(), number = data_.number(), pid = ctx.pid(),
                      schema = *schema](ClusterFiles& files) -> Status {
    const Status written = files.WriteDescriptor(directory, number, pid, schema);
    return written.ok() ? written : Status(written.error().Annotate("writing the table's descriptor"));
  };
  const std::string what = fmt::format("writing descriptor {} in data/{}", data_.number(), data_.directory());
  RATCHET_STEP(ActUntilDone(ctx, what, write));
  const bool takes_rights = TakeRightsOfDroppedFamilies(ctx, *schema);
  env.tables.SetSchema(Table(), data_.directory(), std::make_shared<const TableDescriptor>(std::move(*schema)),
                       data_.number());
  RATCHET_LOG(kInfo, "pid={} table {} now has descriptor {}", ctx.pid(), Table().ToString(), data_.number());
  return takes_rights ? GoTo<&ModifyTable::TakeRights>() : GoTo<&ModifyTable::PostOperation>();
}

// S136 (a name made again has no old right): the table may get the family again only when no server knows its rights.
StepOutcome ModifyTable::TakeRights(StepContext& ctx) {
  ShowRightsWithin(ctx, rights::Scope::Table(Table()));
  std::vector<ProcedurePtr> orders = TellRights(ctx);
  if (orders.empty()) return GoTo<&ModifyTable::PostOperation>();
  return SpawnThen<&ModifyTable::PostOperation>(std::move(orders));
}

StepOutcome ModifyTable::PostOperation(StepContext& /*ctx*/) {
  if (data_.keep_open()) return Done{};
  return GoTo<&ModifyTable::ReopenAllRegions>();
}

StepOutcome ModifyTable::ReopenAllRegions(StepContext& ctx) {
  if (data_.reopened()) return Done{};
  RATCHET_STEP(RequireMetaLoaded(ctx));
  data_.set_reopened(true);
  std::vector<ProcedurePtr> reopening;
  reopening.push_back(ReopenTableRegions::Make(Table(), data_.directory(), data_.number()));
  return SpawnThen<&ModifyTable::ReopenAllRegions>(std::move(reopening));
}

}  // namespace ratchet::master
