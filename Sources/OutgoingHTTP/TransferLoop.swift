internal import CCurl
internal import Foundation
internal import Synchronization

/// Performs the transfers of the process on one thread, with libcurl.
@safe
final class TransferLoop: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        /// There is room for bytes again.
        case resume(Transfer)
        case cancel(Transfer)
    }

    static let shared = TransferLoop()

    /// Further requests to the same server wait.
    private static let hostConnectionsMax = 256

    private let commands = Mutex<[Command]>([])
    /// `curl_multi_wakeup` may be called by any thread, everything else by the loop's only.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    private init() {
        precondition(curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, "libcurl cannot be initialized")
        guard let multi = unsafe curl_multi_init() else { preconditionFailure("libcurl is out of memory") }
        unsafe patchbay_curl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, Self.hostConnectionsMax)
        unsafe self.multi = multi
        let thread = Thread { [self] in run() }
        thread.name = "outgoing-http"
        thread.start()
    }

    func post(_ command: Command) {
        commands.withLock { $0.append(command) }
        _ = unsafe curl_multi_wakeup(multi)
    }

    private func run() {
        // A connection that the server has closed is an error of libcurl, not a signal.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

        var handles: [ObjectIdentifier: TransferHandle] = [:]
        while true {
            for command in commands.withLock({ commands in exchange(&commands, with: []) }) {
                switch command {
                case .start(let transfer):
                    guard let handle = TransferHandle(transfer), unsafe curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
                        transfer.finish(.failure(.connection("\(transfer.url.host): libcurl does not accept the request")))
                        continue
                    }
                    handles[ObjectIdentifier(transfer)] = handle
                case .resume(let transfer):
                    if let handle = handles[ObjectIdentifier(transfer)] { unsafe curl_easy_pause(handle.easy, CURLPAUSE_CONT) }
                case .cancel(let transfer):
                    guard let handle = handles.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
                    unsafe curl_multi_remove_handle(multi, handle.easy)
                }
            }
            var count: Int32 = 0
            unsafe curl_multi_perform(multi, &count)
            while let message = unsafe curl_multi_info_read(multi, &count) {
                // The message is valid only as long as its handle is with libcurl.
                let (easy, code) = unsafe (message.pointee.easy_handle, message.pointee.data.result)
                let transfer = unsafe Unmanaged<Transfer>.fromOpaque(patchbay_curl_private(easy)).takeUnretainedValue()
                unsafe curl_multi_remove_handle(multi, easy)
                handles.removeValue(forKey: ObjectIdentifier(transfer))?.finish(code)
            }
            // Returns early for sockets, libcurl's own timers and `post`.
            if unsafe curl_multi_poll(multi, nil, 0, 60_000, nil) != CURLM_OK { usleep(10_000) }
        }
    }
}

/// One request with libcurl. Used on the loop's thread only.
@safe
private final class TransferHandle {
    let easy: UnsafeMutableRawPointer
    private let transfer: Transfer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var destination: UnsafeMutablePointer<curl_slist>?
    /// The first option that libcurl did not accept.
    private var fault = CURLE_OK

    private static let connectSecondsMax = 10
    /// After which a connection is not used again.
    private static let idleSecondsMax = 60
    /// OpenSSL finds an authority's certificate there by its name. In Debian and Ubuntu.
    private static let systemAuthorities = "/etc/ssl/certs"

    /// Nil if the request cannot be sent.
    init?(_ transfer: Transfer) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe self.easy = easy
        self.transfer = transfer
        let this = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        unsafe set(CURLOPT_PRIVATE, this)
        set(CURLOPT_URL, transfer.request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_PATH_AS_IS, 1)
        // An empty one also overrides the environment.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOSIGNAL, 1)
        // Do not wait for the thread that looks up a host if the request ends before: it ends by itself.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_CONNECTTIMEOUT, Self.connectSecondsMax)
        if let timeout = transfer.timeout { set(CURLOPT_TIMEOUT_MS, max(1, Int(timeout / .milliseconds(1)))) }
        setTLS()
        set(CURLOPT_MAXAGE_CONN, Self.idleSecondsMax)
        switch transfer.connections {
        case .single:
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
            add("connection: close")
        case .shared where transfer.url.isEncrypted:
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            // Wait for the handshake of a connection that is being opened: it may choose HTTP/2.
            set(CURLOPT_PIPEWAIT, 1)
        case .shared:
            set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        }
        setRequest()
        unsafe set(CURLOPT_HEADERDATA, this)
        unsafe set(CURLOPT_WRITEDATA, this)
        unsafe check(
            patchbay_curl_set_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
                let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
                let line = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
                return unsafe transfer.receive(headerLine: line) ? count : 0
            })
        unsafe check(
            patchbay_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
                let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
                return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : Int(CURL_WRITEFUNC_PAUSE)
            })
        guard fault == CURLE_OK else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(headers)
        unsafe curl_slist_free_all(destination)
    }

    private func setTLS() {
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let authority = transfer.authority {
            set(CURLOPT_CAINFO, authority)
            set(CURLOPT_CAPATH, Self.systemAuthorities)
        } else {
            // libcurl keeps the system's file of authorities in memory only if it is all that is trusted.
            unsafe set(CURLOPT_CAPATH, nil as UnsafeRawPointer?)
        }
    }

    private func setRequest() {
        let (method, body) = (transfer.request.method, transfer.request.body)
        if method == "HEAD" { set(CURLOPT_NOBODY, 1) } else { setBody(body) }
        if method != "POST" { set(CURLOPT_CUSTOMREQUEST, method) }
        if let address = transfer.request.connectTo {
            unsafe destination = unsafe curl_slist_append(nil, "::\(address)")
            unsafe set(CURLOPT_CONNECT_TO, destination)
        }
        let names = transfer.request.headers.map(\.name)
        // Fields that libcurl would add.
        for name in ["accept", "content-type", "expect"] where !names.contains(name) { add("\(name):") }
        for header in transfer.request.headers { add(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)") }
        unsafe set(CURLOPT_HTTPHEADER, headers)
    }

    private func setBody(_ body: [UInt8]) {
        set(CURLOPT_POST, 1)
        set(CURLOPT_POSTFIELDSIZE, body.count)
        if body.isEmpty {
            // Without a pointer, libcurl would read the body from the standard input.
            set(CURLOPT_COPYPOSTFIELDS, "")
        } else {
            unsafe body.withUnsafeBytes { bytes in unsafe set(CURLOPT_COPYPOSTFIELDS, bytes.baseAddress) }
        }
    }

    private func add(_ line: String) {
        // libcurl would send further lines as further fields.
        guard !line.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D || $0 == 0 }), let longer = unsafe curl_slist_append(headers, line)
        else {
            fault = CURLE_BAD_FUNCTION_ARGUMENT
            return
        }
        unsafe headers = longer
    }

    /// libcurl's constants are of different types in different releases: enumerators in some, macros in others.
    private func set(_ option: CURLoption, _ value: some BinaryInteger) { unsafe check(patchbay_curl_set_number(easy, option, Int(value))) }
    private func set(_ option: CURLoption, _ value: String) { unsafe check(patchbay_curl_set_pointer(easy, option, value)) }
    private func set(_ option: CURLoption, _ value: UnsafeRawPointer?) { unsafe check(patchbay_curl_set_pointer(easy, option, value)) }
    private func check(_ code: CURLcode) { if fault == CURLE_OK { fault = code } }

    func finish(_ code: CURLcode) {
        transfer.finish(code == CURLE_OK ? .success(()) : .failure(error(code)))
    }

    private func error(_ code: CURLcode) -> OutgoingError {
        let host = transfer.url.host
        return switch code {
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_COULDNT_RESOLVE_HOST: .unknownHost(host)
        case CURLE_COULDNT_CONNECT: .refused(host)
        case CURLE_SSL_CACERT_BADFILE where transfer.authority != nil: .trust(path: transfer.authority ?? "")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER: .untrusted(host)
        case CURLE_WRITE_ERROR: .connection("\(host): the head of the response is too long")
        default: .connection("\(host): \(unsafe String(cString: curl_easy_strerror(code)))")
        }
    }
}
