#include "master/page/refused_page.h"

#include "common/base/json_writer.h"
#include "common/base/log.h"
#include "common/ops/page/static_files.h"

namespace ratchet::master {
namespace {

std::string AnswerOf(const std::string& why) {
  JsonWriter json;
  json.BeginObject().Add("error", "MASTER_REFUSED").Add("message", why).EndObject();
  return json.text() + "\n";
}

}  // namespace

RefusedPage::RefusedPage(const page::InfoPageOptions& options, const std::string& why)
    : answer_(AnswerOf(why)), page_(options) {
  page::AddStaticFiles(page_);
  page_.Handle("/api/v1/", http::Lane::kFast,
               [this](const http::HttpRequest&) { return http::HttpResponse::Json(503, answer_); });
  page_.Start();
}

void RefusedPage::Await(Millis stay, ExitLatch& exit) const {
  if (port() == page::kNoPage) return;
  RATCHET_LOG(kInfo, "Start: refused; the page shows the cause for {} ms, then this process ends", stay.count());
  static_cast<void>(exit.WaitFor(stay));
}

}  // namespace ratchet::master
