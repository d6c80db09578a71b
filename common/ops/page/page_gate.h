// PageGate: who reads the page of a process, and whether that reader may see it.
//
// The reader is the user of a login (Basic or Bearer), or of the client's certificate (--tls-user-from). Every
// reader passes as long as no logins are set (--info-logins) and rights are not enforced. S155 (the page asks its
// reader): with logins, a reader without one is refused; with enforced rights, the views and the metrics need R or A
// everywhere. Answers of views come from a connection of a member, so the gate is the only check between a reader and
// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/config.h"
#include "common/base/result.h"
#include "common/http/http_gate.h"
#include "common/identity/page_logins.h"
#include "common/rights/judge.h"

namespace ratchet::page {

struct PageAccess {
  std::string tls = "off";
  identity::PageLoginOptions logins;

  // `access` must outlive the parsing; in a program with reloads, the program.
  static void Bind(Settings& settings, PageAccess& access);
  // At the start of a program, after its TLS. kInvalidArgument: HTTPS is wanted, and there is no certificate.
  [[nodiscard]] static Status Begin(Settings& settings, const PageAccess& access);
};

class PageGate final : public http::HttpGate {
 public:
  // `judge` outlives the gate.
  PageGate(const rights::Judge& judge, std::shared_ptr<identity::PageLogins> logins)
      : judge_(judge), logins_(std::move(logins)) {}

  [[nodiscard]] bool IsQuick(const http::HttpRequest& request) const override;
  [[nodiscard]] std::optional<http::HttpResponse> Admit(const http::HttpRequest& request) override;
  // Returns false if every reader that reaches the page sees all of it.
  [[nodiscard]] bool asks() const { return judge_.enforces() || (logins_ != nullptr && logins_->wanted()); }

 private:
  struct Reader {
    std::string user;
    std::optional<http::HttpResponse> refusal;
  };
  [[nodiscard]] Reader ByLogin(const http::HttpRequest& request, const std::string& field);
  [[nodiscard]] Reader ByCertificate(const http::HttpRequest& request) const;

  const rights::Judge& judge_;
  const std::shared_ptr<identity::PageLogins> logins_;  // null: none
};

}  // namespace ratchet::page
