// `ratchet-wal sql`: the store as tables.
#include <array>
#include <cmath>
#include <functional>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/ops/sql/sql_database.h"
#include "common/ops/sql/sql_text.h"
#include "procedure/api/record.pb.h"
#include "procedure/store/tool/wal_tool.h"

namespace ratchet::procedure::tool {
namespace {

using sql::SqlRow;
using sql::SqlSink;
using sql::SqlValue;

constexpr auto kInteger = sql::SqlType::kInteger;
constexpr auto kText = sql::SqlType::kText;
constexpr std::size_t kSample = 50;  // number of rows that set the widths of a table

std::vector<sql::SqlTable> Tables() {
  return {
      {"procedures",
       "procedures with live records",
       {{"pid", kInteger, ""},
        {"parent", kInteger, "pid of the parent; NULL: none"},
        {"type", kText, ""},
        {"state", kText, "RUNNABLE, WAITING, SUCCESS, ..."},
        {"step", kInteger, "number of the step that runs next (ratchet-master --list-steps)"},
        {"owner", kText, "submitting user"},
        {"submitted_ms", kInteger, "ms since 1970"},
        {"updated_ms", kInteger, "ms since 1970"},
        {"version", kInteger, "rises by one with each record"},
        {"bytes", kInteger, "size of the record"},
        {"parked", kText, "reason"},
        {"bypassed", kInteger, "0 or 1"},
        {"error", kText, "error of a failed procedure"},
        {"peer", kText, "of a root: address of the client that asked for it"},
        {"method", kText, "of a root: the method by which it was asked for"}}},
      {"steps",
       "steps that these procedures have run",
       {{"pid", kInteger, ""},
        {"number", kInteger, "1 for the first step that is kept"},
        {"step", kInteger, "number of the step"},
        {"outcome", kText, "next, spawn, await, done, fail, ..."},
        {"epoch", kInteger, "epoch of the master that committed it"},
        {"worker", kInteger, "thread of that master"},
        {"began_ms", kInteger, "ms since 1970"},
        {"took_us", kInteger, "duration of the last run, in microseconds"},
        {"attempts", kInteger, "runs"},
        {"error", kText, ""}}},
      {"locks",
       "locks that these procedures hold",
       {{"pid", kInteger, ""}, {"kind", kInteger, ""}, {"name", kText, ""}, {"exclusive", kInteger, "0 or 1"}}},
      {"system_records",
       "records of the framework itself, such as pauses",
       {{"key", kText, ""}, {"bytes", kInteger, "size of the value"}}},
      {"segments",
       "the files of the store",
       {{"segment", kText, ""},
        {"role", kText, "open, closed, or does not count"},
        {"bytes", kInteger, "below the length that counts"}}},
      {"damage", "damaged places in the files", {{"file", kText, ""}, {"offset", kInteger, ""}, {"reason", kText, ""}}},
  };
}

SqlValue Whole(std::uint64_t number) { return static_cast<std::int64_t>(number); }
SqlValue TextOf(const std::string& text) { return text.empty() ? SqlValue() : SqlValue(text); }

// Calls `each` for every live record; one that cannot be decoded is passed without fields.
void ForEachRecord(const StoreContents& contents,
                   const std::function<void(const ProcedureUpsert&, const pb::ProcedureRecord&)>& each) {
  pb::ProcedureRecord record;
  for (const LoadedRecord& loaded : contents.records) {
    if (!loaded.record.pid.valid()) continue;
    const std::string& bytes = loaded.record.bytes;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !record.has_type()) record.Clear();
    each(loaded.record, record);
  }
}

void Procedures(const StoreContents& contents, const SqlSink& sink) {
  ForEachRecord(contents, [&](const ProcedureUpsert& stored, const pb::ProcedureRecord& record) {
    sink({Whole(stored.pid.value()), record.has_parent() ? Whole(record.parent()) : SqlValue(), TextOf(record.type()),
          std::string(StateName(record.state())), Whole(record.step()), TextOf(record.owner()), record.submitted_ms(),
          record.updated_ms(), Whole(stored.version), Whole(stored.bytes.size()), TextOf(record.parked()),
          Whole(record.bypassed() ? 1 : 0), TextOf(record.error().message()), TextOf(record.peer()),
          TextOf(record.method())});
  });
}

void Steps(const StoreContents& contents, const SqlSink& sink) {
  ForEachRecord(contents, [&](const ProcedureUpsert& stored, const pb::ProcedureRecord& record) {
    std::int64_t number = 0;
    for (const auto& step : record.history()) {
      sink({Whole(stored.pid.value()), ++number, Whole(step.step()), std::string(OutcomeText(step.outcome())),
            Whole(step.epoch()), Whole(step.worker()), step.begin_ms(), Whole(step.duration_us()),
            Whole(step.attempts() == 0 ? 1 : step.attempts()), TextOf(step.error())});
    }
  });
}

void Locks(const StoreContents& contents, const SqlSink& sink) {
  ForEachRecord(contents, [&](const ProcedureUpsert& stored, const pb::ProcedureRecord& record) {
    for (const auto& lock : record.locks())
      sink({Whole(stored.pid.value()), Whole(lock.kind()), lock.name(), Whole(lock.exclusive() ? 1 : 0)});
  });
}

void SystemRecords(const StoreContents& contents, const SqlSink& sink) {
  for (const auto& [key, record] : contents.system) sink({key, Whole(record.value.size())});
}

void Segments(io::Directory& store, const StoreContents& contents, const SqlSink& sink) {
  std::set<std::string> counts;
  for (const ChainEntry& link : contents.chain) {
    const bool open = contents.has_head && link.id == contents.chain.back().id;
    counts.insert(SegmentName(link.id));
    sink({SegmentName(link.id), std::string(open ? "open" : "closed"), Whole(link.length)});
  }
  const auto names = store.List();
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (ParseNumberedName(kSegmentPrefix, name) && !counts.contains(name))
      sink({name, std::string("does not count"), SqlValue()});
  }
}

void Damage(const StoreContents& contents, const SqlSink& sink) {
  for (const StoreDamage& damage : contents.damage) sink({damage.file, Whole(damage.offset), damage.reason});
}

Status Fill(sql::SqlDatabase& database, const std::string& table, io::Directory& store, const StoreContents& contents) {
  return database.Fill(table, [&](const SqlSink& sink) -> Status {
    if (table == "procedures") Procedures(contents, sink);
    if (table == "steps") Steps(contents, sink);
    if (table == "locks") Locks(contents, sink);
    if (table == "system_records") SystemRecords(contents, sink);
    if (table == "segments") Segments(store, contents, sink);
    if (table == "damage") Damage(contents, sink);
    return Ok();
  });
}

void AddValue(JsonWriter& json, const SqlValue& value) {
  const auto* real = std::get_if<double>(&value);
  if (std::holds_alternative<std::monostate>(value)) {
    json.Null();
  } else if (std::holds_alternative<std::string>(value) || (real != nullptr && !std::isfinite(*real))) {
    json.Text(sql::PlainText(value));  // JSON has no infinity
  } else {
    json.Raw(real != nullptr ? sql::RealText(*real) : sql::PlainText(value));
  }
}

// Prints rows as they come; the first ones of a table set its widths.
class Output {
 public:
  Output(const SqlOptions& options, std::ostream& out) : options_(options), out_(out) {}
  void Begin(std::vector<std::string> names) {
    names_ = std::move(names);
    if (options_.json) out_ << "[";
    if (options_.csv && !options_.json) out_ << sql::CsvLine(SqlRow(names_.begin(), names_.end())) << "\n";
  }
  bool Add(SqlRow row) {
    if (options_.json) {
      out_ << (any_ ? ",\n" : "") << JsonObject(row);
    } else if (options_.csv) {
      out_ << sql::CsvLine(row) << "\n";
    } else if (widths_.empty()) {
      first_.push_back(std::move(row));
      if (first_.size() == kSample) ShowFirst();
    } else {
      Show(row);
    }
    any_ = true;
    return out_.good();
  }
  void End() {
    if (options_.json) {
      out_ << "]\n";
    } else if (!options_.csv && widths_.empty()) {
      ShowFirst();
    }
  }

 private:
  [[nodiscard]] std::string JsonObject(const SqlRow& row) const {
    JsonWriter json;
    json.BeginObject();
    for (std::size_t i = 0; i < row.size(); ++i) {
      json.Key(names_[i]);
      AddValue(json, row[i]);
    }
    return json.EndObject().text();
  }
  void ShowFirst() {
    for (const std::string& name : names_) widths_.push_back(name.size());
    for (const SqlRow& row : first_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], sql::PlainText(row[i]).size());
    }
    Show(SqlRow(names_.begin(), names_.end()));
    for (const SqlRow& row : first_) Show(row);
    first_.clear();
  }
  void Show(const SqlRow& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = sql::PlainText(row[i]);
      line += i + 1 == row.size() ? text : fmt::format("{:<{}}  ", text, widths_[i]);
    }
    out_ << line << "\n";
  }

  const SqlOptions& options_;
  std::ostream& out_;
  std::vector<std::string> names_;
  std::vector<SqlRow> first_;
  std::vector<std::size_t> widths_;
  bool any_ = false;
};

int Fail(std::ostream& err, const Error& error, int code) {
  err << "ratchet-wal: " << error.ToString() << "\n";
  return code;
}

int ShowSchema(const std::string& name, const SqlOptions& options, std::ostream& out, std::ostream& err) {
  std::vector<sql::SqlTable> tables = Tables();
  if (!name.empty()) std::erase_if(tables, [&](const sql::SqlTable& table) { return table.name != name; });
  if (tables.empty()) return Fail(err, Error(Code::kNotFound, "there is no table " + name), kExitUsage);
  Output output(options, out);
  output.Begin({"table", "column", "type", "meaning"});
  for (const auto& line : sql::SchemaRows(tables)) {
    SqlRow row;
    for (const std::string& text : line) row.push_back(TextOf(text));
    if (!output.Add(std::move(row))) break;
  }
  output.End();
  return kExitOk;
}

}  // namespace

std::string_view OutcomeText(std::uint32_t number) {
  static constexpr std::array<std::string_view, 12> kNames = {"?",         "next",   "spawn",       "await",
                                                              "retry",     "yield",  "done",        "fail",
                                                              "exception", "undone", "undo failed", "end failed"};
  return number < kNames.size() ? kNames[number] : kNames[0];
}

int Sql(io::Directory& store, const SqlOptions& options, std::ostream& out, std::ostream& err) {
  constexpr std::string_view kSchema = ".schema";
  if (options.statement == kSchema) return ShowSchema("", options, out, err);
  if (options.statement.starts_with(".schema "))
    return ShowSchema(options.statement.substr(kSchema.size() + 1), options, out, err);
  auto database = sql::SqlDatabase::Open(Tables());
  if (!database.ok()) return Fail(err, database.error(), kExitDisk);
  const auto tables = (*database)->TablesOf(options.statement);
  if (!tables.ok()) return Fail(err, tables.error(), kExitUsage);
  ReadOptions read;
  read.on_damage = OnDamage::kSkip;
  read.order = RecordOrder::kAny;
  const auto contents = ReadStore(store, read);
  if (!contents.ok()) return Fail(err, contents.error(), kExitDisk);
  for (const std::string& table : *tables) {
    if (const Status filled = Fill(**database, table, store, *contents); !filled.ok())
      return Fail(err, filled.error(), kExitDisk);
  }
  Output output(options, out);
  const Status done = (*database)->Query(
      options.statement, [&](std::vector<std::string> names) { output.Begin(std::move(names)); },
      [&](SqlRow row) { return output.Add(std::move(row)); });
  if (!done.ok()) return Fail(err, done.error(), kExitUsage);
  output.End();
  if (!contents->damage.empty()) err << "ratchet-wal: the store is damaged: select * from damage\n";
  return contents->damage.empty() ? kExitOk : kExitDamage;
}

}  // namespace ratchet::procedure::tool
