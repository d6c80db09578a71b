#include "tests/unit/regionserver_engine/engine_world.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/crc32c.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"

namespace ratchet::regionserver {
namespace {

AtomicMutation One(Mutation mutation) {
  AtomicMutation unit;
  unit.mutations.push_back(std::move(mutation));
  return unit;
}

Mutation WithCell(MutationKind kind, Cell cell) {
  Mutation mutation;
  mutation.kind = kind;
  mutation.row = cell.row;
  mutation.cells.push_back(std::move(cell));
  return mutation;
}

}  // namespace

AtomicMutation Put(const std::string& row, const std::string& qualifier, const std::string& value,
                   std::int64_t timestamp) {
  return One(WithCell(MutationKind::kPut, Cell{row, "f", qualifier, timestamp, CellType::kPut, value}));
}
AtomicMutation Delete(const std::string& row, const std::string& qualifier, CellType type, std::int64_t timestamp) {
  return One(WithCell(MutationKind::kDelete, Cell{row, "f", qualifier, timestamp, type, ""}));
}
AtomicMutation DeleteRow(const std::string& row, std::int64_t timestamp) {
  Mutation mutation;
  mutation.kind = MutationKind::kDelete;
  mutation.row = row;
  mutation.timestamp = timestamp;
  return One(std::move(mutation));
}
AtomicMutation Increment(const std::string& row, const std::string& qualifier, std::int64_t amount, Nonce nonce) {
  Mutation mutation = WithCell(MutationKind::kIncrement,
                               Cell{row, "f", qualifier, kLatestTimestamp, CellType::kPut, EncodeInt64(amount)});
  mutation.nonce = nonce;
  return One(std::move(mutation));
}
AtomicMutation Append(const std::string& row, const std::string& qualifier, const std::string& more, Nonce nonce) {
  Mutation mutation =
      WithCell(MutationKind::kAppend, Cell{row, "f", qualifier, kLatestTimestamp, CellType::kPut, more});
  mutation.nonce = nonce;
  return One(std::move(mutation));
}

// A process that stops: its threads end, no data is flushed.
Server::~Server() {
  if (region) region->Abandon();
  region.reset();
  if (log) log->Stop();
}

EngineWorld::EngineWorld() {
  info.table = TableName{"default", "t"};
  info.region_id = 7;
  table.name = info.table;
  FamilyDescriptor family = DefaultFamily("f");
  family.attributes["VERSIONS"] = "3";
  table.families = {family, DefaultFamily("g")};
  log_options.prepare_next = false;
  master_ = disk.NewProcess("master");
  io::SetFatalHandler([this](const std::string&) {
    MutexLock lock(mutex_);
    died_ = true;
    changed_.NotifyAll();
  });
}

EngineWorld::~EngineWorld() { io::SetFatalHandler({}); }

bool EngineWorld::died() const {
  MutexLock lock(mutex_);
  return died_;
}

void EngineWorld::ForgetDeath() {
  MutexLock lock(mutex_);
  died_ = false;
}

Status EngineWorld::Format() {
  if (master_->crashed()) master_ = disk.NewProcess("master");
  RATCHET_ASSIGN(auto wals, master_->OpenOrMake("/wals"));
  RATCHET_ASSIGN(auto region, master_->OpenOrMake("/data/" + info.encoded_name()));
  return Ok();
}

Result<std::unique_ptr<Server>> EngineWorld::Start(const std::string& name, io::SimHook hook) {
  auto server = std::make_unique<Server>();
  server->name = name;
  server->process = disk.NewProcess(name);
  if (hook) server->process->SetHook(std::move(hook));
  RATCHET_ASSIGN(auto wals, server->process->Open("/wals"));
  RATCHET_ASSIGN(server->fenced, io::FencedDirectory::Make(*wals, name));
  RATCHET_ASSIGN(server->log, ServerLog::Open(*server->fenced, log_options));
  return server;
}

Result<std::unique_ptr<Server>> EngineWorld::ServeMeta() {
  info = MetaRegionInfo();
  table = MetaTableDescriptor();
  RATCHET_TRY(Format());
  RATCHET_ASSIGN(auto server, Start("a,1,1"));
  RATCHET_TRY(OpenRegion(*server, 1));
  return server;
}

Result<std::shared_ptr<Region>> EngineWorld::OpenRegionIn(Server& server, std::uint64_t open_number,
                                                          std::shared_ptr<io::Directory> dir) {
  OpenParams params;
  params.info = info;
  params.table = table;
  params.open_number = open_number;
  params.past = {opened_before, build_number};
  params.schema_number = schema_number;
  params.directory = std::move(dir);
  params.log = server.log.get();
  params.log_owner = server.name;
  params.clock = &time;
  params.settings = settings;
  params.lost = lost;
  params.unsure = unsure;
  params.damaged = damaged;
  return Region::Open(std::move(params));
}

Status EngineWorld::OpenRegion(Server& server, std::uint64_t open_number) {
  RATCHET_ASSIGN(auto directory, server.process->Open("/data/" + info.encoded_name()));
  RATCHET_ASSIGN(server.region, OpenRegionIn(server, open_number, std::move(directory)));
  return Ok();
}

std::optional<Result<MutationResult>> EngineWorld::Mutate(Region& region, AtomicMutation mutation) {
  auto answer = std::make_shared<std::optional<Result<MutationResult>>>();
  region.Mutate(std::move(mutation), [this, answer](Result<MutationResult> result) {
    MutexLock lock(mutex_);
    *answer = std::move(result);
    changed_.NotifyAll();
  });
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + std::chrono::seconds(20);
  MutexLock lock(mutex_);
  while (!answer->has_value() && !died_ && clock.Now() < deadline) changed_.WaitFor(mutex_, Millis(1000));
  return *answer;
}

std::vector<Result<MutationResult>> EngineWorld::MutateBatch(Region& region, std::vector<AtomicMutation> mutations) {
  auto answers = std::make_shared<std::vector<Result<MutationResult>>>();
  region.MutateBatch(std::move(mutations), [this, answers](std::vector<Result<MutationResult>> results) {
    MutexLock lock(mutex_);
    *answers = std::move(results);
    changed_.NotifyAll();
  });
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + std::chrono::seconds(20);
  MutexLock lock(mutex_);
  while (answers->empty() && !died_ && clock.Now() < deadline) changed_.WaitFor(mutex_, Millis(1000));
  return *answers;
}

Result<std::string> EngineWorld::Read(Region& region, const std::string& row, const std::string& qualifier) {
  GetSpec get;
  get.row = row;
  get.columns["f"] = {qualifier};
  RATCHET_ASSIGN(const std::vector<Cell> cells, region.Get(get));
  RATCHET_TRY(region.CheckServing());
  return cells.empty() ? std::string() : cells.front().value;
}

Result<std::vector<Cell>> EngineWorld::ScanAll(Region& region, ScanSpec spec, std::uint32_t rows_a_chunk) {
  RATCHET_ASSIGN(const std::unique_ptr<Scanner> scanner, region.Scan(std::move(spec)));
  std::vector<Cell> cells;
  ScanLimits limits;
  limits.max_results = rows_a_chunk;
  for (bool more = true; more;) {
    RATCHET_ASSIGN(const ScanChunk chunk, scanner->Next(limits));
    RATCHET_TRY(region.CheckServing());
    for (const ScanResultRow& row : chunk.rows) cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    more = chunk.more_in_region;
  }
  return cells;
}

Result<std::vector<EngineWorld::Seal>> EngineWorld::FenceAndSeal(const std::string& server) {
  if (master_->crashed()) master_ = disk.NewProcess("master");
  RATCHET_ASSIGN(auto wals, master_->Open("/wals"));
  RATCHET_ASSIGN(auto directory, io::FencedDirectory::Fence(*wals, server));
  RATCHET_ASSIGN(const std::vector<std::string> names, directory->List());
  std::vector<Seal> seals;
  for (const std::string& name : names) {
    const auto log = io::ParseLogFileName(name);
    if (!log || io::IsCovered(names, *log)) continue;
    RATCHET_TRY(directory->SyncFile(name));
    RATCHET_ASSIGN(const std::string bytes, directory->ReadAll(name));
    io::RecordReader::Options options;
    options.expected = {kServerLogKind, io::LogFileId(server + "/" + name)};
    io::RecordReader reader(bytes, options);
    io::Record record;
    while (reader.Next(&record)) continue;
    if (reader.tail().end == io::LogEnd::kDamage) return Error(Code::kCorruption, name + " is damaged");
    seals.push_back({name, reader.tail().offset, Crc32c(std::string_view(bytes).substr(0, reader.tail().offset)),
                     reader.tail().last_sequence});
  }
  return seals;
}

Result<SplitReport> EngineWorld::Split(io::Disk& splitter, const std::string& server, const Seal& seal,
                                       std::uint64_t attempt) {
  RATCHET_ASSIGN(auto directory, splitter.Open("/wals/" + server + io::kSplittingSuffix));
  SplitRequest request;
  request.server = server;
  request.file = seal.file;
  request.sealed_length = seal.length;
  request.sealed_crc32c = seal.crc;
  request.sealed_last_sequence = seal.last_sequence;
  request.attempt_token = attempt;
  request.open_region = [&splitter](const std::string& region) { return splitter.Open("/data/" + region); };
  request.keep_edits = [](const std::string&, std::uint64_t) {  // the test knows that the region is gone
    return std::unique_ptr<io::Directory>();
  };
  return SplitLog(*directory, request);
}

Status EngineWorld::Recover(const std::string& server) {
  RATCHET_ASSIGN(const std::vector<Seal> seals, FenceAndSeal(server));
  for (const Seal& seal : seals) RATCHET_TRY(Split(*master_, server, seal, ++attempts_));
  return Ok();
}

namespace {

Result<std::size_t> Remove(io::Directory& directory, const std::function<bool(const std::string& name)>& unneeded) {
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  RATCHET_TRY(directory.Sync());
  std::size_t removed = 0;
  for (const std::string& name : names) {
    if (!unneeded(name)) continue;
    RATCHET_TRY(directory.Unlink(name));
    ++removed;
  }
  RATCHET_TRY(directory.Sync());
  return removed;
}

}  // namespace

Result<std::size_t> EngineWorld::Clean(const std::string& server) {
  if (master_->crashed()) master_ = disk.NewProcess("master");
  std::size_t removed = 0;
  if (const auto logs = master_->Open("/wals/" + server); logs.ok()) {
    RATCHET_ASSIGN(const std::vector<std::string> names, (*logs)->List());
    RATCHET_ASSIGN(removed, Remove(**logs, [&names](const std::string& name) {
                     const auto log = io::ParseLogFileName(name);
                     return log && io::IsCovered(names, *log);
                   }));
  }
  RATCHET_ASSIGN(const auto region, master_->Open("/data/" + info.encoded_name()));
  RATCHET_ASSIGN(const std::size_t files,
                 Remove(*region, [](const std::string& name) { return io::ParseUnneededName(name).has_value(); }));
  return removed + files;
}

std::vector<std::string> EngineWorld::RegionFiles() {
  return master_->Open("/data/" + info.encoded_name()).value()->List().value();
}

std::vector<QueuePoint> FirstComesAfter(Server& server) {
  const std::string name = "log.0000000001";
  const std::string bytes = server.fenced->directory().ReadAll(name).value();
  io::RecordReader::Options options;
  options.expected = {kServerLogKind, io::LogFileId(server.name + "/" + name)};
  io::RecordReader reader(bytes, options);
  io::Record record;
  if (!reader.Next(&record)) return {};
  const LogEntry entry = DecodeLogEntry(record.payload).value();
  return entry.mark ? entry.mark->after : std::vector<QueuePoint>();
}

}  // namespace ratchet::regionserver
