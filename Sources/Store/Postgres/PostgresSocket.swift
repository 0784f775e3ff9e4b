internal import CPostgres
internal import Glibc

/// libpq's connection with deadlines: its asynchronous functions and `poll`.
final class PostgresSocket {
    /// Nil once closed.
    private var handle: OpaquePointer?
    private let settings: PostgresSettings

    init(_ settings: PostgresSettings) throws(PostgresError) {
        try settings.check()
        self.settings = settings
        try connect(until: .now + settings.connectTimeout)
    }

    deinit { close() }

    var isOpen: Bool { handle != nil }

    /// False if an idle connection was closed by the server or the network.
    var isAlive: Bool {
        guard let handle, PQstatus(handle) == CONNECTION_OK else { return false }
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 0) != 0 else { return true }
        // A notice, or the end.
        return PQconsumeInput(handle) == 1 && PQstatus(handle) == CONNECTION_OK
    }

    var transactionStatus: PGTransactionStatusType { PQtransactionStatus(handle) }

    func close() {
        PQfinish(handle)
        handle = nil
    }

    // MARK: Connecting

    private func connect(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let parameters = settings.parameters
        handle = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectStartParams(keywords, values, 1) }
        }
        guard let handle else { throw PostgresError(.other, "no memory for a connection") }
        // Instead of the standard error stream.
        _ = PQsetNoticeProcessor(handle, { _, _ in }, nil)
        var wanted = PGRES_POLLING_WRITING
        while PQstatus(handle) != CONNECTION_BAD, wanted != PGRES_POLLING_FAILED {
            if wanted == PGRES_POLLING_OK {
                guard PQsetnonblocking(handle, 1) == 0 else { break }
                return
            }
            do throws(PostgresError) {
                try wait(for: wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT, of: handle, until: deadline)
            } catch {
                close()
                throw error
            }
            wanted = PQconnectPoll(handle)
        }
        throw lost(nil)
    }

    /// Calls `body` with an array of C strings that ends with a null pointer.
    private func withCStrings<T>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T) -> T {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }

    // MARK: Statements

    /// Sends with `send`, one of libpq's functions that return 1 for success, and waits for the result.
    ///
    /// - Returns: the last result.
    /// - Throws: the first error; `unreachable` if the connection is lost or `deadline` has passed. Then the connection is closed.
    func perform(until deadline: ContinuousClock.Instant, _ send: (OpaquePointer) -> Int32) throws(PostgresError) -> PostgresResult {
        guard let handle else { throw PostgresError(.unreachable, "the connection is closed") }
        guard send(handle) == 1 else { throw lost(nil) }
        var last: PostgresResult?
        var failure: PostgresError?
        do throws(PostgresError) {
            try flush(handle, until: deadline)
            while let result = try next(of: handle, until: deadline) {
                switch PQresultStatus(result.pointer) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: last = result
                // The server waits for data, and no further result follows.
                case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: throw PostgresError(.other, "COPY is not supported")
                default: failure = failure ?? PostgresError(result)
                }
            }
        } catch {
            close()
            throw error
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw lost(failure) }
        if let failure { throw failure }
        guard let last else { throw lost(nil) }
        return last
    }

    /// Closes the connection, with the reason that the server gave, if any.
    private func lost(_ failure: PostgresError?) -> PostgresError {
        defer { close() }
        if let failure, failure.sqlState != nil { return PostgresError(.unreachable, sqlState: failure.sqlState, failure.message) }
        let lines = handle.flatMap { PQerrorMessage($0) }.map { String(cString: $0).split(separator: "\n") } ?? []
        var message = lines.map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
        // Details end with a full stop, messages do not.
        if message.hasSuffix(".") { message.removeLast() }
        return PostgresError(.unreachable, message.isEmpty ? "the connection is lost" : settings.redact(message))
    }

    private func flush(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while PQflush(handle) == 1 {
            // The server may not read on before its own data is read.
            let ready = try wait(for: POLLIN | POLLOUT, of: handle, until: deadline)
            // A lost connection is a result of the next function.
            if ready & POLLIN != 0, PQconsumeInput(handle) == 0 { return }
        }
    }

    private func next(of handle: OpaquePointer, until deadline: ContinuousClock.Instant) throws(PostgresError) -> PostgresResult? {
        while PQisBusy(handle) == 1 {
            try wait(for: POLLIN, of: handle, until: deadline)
            guard PQconsumeInput(handle) == 1 else { break }
        }
        return PQgetResult(handle).map { PostgresResult($0) }
    }

    /// - Returns: the events that have happened.
    @discardableResult
    private func wait(
        for events: Int32, of handle: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Int32 {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        while true {
            let remaining = ContinuousClock.now.duration(to: deadline).milliseconds
            guard remaining > 0 else { throw .noAnswer }
            let count = poll(&descriptor, 1, Int32(clamping: remaining))
            // Errors and the end of the connection are for libpq to find.
            if count > 0 { return Int32(descriptor.revents) & (POLLIN | POLLOUT) | (Int32(descriptor.revents) & events == 0 ? POLLIN : 0) }
            guard count == 0 || errno == EINTR else { throw PostgresError(.unreachable, "poll failed with error \(errno)") }
        }
    }
}
