internal import CLibwebsockets
internal import COpenSSL

/// lws's own data inside OpenSSL's objects: where it lies is decided once a process, here.
///
/// lws would decide it anew for each context that is told to (`LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT`). Handshakes that are under
/// way on other threads in that moment then look in the wrong place, and fail as if the certificate were not trusted. So no context
/// of ours is told to.
enum TLSLibrary {
    /// Done when this is first asked for, by whoever asks; others wait.
    static let isReady: Bool = {
        var info = unsafe lws_context_creation_info()
        unsafe info.port = CONTEXT_PORT_NO_LISTEN
        unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        guard let context = unsafe lws_create_context(&info) else { return false }
        unsafe lws_context_destroy(context)
        return true
    }()

    /// Whether a PEM file holds certificates of authorities that OpenSSL can use; lws passes over those that it cannot.
    ///
    /// - Throws: `TLSFileError`.
    static func check(authorityPath path: String) throws(TLSFileError) {
        guard let store = unsafe X509_STORE_new() else { throw TLSFileError(path: path, reason: "no memory") }
        defer { unsafe X509_STORE_free(store) }
        ERR_clear_error()
        guard unsafe X509_STORE_load_file(store, path) == 1 else {
            let code = ERR_get_error()
            ERR_clear_error()
            throw TLSFileError(
                path: path, reason: unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "not a PEM file")
        }
    }
}
