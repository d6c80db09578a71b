// One call inside the server, from its frame to its answer. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/latency.h"
#include "common/rpc/call_audit.h"
#include "common/rpc/call_watch.h"
#include "common/rpc/frame.h"
#include "common/rpc/heap_trim.h"
#include "common/rpc/service.h"

namespace ratchet::rpc {

// Counters of a server; they outlive it while there are calls.
struct ServerCounters {
  std::atomic<std::uint64_t> connections_open{0}, connections_accepted{0}, connections_refused{0}, calls_received{0},
      calls_answered{0}, calls_expired{0}, calls_refused{0}, calls_at_once{0}, bad_connections{0},
      // connections beyond the limit: of members (S87: reserved connections for members)
      connections_beyond{0};
  std::atomic<std::size_t> input_bytes{0};   // received, but not yet a whole frame
  std::atomic<std::size_t> call_bytes{0};    // of calls that were admitted and still exist
  std::atomic<std::size_t> unsent_bytes{0};  // of answers
  Latency queued;                            // from the whole request to the start of its handler
  CallWatch watch;                           // constant from the server's start on, like the next one:
  std::size_t most_messages = 0;             // of a client's request; 0: unlimited
  const rights::Judge* judge = nullptr;      // null: every caller may do everything
  HeapTrim trim;
};

class CallState;

// The target of answers. Thread-safe; a closed sink drops them.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // `frame`: a whole frame, or empty when the call ends unanswered. Called once per call.
  virtual void FinishCall(SplitFrame frame) = 0;
  // Ends the connection, as if the network had.
  virtual void Cut() = 0;
  // The connection has ended: nothing that is sent reaches the client.
  [[nodiscard]] virtual bool Ended() const = 0;
};

// How the calls of one connection reach the record of what clients did. Constant.
struct CallRecord {
  std::shared_ptr<CallAudit> audit;
  CallAudit::Connection connection;
  // Runs a call whose line is durable, on a thread of its class. From any thread, and until the process ends.
  std::function<void(QueueClass queue, std::shared_ptr<CallState> call)> resume;
};

// Created on an I/O thread, run there or on a handler thread, answered from anywhere.
class CallState {
 public:
  CallState(CallContext context, const Service::Entry* method, std::shared_ptr<const Service> service,
            std::string frame, std::shared_ptr<AnswerSink> sink, std::shared_ptr<ServerCounters> counters);
  ~CallState();
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  // The parts of the frame after its header, as offsets, because the frame moves with the call.
  void SetBody(std::size_t parameter_at, std::size_t parameter_size, std::size_t cells_at);
  // `before_run`: the call runs only after its line is durable (S138: audited before it runs).
  void SetRecord(std::shared_ptr<const CallRecord> record, bool before_run) {
    record_ = std::move(record);
    unrecorded_ = before_run;
  }
  void SetQueue(QueueClass queue) { queue_ = queue; }
  // Parses the parameter, once its messages are counted and their memory is charged; on failure answers and returns
  // false. Idempotent.
  [[nodiscard]] bool ParseRequest();
  [[nodiscard]] std::size_t parameter_size() const { return parameter_size_; }
  [[nodiscard]] const google::protobuf::MessageLite& request() const { return *request_; }
  [[nodiscard]] const CallContext& context() const { return context_; }
  // Counts the call in the server's sum until it is destroyed, unless that would exceed `most`. `most_cells`: maximum
  // size of its cell block after decompression.
  [[nodiscard]] bool Charge(std::size_t most, std::size_t most_cells);

  // Runs the handler, unless the deadline has passed.
  static void Run(std::shared_ptr<CallState> call);
  // On an I/O thread, for a parsed call: tries Entry::at_once. Returns false if the call has no answer yet.
  [[nodiscard]] static bool RunAtOnce(const std::shared_ptr<CallState>& call);
  bool Reply(const google::protobuf::MessageLite& message, std::string cells);
  bool Fail(const Error& error);
  // Ends the call without an answer.
  void Drop();
  // As RawResponder::NoteDenied.
  void NoteDenied(const Error& error) const;

 private:
  bool Finish(SplitFrame frame);
  static void Record(std::shared_ptr<CallState> call);
  // The cell block as the handler reads it. An error: it cannot be decompressed, or takes too much memory.
  [[nodiscard]] Result<std::string_view> Cells();
  // Increases the charged memory, unless all calls together would hold too much.
  [[nodiscard]] bool Reserve(std::size_t bytes);
  void Unreserve(std::size_t bytes);
  void Uncharge();
  void ReportSlowCall(TimePoint now, std::size_t answer_bytes) const;

  const CallContext context_;
  const Service::Entry* const method_;
  const std::shared_ptr<const Service> service_;  // keeps method_ alive
  std::string frame_;                             // constant until the destructor
  const std::shared_ptr<AnswerSink> sink_;
  const std::shared_ptr<ServerCounters> counters_;
  std::size_t parameter_at_ = 0, parameter_size_ = 0, cells_at_ = 0;
  Service::MessagePtr request_;
  std::string cells_;  // decompressed
  std::size_t charged_ = 0, charge_limit_ = 0, most_cells_ = 0;
  std::shared_ptr<const CallRecord> record_;  // null: none is kept
  bool unrecorded_ = false;                   // not to run yet
  bool judged_ = false;                       // before its line was durable
  QueueClass queue_ = QueueClass::kData;      // by whose threads it runs
  const TimePoint received_;
  TimePoint started_;     // of its handler; before it begins: as received_
  bool at_once_ = false;  // the I/O thread tries to answer, or has answered
  std::atomic<bool> answered_{false};
};

}  // namespace ratchet::rpc
