#include "master/meta/meta_edit_codec.h"

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kTableDirectory = "dir";

std::string BigEndian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((number >> shift) & 0xff));
  return bytes;
}

Result<std::uint64_t> FromBigEndian(std::string_view bytes) {
  if (bytes.size() != 8) return Error(Code::kCorruption, "a number in hbase:meta does not have 8 bytes");
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string_view TransitionFamily(const MetaEdit& edit) {
  return IsOfTable(edit.kind) ? meta::kTableFamily : meta::kInfoFamily;
}

Cell MakeCell(const std::string& row, std::string_view family, std::string_view qualifier, std::string value) {
  Cell cell;
  cell.row = row;
  cell.family = family;
  cell.qualifier = qualifier;
  cell.value = std::move(value);
  return cell;
}

std::vector<Cell> CellsOf(const MetaEdit& edit) {
  const std::string row = RowOf(edit);
  if (IsOfTable(edit.kind)) {
    return {EncodeTableState(edit.table.table, static_cast<TableState>(edit.table.state)),
            MakeCell(row, meta::kTableFamily, kTableDirectory, edit.table.directory),
            MakeCell(row, meta::kTableFamily, meta::kTransition, BigEndian(edit.table.transition))};
  }
  MetaRow out;
  out.region = edit.region.region;
  out.state = static_cast<RegionState>(edit.region.state);
  out.target = edit.region.target;
  out.transition = edit.region.transition;
  // Clients treat an empty server as an error, so the last server stays until a new one replaces it (reference 3.2).
  if (*out.state == RegionState::kOpen) {
    out.server = edit.region.location;
    out.open_sequence = edit.region.open_sequence;
    out.schema_number = edit.region.schema_number;
  }
  if (edit.region.build_number != 0) out.build_number = edit.region.build_number;
  if (edit.region.issued != 0) out.issued = edit.region.issued;
  if (edit.region.served != 0) out.served = edit.region.served;
  if (edit.region.flushed != 0) out.flushed = edit.region.flushed;
  out.daughters = edit.region.daughters;
  out.merged_from = edit.region.merged_from;
  return EncodeMetaRow(out);
}

void AddCells(const std::vector<Cell>& cells, hbase::pb::MutationProto& mutation) {
  hbase::pb::MutationProto::ColumnValue* column = nullptr;
  for (const Cell& cell : cells) {
    if (column == nullptr || column->family() != cell.family) {
      column = mutation.add_column_value();
      column->set_family(cell.family);
    }
    auto* value = column->add_qualifier_value();
    value->set_qualifier(cell.qualifier);
    value->set_value(cell.value);
  }
}

void AddMergeColumns(const MetaEdit& edit, hbase::pb::MutationProto& mutation) {
  auto* column = mutation.add_column_value();
  column->set_family(std::string(meta::kInfoFamily));
  for (std::size_t i = 0; i < edit.region.merged_from.size(); ++i) {
    auto* value = column->add_qualifier_value();
    value->set_qualifier(fmt::format("{}{:04}", meta::kMerge, i));
    value->set_delete_type(hbase::pb::MutationProto::DELETE_MULTIPLE_VERSIONS);
  }
}

// `value` of the column `qualifier` in the row of `edit`; an empty value means that the cell must not exist.
void Expect(const MetaEdit& edit, std::string_view qualifier, hbase::pb::CompareType type, std::string value,
            hbase::pb::Condition& condition) {
  condition.set_row(RowOf(edit));
  condition.set_family(std::string(TransitionFamily(edit)));
  condition.set_qualifier(std::string(qualifier));
  condition.set_compare_type(type);
  hbase::pb::BinaryComparator comparator;
  comparator.mutable_comparable()->set_value(std::move(value));
  condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
  condition.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
}

void FillCondition(const MetaEdit& edit, EditCondition kind, hbase::pb::Condition& condition) {
  if (kind == EditCondition::kAbsent) return Expect(edit, meta::kTransition, hbase::pb::EQUAL, "", condition);
  const std::uint64_t most = RATCHET_MUTANT("meta.any_transition") ? UINT64_MAX : TransitionOf(edit);
  Expect(edit, meta::kTransition, hbase::pb::GREATER_OR_EQUAL, BigEndian(most), condition);  // expected >= stored
}

Result<TableRow> DecodeTableRow(const std::vector<Cell>& cells) {
  TableRow row;
  RATCHET_ASSIGN(row.table, TableName::Parse(cells.front().row));
  bool has_state = false;
  for (const Cell& cell : cells) {
    if (cell.family != meta::kTableFamily) continue;
    if (cell.qualifier == meta::kTableState) {
      RATCHET_ASSIGN(const auto state, DecodeTableState(cell.value));
      row.state = static_cast<TableState>(state);
      has_state = true;
    } else if (cell.qualifier == kTableDirectory) {
      row.directory = cell.value;
    } else if (cell.qualifier == meta::kTransition) {
      RATCHET_ASSIGN(row.transition, FromBigEndian(cell.value));
    }
  }
  if (!has_state) return Error(Code::kNotFound, "no table:state");
  return row;
}

}  // namespace

EditCondition FirstCondition(const MetaEdit& edit) {
  return HasSecondCondition(edit) ? EditCondition::kAbsent : EditCondition::kAtMost;
}

bool HasSecondCondition(const MetaEdit& edit) {
  return edit.kind == MetaEdit::Kind::kCreateRegion || edit.kind == MetaEdit::Kind::kCreateTable;
}

bool IsDelete(const MetaEdit& edit) {
  return edit.kind == MetaEdit::Kind::kDeleteRegion || edit.kind == MetaEdit::Kind::kDeleteTable;
}

std::string RowOf(const MetaEdit& edit) {
  return IsOfTable(edit.kind) ? edit.table.table.ToString() : edit.region.region.name();
}

std::uint64_t TransitionOf(const MetaEdit& edit) {
  return IsOfTable(edit.kind) ? edit.table.transition : edit.region.transition;
}

hbase::pb::MutateRequest EncodeEdit(const MetaEdit& edit, EditCondition condition, Epoch epoch) {
  hbase::pb::MutateRequest request;
  SpecifyRegion(MetaRegionInfo(), *request.mutable_region());
  auto& mutation = *request.mutable_mutation();
  mutation.set_row(RowOf(edit));
  mutation.set_durability(hbase::pb::MutationProto::SYNC_WAL);
  auto* attribute = mutation.add_attribute();
  attribute->set_name(std::string(meta::kEpochAttribute));
  attribute->set_value(BigEndian(epoch.value()));
  if (edit.kind == MetaEdit::Kind::kForgetMerged) {
    mutation.set_mutate_type(hbase::pb::MutationProto::DELETE);
    AddMergeColumns(edit, mutation);
  } else if (IsDelete(edit)) {
    mutation.set_mutate_type(hbase::pb::MutationProto::DELETE);  // without columns: deletes the whole row
  } else {
    mutation.set_mutate_type(hbase::pb::MutationProto::PUT);
    AddCells(CellsOf(edit), mutation);
  }
  FillCondition(edit, condition, *request.mutable_condition());
  return request;
}

hbase::pb::CoprocessorServiceRequest EncodeCommit(const MetaCommit& commit, Epoch epoch) {
  hbase::pb::MutateRowsRequest rows;
  for (const MetaCommit::Expected& expected : commit.expected) {
    const MetaEdit& row = expected.row;
    if (expected.absent) {  // rows of older versions may lack one of the two
      Expect(row, meta::kTransition, hbase::pb::EQUAL, "", *rows.add_condition());
      const auto always_there = IsOfTable(row.kind) ? meta::kTableState : meta::kRegionInfo;
      Expect(row, always_there, hbase::pb::EQUAL, "", *rows.add_condition());
    } else {
      const auto exactly = RATCHET_MUTANT("meta.commit_at_most") ? hbase::pb::GREATER_OR_EQUAL : hbase::pb::EQUAL;
      Expect(row, meta::kTransition, exactly, BigEndian(TransitionOf(row)), *rows.add_condition());
    }
  }
  for (const MetaEdit& edit : commit.edits)
    *rows.add_mutation_request() = std::move(*EncodeEdit(edit, EditCondition::kAbsent, epoch).mutable_mutation());
  hbase::pb::CoprocessorServiceRequest request;
  SpecifyRegion(MetaRegionInfo(), *request.mutable_region());
  request.mutable_call()->set_row(RowOf(commit.edits.front()));
  request.mutable_call()->set_service_name("MultiRowMutationService");
  request.mutable_call()->set_method_name("MutateRows");
  request.mutable_call()->set_request(rows.SerializeAsString());
  return request;
}

Result<bool> CommitProcessed(const hbase::pb::CoprocessorServiceResponse& response) {
  hbase::pb::MutateRowsResponse rows;
  if (rows.ParseFromString(response.value().value()) && rows.has_processed()) return rows.processed();
  return Error(Code::kCorruption, "the answer of hbase:meta's server has no result of the commit");
}

bool ShowsEdit(const MetaEdit& edit, std::optional<std::string_view> stored) {
  return IsDelete(edit) ? !stored.has_value() : stored == BigEndian(TransitionOf(edit));
}

hbase::pb::GetRequest EncodeTransitionGet(const MetaEdit& edit) {
  hbase::pb::GetRequest request;
  SpecifyRegion(MetaRegionInfo(), *request.mutable_region());
  request.mutable_get()->set_row(RowOf(edit));
  auto* column = request.mutable_get()->add_column();
  column->set_family(std::string(TransitionFamily(edit)));
  column->add_qualifier(std::string(meta::kTransition));
  return request;
}

Status AddMetaRow(const std::vector<Cell>& cells, MetaContents* contents) {
  if (cells.empty()) return Ok();
  const std::string& key = cells.front().row;
  if (key.find(',') == std::string::npos) {
    auto table = DecodeTableRow(cells);
    if (table.ok()) {
      contents->tables.push_back(std::move(*table));
    } else if (table.error().code() != Code::kNotFound) {
      return table.error().Annotate(fmt::format("row '{}' of hbase:meta", key));
    }
    return Ok();
  }
  auto decoded = DecodeMetaRow(cells);
  if (!decoded.ok()) {
    if (decoded.error().code() == Code::kNotFound) return Ok();
    return decoded.error().Annotate(fmt::format("row '{}' of hbase:meta", key));
  }
  RegionRow row;
  row.region = std::move(decoded->region);
  if (decoded->state.has_value()) row.state = static_cast<decltype(row.state)>(*decoded->state);
  row.location = std::move(decoded->server);
  row.target = std::move(decoded->target);
  row.open_sequence = decoded->open_sequence.value_or(0);
  row.transition = decoded->transition.value_or(0);
  row.schema_number = decoded->schema_number.value_or(0);
  row.build_number = decoded->build_number.value_or(0);
  row.issued = decoded->issued.value_or(0);
  row.served = decoded->served.value_or(0);
  row.flushed = decoded->flushed.value_or(0);
  row.daughters = std::move(decoded->daughters);
  row.merged_from = std::move(decoded->merged_from);
  contents->regions.push_back(std::move(row));
  return Ok();
}

}  // namespace ratchet::master
