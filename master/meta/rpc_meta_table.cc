#include "master/meta/rpc_meta_table.h"

#include <functional>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "common/rpc/methods/client_service.h"
#include "master/meta/meta_calls.h"
#include "master/meta/meta_edit_codec.h"

namespace ratchet::master {

namespace {

constexpr std::uint64_t kMaxScanBytes = 16u << 20;

// The bytes of a row's transition number; nullopt if the row does not exist.
using TransitionCell = std::optional<std::string>;

// Errors are mapped by ErrorForCaller.
void ReadTransition(rpc::Channel& channel, const MetaEdit& edit, const MetaTableOptions& options,
                    std::function<void(const Result<TransitionCell>&)> done) {
  channel.Call(methods::kGet, EncodeTransitionGet(edit), MetaCall(options.rpc_timeout),
               [done = std::move(done)](auto reply) {
                 if (!reply.ok()) return done(ErrorForCaller(reply.error()));
                 CellBlockReader block(reply->cells);
                 const auto cells = ReadResult(reply->message.result(), block);
                 if (!cells.ok()) return done(ErrorForCaller(cells.error()));
                 done(cells->empty() ? TransitionCell() : TransitionCell(cells->front().value));
               });
}

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
    if (const Status owner = check_(); !owner.ok()) return done_(owner.error());  // S18 (check before each send)
    channel_->Call(methods::kExecService, EncodeCommit(commit_, epoch_), MetaCall(options_.rpc_timeout),
                   [self = shared_from_this()](auto reply) {
                     if (!reply.ok()) return self->done_(ErrorForCaller(reply.error()));
                     const Result<bool> processed = CommitProcessed(reply->message);
                     if (!processed.ok()) return self->done_(ErrorForCaller(processed.error()));
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
    request.set_client_handles_heartbeats(true);  // the reply comes in time, however busy the server is
    channel_->Call(methods::kScan, request, MetaCall(options_.rpc_timeout), [self = shared_from_this()](auto reply) {
      if (!reply.ok()) return self->done_(ErrorForCaller(reply.error()));
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
    : channels_(channels), options_(options) {}

void RpcMetaTable::Begin(Epoch epoch, Hooks hooks) {
  EditQueue::Hooks for_edits{hooks.check, [this, location = hooks.location] { return ChannelTo(location()); }};
  auto edits = std::make_shared<EditQueue>(options_.edits, options_.rpc_timeout, epoch, std::move(for_edits));
  const MutexLock lock(mutex_);
  setup_ = std::make_shared<const Setup>(Setup{epoch, std::move(hooks), std::move(edits)});
}

std::shared_ptr<const RpcMetaTable::Setup> RpcMetaTable::setup() const {
  MutexLock lock(mutex_);
  RATCHET_CHECK(setup_ != nullptr, "hbase:meta is used before the epoch is known");
  return setup_;
}

Result<std::shared_ptr<rpc::Channel>> RpcMetaTable::ChannelTo(const std::optional<ServerName>& server) const {
  if (!server.has_value()) return Error(Code::kUnavailable, "hbase:meta is not online");
  return channels_.Get(methods::kClientService, {server->host, server->port});
}

void RpcMetaTable::Write(std::vector<MetaEdit> edits, std::function<void(Status)> done) {
  if (edits.empty()) return done(Ok());
  setup()->edits->Add(std::move(edits), std::move(done));
}

void RpcMetaTable::Commit(MetaCommit commit, std::function<void(Result<CommitOutcome>)> done) {
  RATCHET_CHECK(!commit.edits.empty(), "a commit needs at least one edit");
  const auto use = setup();
  auto channel = ChannelTo(use->hooks.location());
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
  auto channel = ChannelTo(use->hooks.location());
  if (!channel.ok()) return done(channel.error());
  // S33: the result is used only while this master is the owner.
  auto checked = [done = std::move(done), check = use->hooks.check](Result<MetaContents> contents) {
    if (const Status owner = check(); !owner.ok()) return done(owner.error());
    done(std::move(contents));
  };
  std::make_shared<ScanCall>(*channel, options_, std::move(checked))->Start();
}

}  // namespace ratchet::master
