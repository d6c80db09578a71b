// EditQueue: sends single edits of hbase:meta to the server that carries it, many in one request.
//
// While few edits wait, each goes in a request of its own. Edits that come while enough requests are in flight wait,
// and the next request takes all that wait, up to a limit: one request then costs the server one call and, because it
// stages them together, one sync. Each edit keeps its own condition and epoch (S28: conditional meta writes) and its
// own result. The ownership CHECK precedes each request (S18: check before each send). The limits keep the server's
// queues from refusing requests: without them a table of thousands of regions would never get all its rows into
// hbase:meta.
//
// Owned by RpcMetaTable; calls in flight keep it alive. Thread-safe. Requests are sent, and `done` is called, on the
// channels' threads or on the thread that calls Add. One thread at a time sends, because edits that fail at once call
// back and must not nest deeply.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/rpc/channel.h"
#include "master/env/meta_table.h"
#include "master/meta/meta_edit_codec.h"

namespace ratchet::master {

struct EditLimits {
  std::size_t requests = 4;                 // in flight
  std::size_t edits_in_request = 1'000;     // each of another row; as many as a batch has regions
  std::size_t bytes_in_request = 4U << 20;  // about; a single edit may be larger, because a key has up to 32 KiB
};

class EditQueue : public std::enable_shared_from_this<EditQueue> {
 public:
  struct Hooks {
    std::function<Status()> check;
    // To the server that carries hbase:meta now.
    std::function<Result<std::shared_ptr<rpc::Channel>>()> channel;
  };
  EditQueue(EditLimits limits, Millis timeout, Epoch epoch, Hooks hooks);
  EditQueue(const EditQueue&) = delete;
  EditQueue& operator=(const EditQueue&) = delete;

  // `done` gets the first error of the edits, after the last of them has its result. At least one edit.
  void Add(std::vector<MetaEdit> edits, std::function<void(Status)> done);

 private:
  class Answer;
  struct Waiting {
    MetaEdit edit;
    EditCondition condition;
    bool second_left;  // another condition may hold if this one does not
    std::shared_ptr<Answer> answer;
  };
  using Batch = std::vector<Waiting>;
  using Sent = std::shared_ptr<const Batch>;  // its requests and their answers share it

  void Pump();
  // The next request: edits of different rows, in their order.
  [[nodiscard]] Batch TakeNext() REQUIRES(mutex_);
  void Send(Batch batch);
  void SendOne(rpc::Channel& channel, const Sent& batch);
  void SendMany(rpc::Channel& channel, const Sent& batch);
  // `processed`: true for each edit whose condition held.
  void Take(const Sent& batch, const std::vector<Result<bool>>& processed);
  // Reads the rows of edits whose conditions did not hold, to find out why.
  void Look(const Sent& unmet);
  void Leave();

  const EditLimits limits_;
  const Millis timeout_;
  const Epoch epoch_;
  const Hooks hooks_;
  Mutex mutex_;
  std::deque<Waiting> line_ GUARDED_BY(mutex_);
  std::size_t in_flight_ GUARDED_BY(mutex_) = 0;
  bool pumping_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::master
