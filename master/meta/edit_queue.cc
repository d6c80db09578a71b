#include "master/meta/edit_queue.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"
#include "master/meta/meta_calls.h"

namespace ratchet::master {
namespace {

// Why the condition of an edit did not hold; the row has a transition number or not.
Status Verdict(const MetaEdit& edit, bool row_there) {
  if (row_there) {
    return Error(Code::kStale, fmt::format("row '{}' of hbase:meta has a higher transition number than {}", RowOf(edit),
                                           TransitionOf(edit)));
  }
  if (IsDelete(edit) || edit.kind == MetaEdit::Kind::kForgetMerged) return Ok();
  if (edit.kind == MetaEdit::Kind::kUpdateRegion || edit.kind == MetaEdit::Kind::kUpdateTable)
    return Error(Code::kNotFound, fmt::format("hbase:meta has no row '{}'", RowOf(edit)));
  return Error(Code::kUnavailable,
               fmt::format("row '{}' of hbase:meta was created and removed meanwhile", RowOf(edit)));
}

Error Malformed() { return Error(Code::kUnavailable, "the answer of hbase:meta's server does not fit the request"); }

std::vector<Result<bool>> ProcessedOf(const hbase::pb::MultiResponse& response, std::size_t edits) {
  if (static_cast<std::size_t>(response.regionactionresult_size()) != edits)
    return std::vector<Result<bool>>(edits, Malformed());
  std::vector<Result<bool>> processed;
  for (const auto& each : response.regionactionresult()) {
    if (each.has_exception())
      processed.emplace_back(rpc::ErrorFrom(each.exception()));
    else if (each.has_processed())
      processed.emplace_back(each.processed());
    else
      processed.emplace_back(Malformed());
  }
  return processed;
}

// Returns, for each row that was asked for, whether it has a transition number.
std::vector<Result<bool>> RowsThere(const hbase::pb::MultiResponse& response, std::string_view cells,
                                    std::size_t asked) {
  if (response.regionactionresult_size() != 1) return std::vector<Result<bool>>(asked, Malformed());
  const auto& rows = response.regionactionresult(0);
  if (rows.has_exception()) return std::vector<Result<bool>>(asked, rpc::ErrorFrom(rows.exception()));
  std::vector<Result<bool>> there(asked, Malformed());
  CellBlockReader block(cells);
  for (const auto& entry : rows.resultorexception()) {
    if (entry.index() >= asked) return there;
    Result<bool>& row = there[entry.index()];
    if (entry.has_exception()) {
      row = rpc::ErrorFrom(entry.exception());
    } else if (entry.has_result()) {
      const auto read = ReadResult(entry.result(), block);
      if (read.ok())
        row = !read->empty();
      else
        row = read.error();
    }
  }
  return there;
}

}  // namespace

// Counts the edits of one Add, and keeps their first error.
class EditQueue::Answer {
 public:
  Answer(std::size_t edits, std::function<void(Status)> done) : left_(edits), done_(std::move(done)) {}
  void Finish(Status status) {
    std::function<void(Status)> done;
    Status answer;
    {
      const MutexLock lock(mutex_);
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

EditQueue::EditQueue(EditLimits limits, Millis timeout, Epoch epoch, Hooks hooks)
    : limits_(limits), timeout_(timeout), epoch_(epoch), hooks_(std::move(hooks)) {}

void EditQueue::Add(std::vector<MetaEdit> edits, std::function<void(Status)> done) {
  const auto answer = std::make_shared<Answer>(edits.size(), std::move(done));
  {
    const MutexLock lock(mutex_);
    for (MetaEdit& edit : edits) {
      const EditCondition first = FirstCondition(edit);
      const bool second_left = HasSecondCondition(edit);
      line_.push_back({std::move(edit), first, second_left, answer});
    }
  }
  Pump();
}

void EditQueue::Pump() {
  for (;;) {
    Batch batch;
    {
      const MutexLock lock(mutex_);
      if (pumping_ || line_.empty() || in_flight_ >= limits_.requests) return;
      batch = TakeNext();
      ++in_flight_;
      pumping_ = true;
    }
    Send(std::move(batch));
    const MutexLock lock(mutex_);
    pumping_ = false;
  }
}

EditQueue::Batch EditQueue::TakeNext() {
  constexpr std::size_t kOfEdit = 512;    // its other columns and names
  constexpr std::size_t kTimesNamed = 3;  // in the condition, the mutation and info:regioninfo
  Batch batch;
  std::set<std::string> rows;
  std::size_t bytes = 0;
  while (!line_.empty() && batch.size() < limits_.edits_in_request) {
    const MetaEdit& next = line_.front().edit;
    std::string row = RowOf(next);
    bytes += kOfEdit + kTimesNamed * row.size() + next.region.region.end_key.size();
    if (!batch.empty() && bytes > limits_.bytes_in_request) break;
    if (!rows.insert(std::move(row)).second) break;
    batch.push_back(std::move(line_.front()));
    line_.pop_front();
  }
  return batch;
}

void EditQueue::Leave() {
  {
    const MutexLock lock(mutex_);
    --in_flight_;
  }
  Pump();
}

void EditQueue::Send(Batch batch) {
  const Sent sent = std::make_shared<const Batch>(std::move(batch));
  if (const Status owner = hooks_.check(); !owner.ok())  // S18 (check before each send)
    return Take(sent, std::vector<Result<bool>>(sent->size(), owner.error()));
  const auto channel = hooks_.channel();
  if (!channel.ok()) return Take(sent, std::vector<Result<bool>>(sent->size(), channel.error()));
  if (sent->size() == 1)
    SendOne(**channel, sent);
  else
    SendMany(**channel, sent);
}

void EditQueue::SendOne(rpc::Channel& channel, const Sent& batch) {
  const Waiting& only = batch->front();
  channel.Call(methods::kMutate, EncodeEdit(only.edit, only.condition, epoch_), MetaCall(timeout_),
               [self = shared_from_this(), batch](auto reply) {
                 if (reply.ok()) return self->Take(batch, {reply->message.processed()});
                 self->Take(batch, {reply.error()});
               });
}

void EditQueue::SendMany(rpc::Channel& channel, const Sent& batch) {
  hbase::pb::MultiRequest request;
  for (const Waiting& each : *batch) {
    auto edit = EncodeEdit(each.edit, each.condition, epoch_);
    auto& action = *request.add_regionaction();
    *action.mutable_region() = std::move(*edit.mutable_region());
    *action.mutable_condition() = std::move(*edit.mutable_condition());
    *action.add_action()->mutable_mutation() = std::move(*edit.mutable_mutation());
  }
  channel.Call(methods::kMulti, request, MetaCall(timeout_), [self = shared_from_this(), batch](auto reply) {
    if (reply.ok()) return self->Take(batch, ProcessedOf(reply->message, batch->size()));
    self->Take(batch, std::vector<Result<bool>>(batch->size(), reply.error()));
  });
}

void EditQueue::Take(const Sent& batch, const std::vector<Result<bool>>& processed) {
  Batch unmet;
  std::vector<std::pair<const Waiting*, Status>> finished;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const Waiting& each = (*batch)[i];
      if (!processed[i].ok())
        finished.emplace_back(&each, ErrorForCaller(processed[i].error()));
      else if (*processed[i])
        finished.emplace_back(&each, Ok());
      else if (each.second_left)
        line_.push_front({each.edit, EditCondition::kAtMost, false, each.answer});
      else
        unmet.push_back(each);
    }
  }
  if (unmet.empty())
    Leave();
  else
    Look(std::make_shared<const Batch>(std::move(unmet)));
  for (auto& [each, status] : finished) each->answer->Finish(std::move(status));
}

void EditQueue::Look(const Sent& unmet) {
  auto finish = [self = shared_from_this(), unmet](const std::vector<Result<bool>>& there) {
    self->Leave();
    for (std::size_t i = 0; i < unmet->size(); ++i) {
      const Waiting& each = (*unmet)[i];
      each.answer->Finish(there[i].ok() ? Verdict(each.edit, *there[i]) : ErrorForCaller(there[i].error()));
    }
  };
  const auto channel = hooks_.channel();
  if (!channel.ok()) return finish(std::vector<Result<bool>>(unmet->size(), channel.error()));
  hbase::pb::MultiRequest request;
  auto& rows = *request.add_regionaction();
  for (const Waiting& each : *unmet) {
    auto get = EncodeTransitionGet(each.edit);
    *rows.mutable_region() = std::move(*get.mutable_region());
    auto& action = *rows.add_action();
    action.set_index(static_cast<std::uint32_t>(rows.action_size() - 1));
    *action.mutable_get() = std::move(*get.mutable_get());
  }
  (*channel)->Call(methods::kMulti, request, MetaCall(timeout_), [finish, asked = unmet->size()](auto reply) {
    if (reply.ok()) return finish(RowsThere(reply->message, reply->cells, asked));
    finish(std::vector<Result<bool>>(asked, reply.error()));
  });
}

}  // namespace ratchet::master
