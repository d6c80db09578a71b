#include "regionserver/region/mutation_planner.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/model/cell_tags.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {
namespace {

// `order` is that of the expected against the stored value.
bool Matches(CompareOp op, int order) {
  switch (op) {
    case CompareOp::kLess: return order < 0;
    case CompareOp::kLessOrEqual: return order <= 0;
    case CompareOp::kEqual: return order == 0;
    case CompareOp::kNotEqual: return order != 0;
    case CompareOp::kGreaterOrEqual: return order >= 0;
    case CompareOp::kGreater: return order > 0;
    case CompareOp::kNever: return false;
  }
  return false;
}

bool ReadsData(const Mutation& mutation) {
  if (mutation.kind == MutationKind::kAppend || mutation.kind == MutationKind::kIncrement) return true;
  if (mutation.kind == MutationKind::kPut) return false;
  return std::any_of(mutation.cells.begin(), mutation.cells.end(), [](const Cell& cell) {
    return cell.type == CellType::kDelete && cell.timestamp == kLatestTimestamp;
  });
}

// If one increment or append changes a column several times, the last change wins, as in HBase. The result is in the
// order of columns, because clients look up its columns by binary search.
std::vector<Cell> LastOfEachColumn(const std::vector<Cell>& changes) {
  std::map<std::pair<std::string_view, std::string_view>, const Cell*> columns;
  for (const Cell& change : changes) columns[{change.family, change.qualifier}] = &change;
  std::vector<Cell> last;
  last.reserve(columns.size());
  for (const auto& column : columns) last.push_back(*column.second);
  return last;
}

Status CheckCells(const OpeningRules& opening, const Mutation& mutation) {
  if (mutation.cells.empty() && mutation.kind != MutationKind::kDelete)
    return DoNotRetry(Code::kInvalidArgument, "a mutation without cells");
  ColumnSelection families;
  for (const Cell& cell : mutation.cells) {
    families[cell.family];
    if (cell.row != mutation.row)
      return DoNotRetry(Code::kInvalidArgument, "a cell of the mutation belongs to another row");
    const bool marker = IsDelete(cell.type);
    if (mutation.kind == MutationKind::kDelete ? !marker : marker && mutation.kind != MutationKind::kPut)
      return DoNotRetry(Code::kInvalidArgument, "the type of a cell does not fit its mutation");
    if (cell.timestamp < 0) return DoNotRetry(Code::kInvalidArgument, "a timestamp is negative");
    RATCHET_TRY(CheckCell(cell));
    RATCHET_TRY(opening.CheckCellSize(cell));
  }
  return opening.CheckColumns(families);
}

Status CheckCondition(const OpeningRules& opening, const Condition& condition) {
  if (condition.filter != nullptr && condition.family.empty()) return Ok();
  return opening.CheckColumns({{condition.family, {}}});
}

// If the first row is outside, the client's view of the regions is stale. If a later row is outside, the rows are not
// in one region, and a retry would not help.
Status CheckSeveralRows(const OpeningRules& opening, const AtomicMutation& unit) {
  if (unit.condition)
    return DoNotRetry(Code::kInvalidArgument, "the mutation refers to a condition that the request does not have");
  RATCHET_TRY(opening.CheckRow(unit.mutations.front().row));
  const auto also_here = [&opening](const std::string& row) -> Status {
    const Status inside = opening.CheckRow(row);
    return inside.ok() ? inside : Status(DoNotRetry(inside.error().code(), inside.error().message()));
  };
  for (const Mutation& mutation : unit.mutations) RATCHET_TRY(also_here(mutation.row));
  for (const Condition& condition : unit.conditions) {
    RATCHET_TRY(also_here(condition.row));
    RATCHET_TRY(CheckCondition(opening, condition));
  }
  return Ok();
}

}  // namespace

Status CheckMutation(const OpeningRules& opening, const AtomicMutation& unit) {
  if (unit.mutations.empty()) return DoNotRetry(Code::kInvalidArgument, "no mutation");
  for (const Mutation& mutation : unit.mutations) {
    if (mutation.row != unit.mutations.front().row && !unit.several_rows)
      return DoNotRetry(Code::kInvalidArgument, "an atomic mutation of more than one row");
    RATCHET_TRY(CheckCells(opening, mutation));
  }
  if (unit.several_rows) return CheckSeveralRows(opening, unit);
  if (!unit.conditions.empty())
    return DoNotRetry(Code::kInvalidArgument, "a mutation of one row can have only one condition");
  if (unit.condition) {
    if (unit.condition->row != unit.mutations.front().row)
      return DoNotRetry(Code::kInvalidArgument, "the condition is about another row than the mutation");
    RATCHET_TRY(CheckCondition(opening, *unit.condition));
  }
  return opening.CheckRow(unit.mutations.front().row);
}

Result<bool> Holds(const Condition& condition, std::optional<std::string_view> stored) {
  if (condition.comparator->ExpectsNothing()) {
    if (!stored) return condition.op != CompareOp::kNotEqual;
    return stored->empty() == (condition.op != CompareOp::kNotEqual);
  }
  if (!stored) return false;
  RATCHET_ASSIGN(const int order, condition.comparator->Compare(*stored));
  return Matches(condition.op, order);
}

bool NeedsRead(const AtomicMutation& unit) {
  return unit.condition || !unit.conditions.empty() || unit.guard ||
         std::any_of(unit.mutations.begin(), unit.mutations.end(), ReadsData);
}

std::set<std::string> RowsOf(const AtomicMutation& unit) {
  std::set<std::string> rows;
  for (const Mutation& mutation : unit.mutations) rows.insert(mutation.row);
  for (const Condition& condition : unit.conditions) rows.insert(condition.row);
  return rows;
}

MutationPlanner::MutationPlanner(const OpeningRules& opening, RegionData& data, WritePath& path, RowLocks::Held& locks,
                                 const AtomicMutation& unit)
    : opening_(opening), data_(data), path_(path), locks_(locks), unit_(unit), pending_(opening.order) {}

// Must precede the first view of the data: what is pruned is readable in every later view.
void MutationPlanner::PruneStaged() {
  const std::string* last = nullptr;
  const auto prune = [&](const std::string& row) {
    if (last != nullptr && *last == row) return;
    last = &row;
    if (StagedRow* staged = locks_.Staged(row); staged != nullptr) staged->Prune();
  };
  for (const Mutation& mutation : unit_.mutations) prune(mutation.row);
  for (const Condition& condition : unit_.conditions) prune(condition.row);
}

StagedRow* MutationPlanner::StagedOf(const std::string& row) {
  StagedRow* const staged = locks_.Staged(row);
  if (staged == nullptr || staged->first_sequence() == 0 || RATCHET_MUTANT("region.plan_on_readable")) return nullptr;
  const std::uint64_t first = staged->first_sequence();
  computed_from_ = computed_from_ == 0 ? first : std::min(computed_from_, first);
  return staged;
}

const PendingCells* MutationPlanner::StagedCells(const std::string& row) {
  StagedRow* const staged = StagedOf(row);
  return staged == nullptr ? nullptr : &staged->Cells(row);
}

RowReader& MutationPlanner::Reader() {
  if (!reader_)
    reader_ = std::make_unique<RowReader>(opening_.families(), data_.Acquire(), opening_.order,
                                          opening_.params.settings->max_row_bytes);
  return *reader_;
}

std::int64_t MutationPlanner::Now() {
  if (now_ms_ == 0) now_ms_ = path_.AssignTimestamp(unit_, floor_ms_);
  return now_ms_;
}

Status MutationPlanner::Count(const CellView& cell) {
  plan_.bytes += LoggedSize(cell);
  const std::uint64_t most = opening_.params.settings->max_unit_bytes;
  if (plan_.bytes <= most || RATCHET_MUTANT("region.any_unit_size")) return Ok();
  return DoNotRetry(Code::kInvalidArgument,
                    fmt::format("an atomic mutation makes more than {} bytes (--max-mutation-bytes)", most));
}

Status MutationPlanner::Emit(const Mutation& mutation, Cell cell) {
  RATCHET_TRY(opening_.CheckCellSize(cell));
  RATCHET_TRY(Count(cell));
  std::optional<std::int64_t> ttl_ms;  // values <= 0 are valid: the cell has expired
  if (!IsDelete(cell.type)) {
    ttl_ms = mutation.ttl_ms ? mutation.ttl_ms : TtlIn(cell.tags);
    if (!cell.tags.empty()) cell.tags = WithoutTtl(cell.tags);
  }
  if (!HaveRoom(cell.tags, ttl_ms))
    return DoNotRetry(
        Code::kInvalidArgument,
        fmt::format("the cell's tags take {} bytes, which leaves no room for its time to live; all at most {}",
                    cell.tags.size(), kMaxTagsLength));
  plan_.cells.push_back({std::move(cell), ttl_ms});
  return Ok();
}

Result<MutationPlan> MutationPlanner::Run() {
  plan_.result.results.resize(unit_.mutations.size());
  PruneStaged();
  data_.ForgetOldNonces();
  RATCHET_ASSIGN(const bool answered, AnsweredByNonce());
  if (answered) return std::move(plan_);
  if (unit_.guard) RATCHET_TRY(Guard());
  RATCHET_ASSIGN(const bool holds, ConditionsHold());
  if (!holds) {
    plan_.result.processed = false;
    return std::move(plan_);
  }
  for (std::size_t i = 0; i < unit_.mutations.size(); ++i) RATCHET_TRY(Apply(i));
  for (const Mutation& mutation : unit_.mutations)
    if (mutation.nonce.valid()) plan_.nonces.push_back({mutation.nonce.group, mutation.nonce.value, data_.time.Now()});
  return std::move(plan_);
}

// A retry may come while the first attempt is in the log's queue.
NonceTable::Seen MutationPlanner::LookForNonce(const Mutation& mutation) {
  Nonce nonce = mutation.nonce;
  const StagedRow* const staged = locks_.Staged(mutation.row);
  if (staged != nullptr && staged->HasNonce(nonce.group, nonce.value) &&
      !RATCHET_MUTANT("region.forget_staged_nonces")) {
    static_cast<void>(StagedOf(mutation.row));
    return NonceTable::Seen::kExecuted;
  }
  if (nonce.begun_ms) nonce.begun_ms = data_.time.Of(*nonce.begun_ms);
  return data_.nonces.Look(nonce);
}

// S29 (durable nonces). All nonces of a unit were used together, so the first one is enough.
Result<bool> MutationPlanner::AnsweredByNonce() {
  for (const Mutation& mutation : unit_.mutations) {
    if (!mutation.nonce.valid()) continue;
    switch (LookForNonce(mutation)) {
      case NonceTable::Seen::kNew: continue;
      case NonceTable::Seen::kExecuted: RATCHET_TRY(RereadResults()); return true;
      case NonceTable::Seen::kTooOld:
        return MakeError(Code::kStale,
                         "the request began longer ago than nonces are kept; whether it was executed is unknown",
                         rpc::exception::kDoNotRetryIo);
    }
  }
  return false;
}

// Reads the current columns as the result of a repeated append or increment.
Status MutationPlanner::RereadResults() {
  for (std::size_t i = 0; i < unit_.mutations.size(); ++i) {
    const Mutation& mutation = unit_.mutations[i];
    if (mutation.kind != MutationKind::kAppend && mutation.kind != MutationKind::kIncrement) continue;
    for (const Cell& cell : LastOfEachColumn(mutation.cells)) {
      RATCHET_ASSIGN(const std::vector<Cell> found,
                     ReadColumn(mutation.row, cell.family, cell.qualifier, 1, TimeRange{}));
      for (const Cell& each : found) RATCHET_TRY(Count(each));
      if (mutation.return_result)
        plan_.result.results[i].insert(plan_.result.results[i].end(), found.begin(), found.end());
    }
  }
  return Ok();
}

Status MutationPlanner::Guard() {
  RATCHET_ASSIGN(const std::vector<Cell> row,
                 Reader().Read(unit_.mutations.front().row, ReadSpec{}, opening_.params.clock->WallMillis(),
                               {StagedCells(unit_.mutations.front().row), nullptr}));
  return unit_.guard(row);
}

Result<bool> MutationPlanner::ConditionsHold() {
  if (unit_.condition) return ConditionHolds(*unit_.condition);
  for (const Condition& condition : unit_.conditions) {
    RATCHET_ASSIGN(const bool holds, ConditionHolds(condition));
    if (!holds || RATCHET_MUTANT("region.first_condition")) return holds;
  }
  return true;
}

Result<bool> MutationPlanner::ConditionHolds(const Condition& condition) {
  if (condition.filter != nullptr) return FilterHolds(condition);
  RATCHET_ASSIGN(const std::vector<Cell> found,
                 ReadColumn(condition.row, condition.family, condition.qualifier, 1, condition.time_range));
  if (found.empty()) return Holds(condition, std::nullopt);
  // a conditional put is never older than the cell that it compared
  floor_ms_ = std::max(floor_ms_, found.front().timestamp);
  return Holds(condition, found.front().value);
}

Result<bool> MutationPlanner::FilterHolds(const Condition& condition) {
  ReadSpec spec;
  if (!condition.family.empty()) {
    spec.columns[condition.family].push_back(condition.qualifier);
  }
  spec.time_range = condition.time_range;
  spec.filter = condition.filter;
  RATCHET_ASSIGN(const std::vector<Cell> found, Reader().Read(condition.row, spec, opening_.params.clock->WallMillis(),
                                                              {StagedCells(condition.row), nullptr}));
  if (found.empty()) return false;
  floor_ms_ = std::max(floor_ms_, found.front().timestamp);
  return true;
}

Result<std::vector<Cell>> MutationPlanner::ReadColumn(const std::string& row, const std::string& family,
                                                      const std::string& qualifier, std::uint32_t versions,
                                                      const TimeRange& range) {
  ReadSpec spec;
  spec.columns[family] = {qualifier};
  spec.max_versions = versions;
  spec.time_range = range;
  pending_.AddNew(plan_.cells);
  return Reader().Read(row, spec, opening_.params.clock->WallMillis(), {StagedCells(row), &pending_});
}

Status MutationPlanner::Apply(std::size_t index) {
  const Mutation& mutation = unit_.mutations[index];
  switch (mutation.kind) {
    case MutationKind::kPut: return ApplyPut(mutation);
    case MutationKind::kDelete: return ApplyDelete(mutation);
    case MutationKind::kAppend:
    case MutationKind::kIncrement: return ApplyReadModifyWrite(mutation, &plan_.result.results[index]);
  }
  return Ok();
}

Status MutationPlanner::ApplyPut(const Mutation& mutation) {
  for (Cell cell : mutation.cells) {
    if (cell.timestamp == kLatestTimestamp) cell.timestamp = Now();
    if (IsDelete(cell.type)) cell.value.clear();
    RATCHET_TRY(Emit(mutation, std::move(cell)));
  }
  return Ok();
}

Status MutationPlanner::ApplyDelete(const Mutation& mutation) {
  if (mutation.cells.empty()) {
    const std::int64_t timestamp = mutation.timestamp == kLatestTimestamp ? Now() : mutation.timestamp;
    for (const auto& [family, rules] : opening_.families())
      RATCHET_TRY(Emit(mutation, Cell{mutation.row, family, "", timestamp, CellType::kDeleteFamily, ""}));
    return Ok();
  }
  // If a mutation deletes the newest version of a column n times, the n-th delete removes the n-th newest version.
  std::map<std::pair<std::string, std::string>, std::uint32_t> newest;
  for (Cell cell : mutation.cells) {
    cell.value.clear();
    // Markers of a whole family are stored in the empty column, whatever column the client names.
    if (cell.type == CellType::kDeleteFamily || cell.type == CellType::kDeleteFamilyVersion) cell.qualifier.clear();
    if (cell.timestamp == kLatestTimestamp && cell.type == CellType::kDelete) {
      const std::uint32_t nth = ++newest[{cell.family, cell.qualifier}];
      // Ignores the plan's own markers, because they would make the count skip versions.
      ReadSpec spec;
      spec.columns[cell.family] = {cell.qualifier};
      spec.max_versions = nth;
      RATCHET_ASSIGN(
          const std::vector<Cell> found,
          Reader().Read(mutation.row, spec, opening_.params.clock->WallMillis(), {StagedCells(mutation.row), nullptr}));
      cell.timestamp = found.size() >= nth ? found[nth - 1].timestamp : Now();
    } else if (cell.timestamp == kLatestTimestamp) {
      cell.timestamp = Now();
    }
    RATCHET_TRY(Emit(mutation, std::move(cell)));
  }
  return Ok();
}

Status MutationPlanner::ApplyReadModifyWrite(const Mutation& mutation, std::vector<Cell>* result) {
  for (const Cell& change : LastOfEachColumn(mutation.cells)) {
    RATCHET_ASSIGN(const std::vector<Cell> found,
                   ReadColumn(mutation.row, change.family, change.qualifier, 1, mutation.time_range));
    const Cell* const old = found.empty() ? nullptr : &found.front();
    Cell cell = change;
    RATCHET_ASSIGN(cell.value, NewValue(mutation, change, old));
    // HBase's rule: the request's timestamp is used only if no cell is stored. Otherwise the result gets a timestamp
    // above the replaced version, which remains a version.
    if (old != nullptr) {
      std::int64_t now_ms = Now();
      cell.timestamp = path_.TimestampAfter(old->timestamp, now_ms);
      now_ms_ = now_ms;
    } else if (change.timestamp == kLatestTimestamp) {
      cell.timestamp = Now();
    }
    RATCHET_ASSIGN(cell.tags, NewTags(mutation, change, old));
    if (mutation.return_result) result->push_back(cell);
    RATCHET_TRY(Emit(mutation, std::move(cell)));
  }
  return Ok();
}

// As in HBase: first the change's tags, then those of the replaced cell. The mutation's time to live replaces both of
// theirs.
Result<std::string> MutationPlanner::NewTags(const Mutation& mutation, const Cell& change, const Cell* old) {
  std::string tags = change.tags;
  if (old != nullptr) tags += old->tags;
  if (tags.empty() && !mutation.ttl_ms) return tags;
  const std::optional<std::int64_t> ttl_ms = mutation.ttl_ms ? mutation.ttl_ms : TtlIn(tags);
  tags = WithoutTtl(tags);
  if (ttl_ms) AppendTtlTag(*ttl_ms, tags);
  if (!HaveRoom(tags, std::nullopt))
    return DoNotRetry(Code::kInvalidArgument, fmt::format("the tags that the cell would have take {} bytes; at most {}",
                                                          tags.size(), kMaxTagsLength));
  return tags;
}

Result<std::string> MutationPlanner::NewValue(const Mutation& mutation, const Cell& change, const Cell* old) const {
  if (mutation.kind == MutationKind::kAppend) return (old == nullptr ? std::string() : old->value) + change.value;
  std::int64_t amount = 0;
  std::int64_t value = 0;
  if (!DecodeInt64(change.value, amount))
    return DoNotRetry(Code::kInvalidArgument, fmt::format("an increment of {} bytes, not 8", change.value.size()));
  if (old != nullptr && !DecodeInt64(old->value, value))
    return DoNotRetry(Code::kFailedPrecondition,
                      fmt::format("Field is not a long, it's {} bytes wide", old->value.size()));
  return EncodeInt64(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(amount)));
}

}  // namespace ratchet::regionserver
