#include "master/meta/rpc_meta_table.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"
#include "master/meta/meta_edit_codec.h"

namespace ratchet::master {

// Bounds the number of concurrent requests; the others wait in a queue. A server's queues are bounded too, and refused
// requests must be sent again: without this bound a table of thousands of regions would never get all its rows into
// hbase:meta.
//
// Thread-safe. Jobs begin in the order of Enter, on the thread that calls Enter or Left.
class SendWindow {
 public:
  explicit SendWindow(std::size_t limit) : limit_(limit) {}

  // Begins `job` now or when a slot is free. The caller calls Left once when the job is done, possibly before `job`
  // returns.
  void Enter(std::function<void()> job) {
    {
      MutexLock lock(mutex_);
      line_.push_back(std::move(job));
    }
    Pump();
  }
  void Left() {
    {
      MutexLock lock(mutex_);
      --under_way_;
    }
    Pump();
  }

 private:
  // One thread at a time begins jobs, because jobs that fail at once call back here and must not nest deeply.
  void Pump() {
    for (;;) {
      std::function<void()> job;
      {
        MutexLock lock(mutex_);
        if (pumping_ || line_.empty() || under_way_ >= limit_) return;
        job = std::move(line_.front());
        line_.pop_front();
        ++under_way_;
        pumping_ = true;
      }
      job();
      MutexLock lock(mutex_);
      pumping_ = false;
    }
  }

  const std::size_t limit_;
  Mutex mutex_;
  std::deque<std::function<void()>> line_ GUARDED_BY(mutex_);
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  bool pumping_ GUARDED_BY(mutex_) = false;
};

namespace {

constexpr std::uint32_t kMetaPriority = 200;
constexpr std::uint64_t kMaxScanBytes = 16u << 20;

rpc::CallOptions CallFor(const MetaTableOptions& options) {
  rpc::CallOptions call;
  call.timeout = options.rpc_timeout;
  call.priority = kMetaPriority;
  return call;
}

// Maps an error for the caller: retryable if the region is moving or no server answers; final for a higher epoch.
Error ForCaller(const Error& error) {
  switch (error.code()) {
    case Code::kFenced:
    case Code::kTimeout:
    case Code::kUnavailable: return error;
    case Code::kStale: return Error(Code::kFenced, error.message(), error.remote_class());
    default: return Error(Code::kUnavailable, error.ToString(), error.remote_class());
  }
}

// Counts the edits of one Write, and returns the first error.
class WriteBarrier {
 public:
  WriteBarrier(std::size_t edits, std::function<void(Status)> done) : left_(edits), done_(std::move(done)) {}
  void Finish(Status status) {
    std::function<void(Status)> done;
    Status answer;
    {
      MutexLock lock(mutex_);
      if (!status.ok() && first_.ok()) first_ = std::move(status);
      if (--left_ > 0) return;
      done = std::move(done_);
      answer = first_;
    }
    done(std::move(answer));
  }

 private:
  Mutex mutex_;
  std::size_t left_ GUARDED_BY(mutex_);
  Status first_ GUARDED_BY(mutex_);
  std::function<void(Status)> done_ GUARDED_BY(mutex_);
};

// The bytes of a row's transition number; nullopt if the row does not exist.
using TransitionCell = std::optional<std::string>;

// Errors are mapped by ForCaller.
void ReadTransition(rpc::Channel& channel, const MetaEdit& edit, const MetaTableOptions& options,
                    std::function<void(const Result<TransitionCell>&)> done) {
  channel.Call(methods::kGet, EncodeTransitionGet(edit), CallFor(options), [done = std::move(done)](auto reply) {
    if (!reply.ok()) return done(ForCaller(reply.error()));
    CellBlockReader block(reply->cells);
    const auto cells = ReadResult(reply->message.result(), block);
    if (!cells.ok()) return done(ForCaller(cells.error()));
    done(cells->empty() ? TransitionCell() : TransitionCell(cells->front().value));
  });
}

// One edit: tries its conditions one after the other, then reads the row to find out why none held.
class EditCall : public std::enable_shared_from_this<EditCall> {
 public:
  EditCall(std::shared_ptr<rpc::Channel> channel, MetaTableOptions options, MetaEdit edit, Epoch epoch,
           std::function<Status()> check, std::shared_ptr<WriteBarrier> barrier, std::shared_ptr<SendWindow> window)
      : channel_(std::move(channel)),
        options_(options),
        edit_(std::move(edit)),
        epoch_(epoch),
        check_(std::move(check)),
        barrier_(std::move(barrier)),
        window_(std::move(window)) {}

  void Start() { Try(FirstCondition(edit_), HasSecondCondition(edit_)); }

 private:
  void Finish(Status status) {
    window_->Left();
    barrier_->Finish(std::move(status));
  }

  void Try(EditCondition condition, bool second_left) {
    if (const Status owner = check_(); !owner.ok()) return Finish(owner);  // S18 (check before each send)
    channel_->Call(methods::kMutate, EncodeEdit(edit_, condition, epoch_), CallFor(options_),
                   [self = shared_from_this(), second_left](auto reply) {
                     if (!reply.ok()) return self->Finish(ForCaller(reply.error()));
                     if (reply->message.processed()) return self->Finish(Ok());
                     if (second_left) return self->Try(EditCondition::kAtMost, false);
                     self->LogReason();
                   });
  }

  void LogReason() {
    ReadTransition(*channel_, edit_, options_, [self = shared_from_this()](const Result<TransitionCell>& stored) {
      self->Finish(stored.ok() ? self->Verdict(stored->has_value()) : stored.error());
    });
  }

  [[nodiscard]] Status Verdict(bool row_there) const {
    if (row_there) {
      return Error(Code::kStale, fmt::format("row '{}' of hbase:meta has a higher transition number than {}",
                                             RowOf(edit_), TransitionOf(edit_)));
    }
    if (IsDelete(edit_) || edit_.kind == MetaEdit::Kind::kForgetMerged) return Ok();
    if (edit_.kind == MetaEdit::Kind::kUpdateRegion) {
      return Error(Code::kNotFound, fmt::format("hbase:meta has no row '{}'", RowOf(edit_)));
    }
    return Error(Code::kUnavailable,
                 fmt::format("row '{}' of hbase:meta was created and removed meanwhile", RowOf(edit_)));
  }

  const std::shared_ptr<rpc::Channel> channel_;
  const MetaTableOptions options_;
  const MetaEdit edit_;
  const Epoch epoch_;
  const std::function<Status()> check_;
  const std::shared_ptr<WriteBarrier> barrier_;
  const std::shared_ptr<SendWindow> window_;
};

// One MutateRows. If a row did not match, reads each changed row: an earlier send of the same commit may have been
// applied, with its answer lost.
class CommitCall : public std::enable_shared_from_this<CommitCall> {
 public:
  using Done = std::function<void(Result<CommitOutcome>)>;
  CommitCall(std::shared_ptr<rpc::Channel> channel, MetaTableOptions options, MetaCommit commit, Epoch epoch,
             std::function<Status()> check, Done done)
      : channel_(std::move(channel)),
        options_(options),
        commit_(std::move(commit)),
        epoch_(epoch),
        check_(std::move(check)),
        done_(std::move(done)) {}

  void Start() {
    if (const Status owner = check_(); !owner.ok()) return done_(owner.error());  // S18
    channel_->Call(methods::kExecService, EncodeCommit(commit_, epoch_), CallFor(options_),
                   [self = shared_from_this()](auto reply) {
                     if (!reply.ok()) return self->done_(ForCaller(reply.error()));
                     const Result<bool> processed = CommitProcessed(reply->message);
                     if (!processed.ok()) return self->done_(ForCaller(processed.error()));
                     if (*processed) return self->Finish(CommitOutcome::kApplied);
                     self->Look(0);
                   });
  }

 private:
  void Look(std::size_t index) {
    if (index == commit_.edits.size()) return Finish(CommitOutcome::kApplied);
    ReadTransition(*channel_, commit_.edits[index], options_,
                   [self = shared_from_this(), index](const Result<TransitionCell>& stored) {
                     if (!stored.ok()) return self->done_(stored.error());
                     if (!ShowsEdit(self->commit_.edits[index], *stored)) return self->Finish(CommitOutcome::kRefused);
                     self->Look(index + 1);
                   });
  }

  // S33 (check before state replies): the result is used only while this master is the owner.
  void Finish(CommitOutcome outcome) {
    if (const Status owner = check_(); !owner.ok()) return done_(owner.error());
    done_(outcome);
  }

  const std::shared_ptr<rpc::Channel> channel_;
  const MetaTableOptions options_;
  const MetaCommit commit_;
  const Epoch epoch_;
  const std::function<Status()> check_;
  const Done done_;
};

// Reads all rows of hbase:meta, request by request.
class ScanCall : public std::enable_shared_from_this<ScanCall> {
 public:
  ScanCall(std::shared_ptr<rpc::Channel> channel, MetaTableOptions options,
           std::function<void(Result<MetaContents>)> done)
      : channel_(std::move(channel)), options_(options), done_(std::move(done)) {}

  void Start() {
    hbase::pb::ScanRequest request;
    SpecifyRegion(MetaRegionInfo(), *request.mutable_region());
    auto& scan = *request.mutable_scan();
    scan.set_max_versions(1);
    scan.set_max_result_size(kMaxScanBytes);
    Send(request);
  }

 private:
  void Send(hbase::pb::ScanRequest& request) {
    request.set_number_of_rows(options_.scan_rows);
    request.set_client_handles_partials(false);
    request.set_client_handles_heartbeats(false);
    channel_->Call(methods::kScan, request, CallFor(options_), [self = shared_from_this()](auto reply) {
      if (!reply.ok()) return self->done_(ForCaller(reply.error()));
      self->Take(reply->message, reply->cells);
    });
  }

  void Take(const hbase::pb::ScanResponse& response, const std::string& cells) {
    if (const Status taken = ReadRows(response, cells); !taken.ok()) return done_(taken.error());
    const bool more_in_region = !response.has_more_results_in_region() || response.more_results_in_region();
    const bool more = !response.has_more_results() || response.more_results();
    if (!more_in_region || !more) return done_(std::move(contents_));
    hbase::pb::ScanRequest request;
    request.set_scanner_id(response.scanner_id());
    Send(request);
  }

  Status ReadRows(const hbase::pb::ScanResponse& response, const std::string& cells) {
    CellBlockReader block(cells);
    for (const std::uint32_t count : response.cells_per_result()) {
      RATCHET_ASSIGN(const std::vector<Cell> row, block.Take(count));
      RATCHET_TRY(AddMetaRow(row, &contents_));
    }
    if (response.cells_per_result_size() > 0) return Ok();
    for (const auto& result : response.results()) {
      RATCHET_ASSIGN(const std::vector<Cell> row, ReadResult(result, block));
      RATCHET_TRY(AddMetaRow(row, &contents_));
    }
    return Ok();
  }

  const std::shared_ptr<rpc::Channel> channel_;
  const MetaTableOptions options_;
  const std::function<void(Result<MetaContents>)> done_;
  MetaContents contents_;
};

}  // namespace

RpcMetaTable::RpcMetaTable(rpc::ChannelPool& channels, MetaTableOptions options)
    : channels_(channels), options_(options), window_(std::make_shared<SendWindow>(options.writes_in_flight)) {}

void RpcMetaTable::Begin(Epoch epoch, Hooks hooks) {
  MutexLock lock(mutex_);
  setup_ = std::make_shared<const Setup>(Setup{epoch, std::move(hooks)});
}

std::shared_ptr<const RpcMetaTable::Setup> RpcMetaTable::setup() const {
  MutexLock lock(mutex_);
  RATCHET_CHECK(setup_ != nullptr, "hbase:meta is used before the epoch is known");
  return setup_;
}

Result<std::shared_ptr<rpc::Channel>> RpcMetaTable::ChannelToMeta(const Setup& setup) const {
  const std::optional<ServerName> server = setup.hooks.location();
  if (!server.has_value()) return Error(Code::kUnavailable, "hbase:meta is not online");
  return channels_.Get(methods::kClientService, {server->host, server->port});
}

void RpcMetaTable::Write(std::vector<MetaEdit> edits, std::function<void(Status)> done) {
  if (edits.empty()) return done(Ok());
  const auto use = setup();
  auto channel = ChannelToMeta(*use);
  if (!channel.ok()) return done(channel.error());
  const auto barrier = std::make_shared<WriteBarrier>(edits.size(), std::move(done));
  for (MetaEdit& edit : edits) {
    auto call =
        std::make_shared<EditCall>(*channel, options_, std::move(edit), use->epoch, use->hooks.check, barrier, window_);
    window_->Enter([call = std::move(call)] { call->Start(); });
  }
}

void RpcMetaTable::Commit(MetaCommit commit, std::function<void(Result<CommitOutcome>)> done) {
  RATCHET_CHECK(!commit.edits.empty(), "a commit needs at least one edit");
  const auto use = setup();
  auto channel = ChannelToMeta(*use);
  if (!channel.ok()) return done(channel.error());
  if (RATCHET_MUTANT("meta.commit_row_by_row")) {
    return Write(std::move(commit.edits), [done = std::move(done)](const Status& written) {
      written.ok() ? done(CommitOutcome::kApplied) : done(written.error());
    });
  }
  std::make_shared<CommitCall>(*channel, options_, std::move(commit), use->epoch, use->hooks.check, std::move(done))
      ->Start();
}

void RpcMetaTable::Scan(std::function<void(Result<MetaContents>)> done) {
  const auto use = setup();
  auto channel = ChannelToMeta(*use);
  if (!channel.ok()) return done(channel.error());
  // S33: the result is used only while this master is the owner.
  auto checked = [done = std::move(done), check = use->hooks.check](Result<MetaContents> contents) {
    if (const Status owner = check(); !owner.ok()) return done(owner.error());
    done(std::move(contents));
  };
  std::make_shared<ScanCall>(*channel, options_, std::move(checked))->Start();
}

}  // namespace ratchet::master
