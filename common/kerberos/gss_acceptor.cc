#include "common/kerberos/gss_acceptor.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "common/base/exception_names.h"
#include "common/base/small_file.h"

namespace ratchet::kerberos {
namespace {

constexpr std::size_t kMostKeytabBytes = 1u << 20;

// The types of keys with AES, by their number in Kerberos (RFC 3962, RFC 8009).
constexpr std::array<unsigned, 4> kAes{17, 18, 19, 20};

gss_buffer_desc BufferOf(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};  // NOLINT(cppcoreguidelines-pro-type-const-cast): C interface
}

// A buffer that the library has filled.
class Filled {
 public:
  Filled() = default;
  ~Filled() {
    OM_uint32 minor = 0;
    gss_release_buffer(&minor, &buffer_);
  }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;
  [[nodiscard]] gss_buffer_t get() { return &buffer_; }
  [[nodiscard]] std::string Text() const {
    return buffer_.length == 0 ? std::string() : std::string(static_cast<const char*>(buffer_.value), buffer_.length);
  }

 private:
  gss_buffer_desc buffer_ = GSS_C_EMPTY_BUFFER;
};

class Name {
 public:
  Name() = default;
  ~Name() {
    OM_uint32 minor = 0;
    gss_release_name(&minor, &name_);
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  [[nodiscard]] gss_name_t get() const { return name_; }
  [[nodiscard]] gss_name_t* out() { return &name_; }

 private:
  gss_name_t name_ = GSS_C_NO_NAME;
};

std::string TextOf(OM_uint32 code, int kind) {
  std::string text;
  OM_uint32 more = 0;
  do {
    OM_uint32 minor = 0;
    Filled part;
    if (GSS_ERROR(gss_display_status(&minor, code, kind, gss_mech_krb5, &more, part.get()))) break;
    text += (text.empty() ? "" : "; ") + part.Text();
  } while (more != 0);
  return text;
}

std::string Why(OM_uint32 major, OM_uint32 minor) {
  std::string text = TextOf(major, GSS_C_GSS_CODE);
  if (minor != 0) text += ": " + TextOf(minor, GSS_C_MECH_CODE);
  return text;
}

Error Failed(OM_uint32 major, OM_uint32 minor) {
  return {Code::kInvalidArgument, Why(major, minor), std::string(exception::kSasl)};
}

class GssContext final : public rpc::SecurityContext {
 public:
  explicit GssContext(std::shared_ptr<const GssAcceptor::Credentials> credentials)
      : credentials_(std::move(credentials)) {}
  ~GssContext() override {
    OM_uint32 minor = 0;
    gss_delete_sec_context(&minor, &context_, GSS_C_NO_BUFFER);
  }
  GssContext(const GssContext&) = delete;
  GssContext& operator=(const GssContext&) = delete;

  [[nodiscard]] Result<Step> Accept(std::string_view token) override;
  [[nodiscard]] Result<rpc::LoginFacts> Facts() override;
  [[nodiscard]] Result<std::string> Wrap(std::string_view plain, bool encrypt) override;
  [[nodiscard]] Result<Plain> Unwrap(std::string_view wrapped) override;
  [[nodiscard]] std::size_t PlainLimit(std::size_t most, bool encrypt) override;

 private:
  [[nodiscard]] bool HasAesKey() const;

  const std::shared_ptr<const GssAcceptor::Credentials> credentials_;
  gss_ctx_id_t context_ = GSS_C_NO_CONTEXT;
  OM_uint32 flags_ = 0;
  OM_uint32 lives_s_ = 0;
  std::string principal_;
};

}  // namespace

struct GssAcceptor::Credentials {
  Credentials() = default;
  ~Credentials() {
    OM_uint32 minor = 0;
    gss_release_cred(&minor, &handle);
  }
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  gss_cred_id_t handle = GSS_C_NO_CREDENTIAL;
};

namespace {

Result<rpc::SecurityContext::Step> GssContext::Accept(std::string_view token) {
  OM_uint32 minor = 0;
  gss_buffer_desc input = BufferOf(token);
  Filled output;
  Name client;
  gss_OID mechanism = GSS_C_NO_OID;
  const OM_uint32 major =
      gss_accept_sec_context(&minor, &context_, credentials_->handle, &input, GSS_C_NO_CHANNEL_BINDINGS, client.out(),
                             &mechanism, output.get(), &flags_, &lives_s_, /*delegated_cred_handle=*/nullptr);
  if (GSS_ERROR(major)) return Failed(major, minor);
  Step step{output.Text(), (major & GSS_S_CONTINUE_NEEDED) == 0};
  if (!step.complete) return step;
  if (mechanism == GSS_C_NO_OID || gss_oid_equal(mechanism, gss_mech_krb5) == 0)
    return Error(Code::kInvalidArgument, "another mechanism than Kerberos", std::string(exception::kSasl));
  Filled shown;
  const OM_uint32 named = gss_display_name(&minor, client.get(), shown.get(), nullptr);
  if (GSS_ERROR(named)) return Failed(named, minor);
  principal_ = shown.Text();
  return step;
}

// The library names the type of the key by an object identifier whose last number is the type.
bool GssContext::HasAesKey() const {
  OM_uint32 minor = 0;
  gss_buffer_set_t found = GSS_C_NO_BUFFER_SET;
  const OM_uint32 major = gss_inquire_sec_context_by_oid(&minor, context_, GSS_C_INQ_SSPI_SESSION_KEY, &found);
  bool aes = false;
  if (!GSS_ERROR(major) && found != GSS_C_NO_BUFFER_SET && found->count >= 2) {
    const gss_buffer_desc& type = found->elements[1];
    const auto* const bytes = static_cast<const unsigned char*>(type.value);
    // Types below 128 have one byte.
    const unsigned last = type.length < 2 || (bytes[type.length - 2] & 0x80U) != 0 ? 0 : bytes[type.length - 1];
    for (const unsigned each : kAes) aes = aes || each == last;
  }
  gss_release_buffer_set(&minor, &found);
  return aes;
}

Result<rpc::LoginFacts> GssContext::Facts() {
  rpc::LoginFacts facts;
  const auto has = [this](OM_uint32 flag) { return (flags_ & flag) != 0; };
  facts.principal = principal_;
  facts.mutual = has(GSS_C_MUTUAL_FLAG);
  facts.integrity = has(GSS_C_INTEG_FLAG);
  facts.confidentiality = has(GSS_C_CONF_FLAG);
  facts.sequence = has(GSS_C_SEQUENCE_FLAG) && has(GSS_C_REPLAY_FLAG);
  facts.anonymous = has(GSS_C_ANON_FLAG);
  facts.own_key = HasAesKey();
  facts.lives_ms = std::int64_t{lives_s_} * 1'000;
  return facts;
}

Result<std::string> GssContext::Wrap(std::string_view plain, bool encrypt) {
  OM_uint32 minor = 0;
  gss_buffer_desc input = BufferOf(plain);
  Filled output;
  int encrypted = 0;
  const OM_uint32 major =
      gss_wrap(&minor, context_, encrypt ? 1 : 0, GSS_C_QOP_DEFAULT, &input, &encrypted, output.get());
  if (major != GSS_S_COMPLETE) return Failed(major, minor);
  if (encrypt && encrypted == 0)
    return Error(Code::kInternal, "the library has not encrypted", std::string(exception::kSasl));
  return output.Text();
}

// A unit that is repeated, old, or not the next one has a bit besides GSS_S_COMPLETE.
Result<rpc::SecurityContext::Plain> GssContext::Unwrap(std::string_view wrapped) {
  OM_uint32 minor = 0;
  gss_buffer_desc input = BufferOf(wrapped);
  Filled output;
  int encrypted = 0;
  gss_qop_t quality = GSS_C_QOP_DEFAULT;
  const OM_uint32 major = gss_unwrap(&minor, context_, &input, output.get(), &encrypted, &quality);
  if (major != GSS_S_COMPLETE) return Failed(major, minor);
  return Plain{output.Text(), encrypted != 0};
}

std::size_t GssContext::PlainLimit(std::size_t most, bool encrypt) {
  OM_uint32 minor = 0;
  OM_uint32 limit = 0;
  const OM_uint32 major =
      gss_wrap_size_limit(&minor, context_, encrypt ? 1 : 0, GSS_C_QOP_DEFAULT, static_cast<OM_uint32>(most), &limit);
  return GSS_ERROR(major) ? 0 : limit;
}

}  // namespace

Result<std::shared_ptr<GssAcceptor>> GssAcceptor::Open(const std::string& keytab, std::string principal,
                                                       std::uint8_t protections) {
  // The library reads it; this says first why it cannot, or should not.
  if (const auto file = ReadSmallFile(keytab, kMostKeytabBytes, SecretFile()); !file.ok())
    return Error(Code::kInvalidArgument, "--kerberos-keytab: " + file.error().message());
  OM_uint32 minor = 0;
  gss_buffer_desc text = BufferOf(principal);
  Name own;
  OM_uint32 major = gss_import_name(&minor, &text, GSS_KRB5_NT_PRINCIPAL_NAME, own.out());
  if (GSS_ERROR(major))
    return Error(Code::kInvalidArgument, fmt::format("--kerberos-principal: {}: {}", principal, Why(major, minor)));
  const std::string file = "FILE:" + keytab;
  std::array<gss_key_value_element_desc, 2> elements{{{"keytab", file.c_str()}, {"rcache", "none:"}}};
  const gss_key_value_set_desc store{static_cast<OM_uint32>(elements.size()), elements.data()};
  gss_OID_set_desc mechanisms{1, gss_mech_krb5};
  auto credentials = std::make_shared<Credentials>();
  major = gss_acquire_cred_from(&minor, own.get(), GSS_C_INDEFINITE, &mechanisms, GSS_C_ACCEPT, &store,
                                &credentials->handle, nullptr, nullptr);
  if (GSS_ERROR(major))
    return Error(Code::kInvalidArgument, fmt::format("--kerberos-keytab: {}: no usable key of {}: {}; compare `klist "
                                                     "-kt {}` with --kerberos-principal",
                                                     keytab, principal, Why(major, minor), keytab));
  return std::shared_ptr<GssAcceptor>(new GssAcceptor(std::move(credentials), std::move(principal), protections));
}

std::unique_ptr<rpc::SecurityContext> GssAcceptor::Begin() const { return std::make_unique<GssContext>(credentials_); }

}  // namespace ratchet::kerberos
