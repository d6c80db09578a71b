#include "common/rpc/call_state.h"

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <exception>
#include <utility>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/cell.h"
#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/frame.h"

namespace ratchet::rpc {

CallState::CallState(CallContext context, const Service::Entry* method, std::shared_ptr<const Service> service,
                     std::string frame, std::shared_ptr<AnswerSink> sink, std::shared_ptr<ServerCounters> counters)
    : context_(std::move(context)),
      method_(method),
      service_(std::move(service)),
      frame_(std::move(frame)),
      sink_(std::move(sink)),
      counters_(std::move(counters)),
      received_(SystemClock().Now()),
      started_(received_) {}

namespace {

// Memory that a handler allocates for each message and cell, including its part of the answer.
constexpr std::size_t kWorkPerMessage = 512;
constexpr std::size_t kWorkPerCell = sizeof(Cell) + 64;

std::size_t CellsIn(std::string_view block) {
  std::size_t cells = 0;
  while (block.size() >= 4) {
    const std::size_t length = std::size_t{4} + ReadBig32(block);
    if (length > block.size()) break;
    block.remove_prefix(length);
    ++cells;
  }
  return cells;
}

}  // namespace

CallState::~CallState() {
  if (!answered_.load()) Fail(Error(Code::kInternal, "the server dropped the call without an answer"));
  request_.reset();
  std::string().swap(frame_);
  std::string().swap(cells_);
  Uncharge();
}

void CallState::Uncharge() { Unreserve(charged_); }

bool CallState::Reserve(std::size_t bytes) {
  const std::size_t sum = counters_->call_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (charge_limit_ > 0 && sum > charge_limit_) {
    counters_->call_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  charged_ += bytes;
  counters_->trim.Held(sum);
  return true;
}

void CallState::Unreserve(std::size_t bytes) {
  charged_ -= bytes;
  const std::size_t before = counters_->call_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  counters_->trim.Released(before - bytes);
}

bool CallState::Charge(std::size_t most, std::size_t most_cells) {
  charge_limit_ = most;
  most_cells_ = most_cells;
  return Reserve(frame_.size() + sizeof(CallState));
}

void CallState::SetBody(std::size_t parameter_at, std::size_t parameter_size, std::size_t cells_at) {
  parameter_at_ = parameter_at;
  parameter_size_ = parameter_size;
  cells_at_ = cells_at;
}

bool CallState::ParseRequest() {
  if (request_ != nullptr) return true;
  const std::string_view parameter = std::string_view(frame_).substr(parameter_at_, parameter_size_);
  const std::size_t most = context_.member || counters_->most_messages == 0 ? SIZE_MAX : counters_->most_messages;
  const MessageCount count = CountMessages(*method_->shape, parameter, most);
  if (count.messages > most) {
    Fail(RemoteError(
        exception::kRequestTooBig,
        fmt::format("a request of more than {} messages; the most that are parsed (--max-request-messages)", most)));
    return false;
  }
  if (!Reserve(count.bytes + count.messages * kWorkPerMessage) && !RATCHET_MUTANT("rpc.charge_frames_only")) {
    counters_->calls_refused.fetch_add(1, std::memory_order_relaxed);
    Fail(RemoteError(exception::kCallQueueTooBig,
                     "the requests of this server take too much memory when they are parsed; try again later"));
    return false;
  }
  Service::MessagePtr request = method_->new_request();
  // Partial, because otherwise protobuf prints missing fields to stderr.
  if (!request->ParsePartialFromArray(parameter.data(), static_cast<int>(parameter.size()))) {
    Fail(RemoteError(exception::kDoNotRetryIo, fmt::format("cannot parse the parameter of {}", context_.method)));
    return false;
  }
  if (!request->IsInitialized()) {
    Fail(RemoteError(exception::kDoNotRetryIo, MissingFields(*request)));
    return false;
  }
  request_ = std::move(request);
  return true;
}

void CallState::Run(std::shared_ptr<CallState> call) {
  const CallContext& context = call->context_;
  const TimePoint now = SystemClock().Now();
  call->started_ = now;
  call->counters_->queued.Note(now - call->received_);
  if (now >= context.deadline) {
    // The client no longer waits, and some clients treat an unexpected answer as a broken connection.
    call->counters_->calls_expired.fetch_add(1, std::memory_order_relaxed);
    call->Drop();
    return;
  }
  if (call->sink_->Ended()) return call->Drop();  // as HBase does with calls whose client no longer waits
  if (!call->ParseRequest()) return;
  if (const Status allowed = call->method_->Allows(call->counters_->judge, context, *call->request_, call->judged_);
      !allowed.ok()) {
    call->Fail(allowed.error());
    return;
  }
  if (call->unrecorded_ && !RATCHET_MUTANT("audit.run_before_the_line")) return Record(std::move(call));
  const Result<std::string_view> cells = call->Cells();
  if (!cells.ok()) {
    call->Fail(cells.error());
    return;
  }
  if (RATCHET_MUTANT("rpc.count_waiting_calls_only")) call->Uncharge();
  try {
    call->method_->run(context, *call->request_, *cells, RawResponder(call));
  } catch (const std::exception& failure) {
    RATCHET_LOG(kError, "{}.{} from {} threw: {}", context.service, context.method, context.peer, failure.what());
    call->Fail(Error(Code::kInternal, fmt::format("{}: {}", context.method, failure.what())));
  }
}

bool CallState::RunAtOnce(const std::shared_ptr<CallState>& call) {
  const TimePoint now = SystemClock().Now();
  if (call->request_ == nullptr || now >= call->context_.deadline) return false;
  call->started_ = now;
  call->at_once_ = true;
  try {
    if (call->method_->at_once(call->context_, *call->request_, RawResponder(call))) return true;
  } catch (const std::exception&) {
    // the handler repeats the work and reports the exception
    if (call->answered_.load()) return true;
  }
  call->at_once_ = false;
  return false;
}

// The thread is free while the line becomes durable.
void CallState::Record(std::shared_ptr<CallState> call) {
  const std::shared_ptr<CallState> held = call;
  held->unrecorded_ = false;
  held->judged_ = true;
  held->record_->audit->Admit(held->context_, held->record_->connection, *held->request_,
                              [call = std::move(call)](const Status& durable) mutable {
                                if (!durable.ok()) {
                                  call->Fail(durable.error());
                                  return;
                                }
                                const std::shared_ptr<const CallRecord> record = call->record_;
                                const QueueClass queue = call->queue_;
                                record->resume(queue, std::move(call));
                              });
}

Result<std::string_view> CallState::Cells() {
  std::string_view block = std::string_view(frame_).substr(cells_at_);
  if (block.empty()) return block;
  if (context_.compression != CellCompression::kNone) {
    const DecompressionRoom room{[this](std::size_t bytes) { return Reserve(bytes); },
                                 [this](std::size_t bytes) { Unreserve(bytes); }};
    RATCHET_ASSIGN(cells_, Decompress(context_.compression, block, most_cells_, room));
    block = cells_;
  }
  if (!Reserve(CellsIn(block) * kWorkPerCell)) {
    return RemoteError(exception::kCallQueueTooBig,
                       "the cells of this server's requests take too much memory; try again later");
  }
  return block;
}

bool CallState::Reply(const google::protobuf::MessageLite& message, std::string cells) {
  if (answered_.load()) return false;
  if (!cells.empty() && !context_.has_codec) {
    // The client could not read it. A defect of the handler, but one that a client's input can cause: not a check.
    return Fail(
        Error(Code::kInternal, context_.method + " answered with a cell block, but the connection named no codec"));
  }
  if (!message.IsInitialized()) {
    const std::string missing = MissingFields(message);
    RATCHET_LOG(kError, "{}.{}: answer without required fields: {}", context_.service, context_.method, missing);
    return Fail(Error(Code::kInternal, "the answer cannot be sent: " + missing));
  }
  if (judged_) record_->audit->Answered(context_, record_->connection, *request_, message);
  hbase::pb::ResponseHeader header;
  header.set_call_id(context_.call_id);
  if (cells.empty() || context_.compression == CellCompression::kNone)
    return Finish(EncodeSplitResponse(header, &message, std::move(cells)));
  Result<std::string> compressed = Compress(context_.compression, cells);
  if (!compressed.ok()) return Fail(compressed.error());
  return Finish(EncodeSplitResponse(header, &message, std::move(*compressed)));
}

bool CallState::Fail(const Error& error) {
  if (answered_.load()) return false;
  NoteDenied(error);
  hbase::pb::ResponseHeader header;
  header.set_call_id(context_.call_id);
  FillException(error, *header.mutable_exception());
  if (method_ != nullptr) method_->stats->errors.fetch_add(1, std::memory_order_relaxed);
  return Finish({EncodeResponse(header, nullptr, {}), {}});
}

void CallState::NoteDenied(const Error& error) const {
  if (record_ != nullptr && IsClass(error, exception::kAccessDenied))
    record_->audit->Denied(context_, record_->connection, error.message());
}

void CallState::Drop() {
  if (!answered_.exchange(true)) sink_->FinishCall({});
}

void CallState::ReportSlowCall(TimePoint now, std::size_t answer_bytes) const {
  const CallWatch& watch = counters_->watch;
  if (!watch.told || request_ == nullptr) return;
  const bool slow = now - started_ >= watch.slow;
  const bool large = answer_bytes >= watch.large;
  if (!slow && !large) return;
  const auto millis = [](auto time) { return std::chrono::duration_cast<Millis>(time); };
  watch.told({context_, *request_, millis(started_ - received_), millis(now - started_), answer_bytes, slow, large});
}

bool CallState::Finish(SplitFrame frame) {
  if (answered_.exchange(true)) return false;
  const Status fault = HitFault("rpc.before_reply", context_.method);
  if (!fault.ok()) {
    sink_->FinishCall({});
    sink_->Cut();
    return true;
  }
  counters_->calls_answered.fetch_add(1, std::memory_order_relaxed);
  if (at_once_) {
    counters_->calls_at_once.fetch_add(1, std::memory_order_relaxed);
    counters_->queued.Note(started_ - received_);
  }
  const TimePoint now = SystemClock().Now();
  if (method_ != nullptr) method_->stats->took.Note(now - received_);
  ReportSlowCall(now, frame.size());
  sink_->FinishCall(std::move(frame));
  return true;
}

bool RawResponder::ReplyMessage(const google::protobuf::MessageLite& message, std::string cells) const {
  return call_->Reply(message, std::move(cells));
}
bool RawResponder::Fail(const Error& error) const { return call_->Fail(error); }
void RawResponder::NoteDenied(const Error& error) const { call_->NoteDenied(error); }
const CallContext& RawResponder::context() const { return call_->context(); }

}  // namespace ratchet::rpc
