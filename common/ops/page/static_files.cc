#include "common/ops/page/static_files.h"

#include <memory>

namespace ratchet::page {

std::string TypeOfFile(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

void AddStaticFiles(InfoPage& page) {
  for (const StaticFile& file : StaticFiles()) {
    const std::string path = file.name == "index.html" ? "/" : "/page/" + std::string(file.name);
    page.Handle(path, http::Lane::kFast,
                [type = TypeOfFile(file.name),
                 body = std::make_shared<const std::string>(file.content)](const http::HttpRequest&) {
                  http::HttpResponse response;
                  response.type = type;
                  response.body = body;
                  return response;
                });
  }
}

}  // namespace ratchet::page
