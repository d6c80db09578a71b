// The operator's access to a host of the procedure framework: the verbs of `ratchet`, the page, the metrics. Any host
// can mount it; `ratchet --master HOST:PORT procedures` and the like reach it then (docs/writing-procedures.md).
//
//   host::Endpoint endpoint({executor, store, registry, clock}, {.name = "site_server", .port = 7000, .info_port =
//   7010}); if (const Status listens = endpoint.Start(); !listens.ok()) ...
//
// Order of life: Executor::Recover -> construct -> Start -> ... -> Stop -> Executor::Stop. Threads: those of the two
// servers; a step never waits for a server thread. Bounds: those of common/rpc and common/http.
//
// Any client that reaches the port may act: there is no login. The endpoint listens on loopback unless `host` is set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/result.h"
#include "common/metrics/exposition.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/store.h"

namespace ratchet::host {

// All of these outlive the endpoint.
struct EndpointDeps {
  procedure::Executor& executor;
  procedure::ProcedureStore& store;
  const procedure::ProcedureRegistry& registry;
  const Clock& clock;
};

struct EndpointOptions {
  std::string name = "host";                             // name of the program; shown, and a label of its metrics
  std::string version = "0";                             // version of the program
  std::string host = "127.0.0.1";                        // address on which both servers listen
  std::uint16_t port = 0;                                // port of the verbs; 0: any free one
  std::int64_t info_port = 0;                            // port of page and metrics; 0: any free one, -1: none
  std::string info_names{};                              // further names for which the page answers; *: every name
  std::function<std::vector<SettingRow>()> settings{};   // no secrets; empty: none
  std::function<void(metrics::MetricsText&)> metrics{};  // adds the program's own metrics; runs on a thread of the page
};

// One owner; every member may be called from any thread between Start and Stop.
class Endpoint {
 public:
  Endpoint(const EndpointDeps& deps, EndpointOptions options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // kUnavailable when the port of the verbs is in use. If the port of the page is in use, that is logged and there is
  // no page.
  [[nodiscard]] Status Start();
  // Returns when no request is in progress; verbs whose commit is pending get no answer. Idempotent.
  void Stop();
  [[nodiscard]] std::uint16_t port() const;      // after Start
  [[nodiscard]] std::int64_t info_port() const;  // valid after Start; -1: there is no page

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ratchet::host
