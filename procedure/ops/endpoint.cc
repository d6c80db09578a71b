#include "procedure/ops/endpoint.h"

#include <utility>

#include <fmt/core.h>

#include "common/metrics/process_sample.h"
#include "common/ops/api/api_views.h"
#include "common/ops/page/info_page.h"
#include "common/ops/page/shared_metrics.h"
#include "common/ops/page/static_files.h"
#include "common/rpc/server.h"
#include "procedure/ops/held_up.h"
#include "procedure/ops/host_service.h"
#include "procedure/ops/procedure_metrics.h"
#include "procedure/ops/step_tables.h"

namespace ratchet::host {
namespace {

// An operator sends few requests: small pools and small bounds.
rpc::ServerOptions RpcOptions(const EndpointOptions& options) {
  rpc::ServerOptions rpc;
  rpc.name = "verbs";
  rpc.host = options.host;
  rpc.port = options.port;
  rpc.queues.fill({1, 100});
  rpc.queues[static_cast<std::size_t>(rpc::QueueClass::kAdmin)] = {4, 1000};
  rpc.max_frame_bytes = 1U << 20;
  rpc.max_call_bytes = 64U << 20;
  rpc.max_input_bytes = 64U << 20;
  rpc.max_connections = 1000;
  return rpc;
}

}  // namespace

struct Endpoint::Parts {
  Parts(const EndpointDeps& deps, EndpointOptions given)
      : options(std::move(given)),
        env{deps.executor, deps.store,       deps.registry,          deps.clock, options.name, options.version,
            options.host,  deps.clock.Now(), deps.clock.WallMillis()},
        rpc(RpcOptions(options)),
        views(ViewDeps()),
        page({options.host, options.info_port, options.info_names}) {
    rpc.Add(MakeHostService(env));
    rpc.Add(MakeResultService(env));
    page::AddStaticFiles(page);
    views.AddTo(page);
    page.Handle("/metrics", http::Lane::kFast, [this](const http::HttpRequest&) {
      return http::HttpResponse::Of(200, std::string(metrics::kContentType), Metrics());
    });
  }

  api::ApiDeps ViewDeps() {
    api::ApiDeps deps{env.clock};
    deps.self = [this] { return env.Self().ToString(); };
    deps.role = [] { return std::string("host"); };
    deps.own_address = [this] { return env.Self().Address(); };
    deps.settings = options.settings;
    deps.steps_json = [this] { return StepTablesJson(env.registry); };
    deps.marks = [this] { return HeldUp(env.executor, env.store); };
    deps.regions = false;
    return deps;
  }

  std::string Metrics() {
    metrics::MetricsText text;
    page::AddBuild(text, options.name, options.version);
    page::AddRpc(text, rpc);
    page::AddStorage(text);
    page::AddHttp(text, page.stats());
    metrics::AddProcess(text);
    AddProcedures(text, env.executor, kStuckAttempts);
    AddStore(text, env.store.metrics(), env.store.Admit().ok());
    if (options.metrics) options.metrics(text);
    return text.Take();
  }

  const EndpointOptions options;
  HostEnv env;
  rpc::RpcServer rpc;
  api::ApiViews views;
  page::InfoPage page;
};

Endpoint::Endpoint(const EndpointDeps& deps, EndpointOptions options)
    : parts_(std::make_unique<Parts>(deps, std::move(options))) {}

Endpoint::~Endpoint() { Stop(); }

Status Endpoint::Start() {
  // Its own address must be known before the first request arrives.
  if (parts_->options.port != 0) parts_->env.port.store(parts_->options.port);
  RATCHET_TRY(parts_->rpc.Start());
  parts_->env.port.store(parts_->rpc.port());
  parts_->page.Start();
  parts_->env.info_port.store(parts_->page.port());
  return Ok();
}

void Endpoint::Stop() {
  parts_->views.Close();
  parts_->page.Stop();
  parts_->rpc.Stop();
}

std::uint16_t Endpoint::port() const { return parts_->env.port.load(); }
std::int64_t Endpoint::info_port() const { return parts_->page.port(); }

}  // namespace ratchet::host
