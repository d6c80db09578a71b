// The dispatcher's settings. The names are those of HBase; the hbase.* keys are accepted as aliases.
#pragma once

#include <cstddef>

#include "common/base/backoff.h"
#include "common/base/clock.h"

namespace ratchet::master {

struct DispatchOptions {
  // remote.dispatcher.threads: requests in flight over all servers, 1 to 10,000. One more is reserved for urgent orders
  // (hbase:meta, crash handling), so that they leave when every other slot hangs on servers that do not answer.
  std::size_t max_in_flight = 128;
  // remote.dispatcher.delay_ms: how long the first order for an idle server waits for others, 0 to 10,000. HBase's 150
  // ms have little benefit here, because orders gather anyway while a request is in flight.
  Millis delay{0};
  // remote.dispatcher.max_queue_size: with more queued orders than this, the delay ends early. 1 to 100,000.
  std::size_t max_queue_size = 32;
  // remote.dispatcher.max_batch_orders: maximum number of orders in one request, 1 to 100,000. The rest follows in the
  // next one, urgent orders first.
  std::size_t max_batch_orders = 1'000;
  // remote.dispatcher.max_batch_bytes: approximate maximum size of one request, 64 KiB to 64 MiB; a single order may
  // exceed it.
  std::size_t max_batch_bytes = 4U << 20;
  // regionserver.rpc.startup_wait_ms: how long "server is not running yet" is accepted as an answer, 0 to 1 h.
  Millis startup_wait{60'000};
  // remote.dispatcher.expire_after_ms: a server whose requests have all failed for this long is expired.
  Millis expire_after{15'000};
  // remote.dispatcher.rpc_timeout_ms: limit of one request. Repeating it is harmless (S19: executed orders are
  // remembered).
  Millis rpc_timeout{5'000};
  // Delay after the n-th failure in a row.
  BackoffPolicy backoff{Millis{50}, Millis{2'000}, 2.0, 0.2};
  // Delay after "not running yet".
  Millis startup_poll{100};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddInt({"remote-dispatcher-threads",
                     "Maximum number of concurrent requests to region servers.",
                     {"remote.dispatcher.threads", "hbase.procedure.remote.dispatcher.threadpool.size"}},
                    &max_in_flight, {1, 10'000});
    settings.AddMillis({"remote-dispatcher-delay-ms",
                        "How long the first order for an idle server waits for others.",
                        {"remote.dispatcher.delay_ms", "hbase.procedure.remote.dispatcher.delay.msec"}},
                       &delay, Millis(0), Millis(10'000));
    settings.AddInt({"remote-dispatcher-max-queue-size",
                     "Number of waiting orders above which the delay ends early.",
                     {"remote.dispatcher.max_queue_size", "hbase.procedure.remote.dispatcher.max.queue.size"}},
                    &max_queue_size, {1, 100'000});
    settings.AddInt(
        {"remote-dispatcher-max-batch-orders",
         "Maximum number of orders in one request to a region server; the rest follows in the next request.",
         {"remote.dispatcher.max_batch_orders"}},
        &max_batch_orders, {1, 100'000});
    settings.AddBytes({"remote-dispatcher-max-batch-bytes",
                       "Approximate maximum size of one request with orders; the rest follows in the next request.",
                       {"remote.dispatcher.max_batch_bytes"}},
                      &max_batch_bytes, 64u << 10, 64u << 20);
    settings.AddMillis({"regionserver-rpc-startup-wait-ms",
                        "How long a region server may report that it is still starting.",
                        {"regionserver.rpc.startup_wait_ms", "hbase.regionserver.rpc.startup.waittime"}},
                       &startup_wait, Millis(0), Millis(3'600'000));
    settings.AddMillis(
        {"remote-dispatcher-expire-after-ms", "Time after which a server that accepts no order is expired.", {}},
        &expire_after, Millis(100), Millis(3'600'000));
    settings.AddMillis(
        {"remote-dispatcher-rpc-timeout-ms", "Time-out of one request with orders; the request is repeated.", {}},
        &rpc_timeout, Millis(50), Millis(600'000));
  }
};

}  // namespace ratchet::master
