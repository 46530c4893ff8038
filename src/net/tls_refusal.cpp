#include "net/tls_refusal.hpp"

#include <array>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace net {
namespace {

// Arguments of the sentences: 0 the peer, 1 this side's certificate, 2 the peer's role, 3 this
// side's role.
struct Refusal {
    int reason;
    std::string_view sentence;
};
constexpr std::array refusals{
    // This side refuses the peer.
    Refusal{SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "{0} is refused: it showed no certificate."},
    Refusal{SSL_R_UNSUPPORTED_PROTOCOL, "{0} is refused: it does not support TLS 1.3."},
    Refusal{
        SSL_R_WRONG_VERSION_NUMBER,
        "{0} does not speak TLS: is it another program, or the lesson with the plain exchange?"},
    Refusal{SSL_R_HTTP_REQUEST, "{0} is refused: it speaks HTTP instead of TLS."},
    Refusal{SSL_R_UNEXPECTED_EOF_WHILE_READING,
            "{0} closed the connection during the exchange. Its log has the reason."},
    // The peer refuses this side: alerts (RFC 8446, 6.2).
    Refusal{SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
            "the {2} {0} refuses this {3}: it requires a certificate."},
    Refusal{SSL_R_TLSV1_ALERT_UNKNOWN_CA,
            "the {2} {0} refuses this {3}: {1} was not issued by the CA that it trusts. Both sides "
            "need certificates from the same `make certs`."},
    Refusal{
        SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
        "the {2} {0} refuses this {3}: by its clock, {1} has expired, or is not valid yet. `make "
        "certs` renews the lab's."},
    Refusal{SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
            "the {2} {0} refuses this {3}: {1} is not the expected one, for example because of its "
            "name. Its log has the details."},
    Refusal{SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
            "the {2} {0} refuses this {3}: {1} is not valid for a {3}."},
    Refusal{SSL_R_TLSV1_ALERT_PROTOCOL_VERSION,
            "the {2} {0} does not support TLS 1.3, which this {3} requires."},
    Refusal{SSL_R_TLSV1_ALERT_DECRYPT_ERROR,
            "the {2} {0} refuses this {3}: {1} was not issued by the CA that it trusts, or the key "
            "does not belong to it."},
};

constexpr std::string_view name_of(TlsRole role) {
    return role == TlsRole::Client ? "client" : "server";
}
constexpr std::string_view peer_of(TlsRole role) {
    return role == TlsRole::Client ? "server" : "client";
}

std::string text_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1)
        return "at an invalid time";
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", parts);
}

// Returns the DNS names of a certificate: "rdma-server, rdma-server.example".
std::string names_in(const X509* certificate) {
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
        GENERAL_NAMES_free);
    std::string all;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_DNS)
            continue;
        const ASN1_IA5STRING* text = name->d.dNSName;
        all += all.empty() ? "" : ", ";
        all.append(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                   static_cast<std::size_t>(ASN1_STRING_length(text)));
    }
    return all.empty() ? "no name" : all;
}

}  // namespace

std::string objection_to(X509_STORE_CTX* store, const TlsContext& context) {
    const X509* certificate = X509_STORE_CTX_get_current_cert(store);
    const int error = X509_STORE_CTX_get_error(store);
    switch (error) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return fmt::format("its certificate expired {}.",
                               text_of(X509_get0_notAfter(certificate)));
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return fmt::format("its certificate is not valid before {}. Is a clock wrong?",
                               text_of(X509_get0_notBefore(certificate)));
        case X509_V_ERR_HOSTNAME_MISMATCH:
            return fmt::format("its certificate is for {}, and {} is expected.",
                               names_in(certificate), context.peer_name());
        case X509_V_ERR_INVALID_PURPOSE:
            return fmt::format("its certificate is not valid for a {}.", peer_of(context.role()));
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return fmt::format(
                "its certificate was not issued by the CA in {}. Both sides need certificates from "
                "the same `make certs`.",
                context.files().ca);
        default:
            return fmt::format("its certificate is not valid: {}.",
                               X509_verify_cert_error_string(error));
    }
}

std::string sentence_of(unsigned long error, int system_error, const std::string& objection,
                        const std::string& peer, const TlsContext& context) {
    if (error == 0)
        return fmt::format("the connection to {} broke during the exchange: {}.", peer,
                           std::strerror(system_error));
    const int reason = ERR_GET_REASON(error);
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && !objection.empty())
        return fmt::format("the {} {} is refused: {}", peer_of(context.role()), peer, objection);
    for (const Refusal& row : refusals)
        if (row.reason == reason)
            return fmt::format(fmt::runtime(row.sentence), peer, context.files().certificate,
                               peer_of(context.role()), name_of(context.role()));
    const char* words = ERR_reason_error_string(error);
    return fmt::format("TLS with {} failed: {}.", peer,
                       words != nullptr ? words : "for an unknown reason");
}

}  // namespace net
