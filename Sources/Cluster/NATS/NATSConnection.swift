internal import CNATS
internal import Synchronization
internal import Wire

/// One connection to one server, with its subscriptions. It does not reconnect: another one takes its place.
///
/// `@unchecked Sendable`: its pointers are used on its broker's queue only; callbacks of the library do not touch them.
@safe
final class NATSConnection: @unchecked Sendable {
    /// Called on threads of the library: one thread for each subscription, and one for `closed` of all connections.
    struct Handlers: Sendable {
        var received: @Sendable (_ message: [UInt8], _ subject: String) -> Void
        /// Gets nil if the request had no responders.
        var answered: @Sendable (_ request: UInt64, _ answer: [UInt8]?) -> Void
        var closed: @Sendable () -> Void
    }

    /// A message, or a request whose answer goes to the inbox.
    struct Outgoing: Sendable {
        var subject: String
        var payload: [UInt8]
        var request: UInt64?
        /// The record is only written after this revision.
        var expectedRevision: UInt64?
    }

    enum Sending { case sent, tooBig, failed }

    /// Callbacks carry a number instead of a pointer: a late one finds nothing.
    private static let handlers = Mutex<[UInt64: Handlers]>([:])
    private static let expectedRevision = "Nats-Expected-Last-Subject-Sequence"

    /// Unique in the process.
    let number: UInt64
    private let inbox: String
    /// Nil once it is closed. The library accepts that, and does nothing.
    private var pointer: OpaquePointer?
    private var subscriptions: [OpaquePointer] = unsafe []

    private init(_ number: UInt64, inbox: String, _ pointer: OpaquePointer) {
        (self.number, self.inbox) = (number, inbox)
        unsafe self.pointer = pointer
    }

    deinit { close() }

    /// Releases the library's objects. May wait half a second for a server that does not answer.
    func close() {
        _ = Self.handlers.withLock { $0.removeValue(forKey: number) }
        unsafe subscriptions.forEach { unsafe natsSubscription_Destroy($0) }
        unsafe subscriptions = []
        unsafe natsConnection_Destroy(pointer)
        unsafe pointer = nil
    }

    var isClosed: Bool { unsafe natsConnection_IsClosed(pointer) }

    /// In bytes, with headers.
    var payloadMax: Int { Int(clamping: unsafe natsConnection_GetMaxPayload(pointer)) }

    /// Blocks while the library writes to the server. A failure is also reported as the end of the connection.
    func send(_ message: Outgoing) -> Sending {
        guard message.payload.count <= Int32.max else { return .tooBig }
        let status = unsafe message.payload.withUnsafeBytes { payload in
            let (start, count) = (payload.baseAddress, Int32(payload.count))
            guard let request = message.request else { return unsafe natsConnection_Publish(pointer, message.subject, start, count) }
            let reply = "\(inbox).\(request)"
            guard let revision = message.expectedRevision else {
                return unsafe natsConnection_PublishRequest(pointer, message.subject, reply, start, count)
            }
            var written: OpaquePointer?
            defer { unsafe natsMsg_Destroy(written) }
            var status = unsafe natsMsg_Create(
                &written, message.subject, reply, start?.assumingMemoryBound(to: CChar.self), count)
            if status == NATS_OK { status = unsafe natsMsgHeader_Set(written, Self.expectedRevision, String(revision)) }
            if status == NATS_OK { status = unsafe natsConnection_PublishMsg(pointer, written) }
            return status
        }
        if status == NATS_OK { return .sent }
        if status == NATS_MAX_PAYLOAD { return .tooBig }
        // The connection is of no use any more, whether the library has noticed or not.
        Self.handlers.withLock { $0[number] }?.closed()
        return .failed
    }
}

// MARK: Opening

extension NATSConnection {
    /// Connects and subscribes. When it returns, the server has all subscriptions.
    static func open(
        _ settings: NATSSettings, server: String, number: UInt64, inbox: String, handlers: Handlers
    ) throws(NATSError) -> NATSConnection {
        Self.handlers.withLock { $0[number] = handlers }
        let timeout = max(1, settings.requestTimeout.inMilliseconds)
        // The number as an address that is never accessed.
        let context = unsafe UnsafeMutableRawPointer(bitPattern: UInt(number))
        let connection: NATSConnection
        do throws(NATSError) {
            connection = unsafe NATSConnection(number, inbox: inbox, try connect(settings, to: server, timeout, context))
        } catch {
            _ = Self.handlers.withLock { $0.removeValue(forKey: number) }
            throw error
        }
        for subject in settings.subjects { unsafe try connection.subscribe(to: subject, onMessage, context) }
        unsafe try connection.subscribe(to: inbox + ".*", onAnswer, context)
        unsafe try check(natsConnection_FlushTimeout(connection.pointer, timeout))
        var problem: UnsafePointer<CChar>?
        // The server has answered the flush after the subscriptions that it does not permit.
        if unsafe natsConnection_GetLastError(connection.pointer, &problem) == NATS_NOT_PERMITTED {
            throw .notPermitted(unsafe problem.map { unsafe String(cString: $0) } ?? "")
        }
        return connection
    }

    private func subscribe(to subject: String, _ handler: natsMsgHandler, _ context: UnsafeMutableRawPointer?) throws(NATSError) {
        var subscription: OpaquePointer?
        unsafe try Self.check(natsConnection_Subscribe(&subscription, pointer, subject, handler, context))
        if let subscription = unsafe subscription { unsafe subscriptions.append(subscription) }
    }

    private static func connect(
        _ settings: NATSSettings, to server: String, _ timeout: Int64, _ context: UnsafeMutableRawPointer?
    ) throws(NATSError) -> OpaquePointer {
        var options: OpaquePointer?
        unsafe try check(natsOptions_Create(&options))
        defer { unsafe natsOptions_Destroy(options) }
        unsafe try check(natsOptions_SetURL(options, server))
        unsafe try check(natsOptions_SetName(options, settings.clientName))
        unsafe try check(natsOptions_SetTimeout(options, timeout))
        unsafe try check(natsOptions_SetWriteDeadline(options, timeout))
        unsafe try check(natsOptions_SetPingInterval(options, max(1, settings.pingInterval.inMilliseconds)))
        unsafe try check(natsOptions_SetMaxPingsOut(options, 2))
        // Otherwise the library would keep what is sent meanwhile, and send requests that have been reported as failed.
        unsafe try check(natsOptions_SetAllowReconnect(options, false))
        // Otherwise the library waits for more messages.
        unsafe try check(natsOptions_SetSendAsap(options, true))
        unsafe try check(natsOptions_SetClosedCB(options, onClosed, context))
        // The library's own handler prints.
        unsafe try check(natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil))
        switch settings.credentials {
        case .none: break
        case .user(let name, let password): unsafe try check(natsOptions_SetUserInfo(options, name, password))
        case .token(let token): unsafe try check(natsOptions_SetToken(options, token))
        case .file(let path): unsafe try check(natsOptions_SetUserCredentialsFromFiles(options, path, nil))
        }
        // The library compares host names only if it is built that way, or told to.
        if let host = NATSSettings.host(of: server) { unsafe try check(natsOptions_SetExpectedHostname(options, host)) }
        if let tls = settings.tls {
            unsafe try check(natsOptions_SetSecure(options, true))
            if let authorities = tls.authorities { unsafe try check(natsOptions_LoadCATrustedCertificates(options, authorities)) }
            if let (path, keyPath) = tls.certificate { unsafe try check(natsOptions_LoadCertificatesChain(options, path, keyPath)) }
        }
        var connection: OpaquePointer?
        unsafe try check(natsConnection_Connect(&connection, options))
        guard let connection = unsafe connection else { throw .unreachable("no connection") }
        return unsafe connection
    }

    private static func check(_ status: natsStatus) throws(NATSError) {
        guard status != NATS_OK else { return }
        let reason = unsafe (nats_GetLastError(nil) ?? natsStatus_GetText(status)).map { unsafe String(cString: $0) } ?? ""
        switch status {
        case NATS_CONNECTION_AUTH_FAILED: throw .notAuthorized
        case NATS_SSL_ERROR: throw .tls(reason)
        case NATS_SECURE_CONNECTION_WANTED: throw .tls("the server does not encrypt")
        case NATS_NOT_PERMITTED: throw .notPermitted(reason)
        case NATS_INVALID_ARG, NATS_INVALID_SUBJECT, NATS_ADDRESS_MISSING: throw .invalid(reason)
        default: throw .unreachable(reason)
        }
    }
}

// MARK: Callbacks

extension NATSConnection {
    private static func handlers(_ context: UnsafeMutableRawPointer?) -> Handlers? {
        let number = UInt64(UInt(bitPattern: context))
        return handlers.withLock { $0[number] }
    }

    /// Copies a message's payload and subject.
    private static func content(_ message: OpaquePointer?) -> (payload: [UInt8], subject: String) {
        let payload = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
        return unsafe (Array(payload), natsMsg_GetSubject(message).map { unsafe String(cString: $0) } ?? "")
    }

    private static let onMessage: natsMsgHandler = { _, _, message, context in
        defer { unsafe natsMsg_Destroy(message) }
        guard let handlers = unsafe NATSConnection.handlers(context) else { return }
        let (payload, subject) = unsafe NATSConnection.content(message)
        handlers.received(payload, subject)
    }

    private static let onAnswer: natsMsgHandler = { _, _, message, context in
        defer { unsafe natsMsg_Destroy(message) }
        guard let handlers = unsafe NATSConnection.handlers(context) else { return }
        let (payload, subject) = unsafe NATSConnection.content(message)
        // Anybody may send to the inbox.
        guard let request = subject.split(separator: ".").last.flatMap({ UInt64($0) }) else { return }
        handlers.answered(request, unsafe natsMsg_IsNoResponders(message) ? nil : payload)
    }

    private static let onClosed: natsConnectionHandler = { _, context in
        unsafe NATSConnection.handlers(context)?.closed()
    }
}
