internal import COpenSSL
internal import Glibc
internal import Sockets

/// Data that a connection has read and not consumed.
@safe struct RecordReader {
    /// Unopened records: in the loop's shared buffer, or in `own`.
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    var own: UnsafeMutableRawPointer?
    /// Opened content for libwebsockets, which has taken the bytes before `plainTaken`. At most a record's.
    var plain: [UInt8] = []
    var plainTaken = 0
    /// True while every record so far began and ended with a frame, so that media need not go through libwebsockets.
    var readsMessages = true
    /// Set while leftover records are processed, so that a peer that sends without pause does not occupy the loop.
    var mayNotReceive = false
    /// Nothing is read after it.
    var ending: Ending?
    /// Records without application data, since the last one with some.
    var idle = IdleRecords()

    enum Ending {
        /// The peer's `close_notify` (RFC 8446 section 6.1).
        case closed
        /// The connection ended without one.
        case cut
        /// A fault; the peer got an alert if it was theirs.
        case broken
    }
}

/// Counts consecutive records without application data, of which a peer may send only a few.
struct IdleRecords {
    static var keyUpdatesMax: Int { 32 }
    static var emptyRecordsMax: Int { 32 }
    static var warningAlertsMax: Int { 4 }

    private var keyUpdates = 0
    private var emptyRecords = 0
    private var warningAlerts = 0

    /// - Returns: false if there were too many in a row.
    mutating func noteKeyUpdate() -> Bool {
        keyUpdates += 1
        return keyUpdates <= Self.keyUpdatesMax
    }

    mutating func noteEmptyRecord() -> Bool {
        emptyRecords += 1
        return emptyRecords <= Self.emptyRecordsMax
    }

    mutating func noteWarningAlert() -> Bool {
        warningAlerts += 1
        return warningAlerts <= Self.warningAlertsMax
    }
}

extension RecordConnection {
    /// The kind of the next record.
    @safe private enum Finding {
        /// Application data, in place, valid until the next record is taken.
        case content(UnsafeMutableRawBufferPointer)
        /// A record of the protocol itself, which has been processed.
        case processed
        case incomplete
        case ended
    }

    // MARK: Media, past libwebsockets

    /// Takes one record if it holds nothing but whole messages and pongs.
    ///
    /// - Returns: whether libwebsockets need not see the event.
    func takeMessages() -> Bool {
        guard unsafe input == .open else { return drop() }
        // Not while libwebsockets has part of an earlier record.
        guard unsafe reader.readsMessages && pending == 0 else { return false }
        defer { releaseOwn() }
        switch nextRecord() {
        case .content(let content):
            switch unsafe WebSocketRecord.classify(UnsafeRawBufferPointer(content), areMasked: isServer) {
            case .messages:
                let held = unsafe held
                unsafe WebSocketRecord.forEachMessage(in: content) { message, kind in
                    unsafe held._withUnsafeGuaranteedRef { unsafe $0.received(message, kind) }
                }
                return true
            case .others: break
            case .fragments: unsafe reader.readsMessages = false
            }
            unsafe keepForLibrary(content)
            // A ping alone is not for libwebsockets.
            return pending == 0
        case .processed, .incomplete: return true
        case .ended: return false
        }
    }

    /// After a violation: discards bytes unread.
    ///
    /// - Returns: whether libwebsockets need not see the event.
    private func drop() -> Bool {
        // Data before the violation is still passed to libwebsockets.
        if pending > 0 { return false }
        unsafe reader.count = 0
        releaseOwn()
        if unsafe !reader.mayNotReceive { discardInput() }
        return unsafe input != .ended
    }

    // MARK: OpenSSL's functions

    /// Opened bytes that libwebsockets has not taken.
    var pending: Int { unsafe reader.plain.count - reader.plainTaken }

    func readPlain(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        if pending == 0 {
            guard unsafe input == .open else {
                _ = drop()
                return unsafe input == .ended ? 0 : -1
            }
            defer { releaseOwn() }
            switch nextContent() {
            case .content(let content): unsafe keepForLibrary(content)
            case .ended: return unsafe reader.ending == .closed ? 0 : -1
            default: return -1
            }
        }
        let taken = min(count, pending)
        // All of the content may have been withheld.
        guard taken > 0 else { return -1 }
        unsafe reader.plain.withUnsafeBytes { unsafe buffer.copyMemory(from: $0.baseAddress! + reader.plainTaken, byteCount: taken) }
        unsafe reader.plainTaken += taken
        if pending == 0 { unsafe (reader.plain, reader.plainTaken) = ([], 0) }
        return Int32(taken)
    }

    func error(of result: Int32) -> Int32 {
        if result > 0 { return SSL_ERROR_NONE }
        if unsafe input == .ended { return SSL_ERROR_ZERO_RETURN }
        return switch unsafe reader.ending {
        case nil: SSL_ERROR_WANT_READ
        case .closed: SSL_ERROR_ZERO_RETURN
        case .cut: SSL_ERROR_SYSCALL
        case .broken: SSL_ERROR_SSL
        }
    }

    /// 0 after our alert, 1 after the peer's `close_notify` as well.
    func shutDown() -> Int32 {
        if unsafe !writer.hasSentAlert {
            send(TLSAlert.closeNotify)
            return unsafe reader.ending == .closed ? 1 : 0
        }
        guard unsafe input == .open else { return -1 }
        defer { releaseOwn() }
        // Application data is ignored from here on.
        while case .content = nextContent() {}
        return unsafe reader.ending == .closed ? 1 : -1
    }

    // MARK: Records

    /// The next application data of what has arrived.
    private func nextContent() -> Finding {
        while true {
            let finding = nextRecord()
            guard case .processed = finding else { return finding }
            if !hasWholeRecord { return .incomplete }
        }
    }

    private func nextRecord() -> Finding {
        if unsafe reader.ending != nil { return .ended }
        if !hasWholeRecord {
            guard unsafe !reader.mayNotReceive else { return .incomplete }
            let got = unsafe common._withUnsafeGuaranteedRef { $0.fill(for: self) }
            if got == 0 { return end(.cut) }
            if got < 0 { return errno == EAGAIN || errno == EINTR ? .incomplete : end(.broken) }
        }
        guard let bytes = unsafe reader.bytes, unsafe reader.count >= RecordCipher.headerBytes else { return .incomplete }
        guard unsafe bytes.load(as: UInt8.self) == ContentType.applicationData.rawValue else { return fail(.unexpectedMessage) }
        let sealed = unsafe FastPathLoop.sealedBytes(bytes)
        guard sealed <= RecordCipher.sealedMax else { return fail(.recordOverflow) }
        let whole = RecordCipher.headerBytes + sealed
        guard unsafe reader.count >= whole else { return .incomplete }
        unsafe reader.count -= whole
        unsafe reader.bytes = unsafe bytes + whole
        switch unsafe ciphers.opening.open(bytes, sealed: sealed) {
        case .content(let length, let type):
            let content = unsafe UnsafeMutableRawBufferPointer(start: bytes + RecordCipher.headerBytes, count: length)
            return unsafe received(content, type)
        case .badMAC: return fail(.badRecordMAC)
        case .overflow: return fail(.recordOverflow)
        case .onlyPadding: return fail(.unexpectedMessage)
        }
    }

    private func received(_ content: UnsafeMutableRawBufferPointer, _ type: UInt8) -> Finding {
        switch ContentType(rawValue: type) {
        case .applicationData:
            if unsafe content.isEmpty { return unsafe reader.idle.noteEmptyRecord() ? .processed : fail(.unexpectedMessage) }
            unsafe reader.idle = IdleRecords()
            return unsafe .content(content)
        case .alert: return unsafe received(alert: UnsafeRawBufferPointer(content))
        case .handshake: return unsafe received(handshake: UnsafeRawBufferPointer(content))
        case nil: return fail(.unexpectedMessage)
        }
    }

    /// Whether a whole record is there, or a header that is enough to refuse one.
    var hasWholeRecord: Bool {
        guard let bytes = unsafe reader.bytes, unsafe reader.count >= RecordCipher.headerBytes else { return false }
        let sealed = unsafe FastPathLoop.sealedBytes(bytes)
        if unsafe sealed > RecordCipher.sealedMax || reader.count >= RecordCipher.headerBytes + sealed { return true }
        return unsafe bytes.load(as: UInt8.self) != ContentType.applicationData.rawValue
    }

    var hasMoreThanOneRecord: Bool {
        guard let bytes = unsafe reader.bytes, unsafe reader.count >= RecordCipher.headerBytes else { return false }
        return unsafe reader.count > RecordCipher.headerBytes + FastPathLoop.sealedBytes(bytes)
    }

    private func received(alert: UnsafeRawBufferPointer) -> Finding {
        // RFC 8446 section 5.1: no empty fragments of this type.
        guard unsafe !alert.isEmpty else { return fail(.unexpectedMessage) }
        guard alert.count == 2 else { return fail(.decodeError) }
        switch unsafe alert[1] {
        case TLSAlert.closeNotify.rawValue: return end(.closed)
        // user_canceled: a close_notify follows (RFC 8446 section 6.1).
        case 90: return unsafe reader.idle.noteWarningAlert() ? .processed : fail(.unexpectedMessage)
        default: return end(.broken)
        }
    }

    /// A peer may send session tickets and key updates after the handshake (RFC 8446 sections 4.6.1 and 4.6.3).
    private func received(handshake: UnsafeRawBufferPointer) -> Finding {
        var rest = unsafe handshake
        repeat {
            // Fragmentation is legal, but no implementation fragments messages of five bytes.
            guard rest.count >= 4 else { return fail(.unexpectedMessage) }
            let length = unsafe Int(rest[1]) << 16 | Int(rest[2]) << 8 | Int(rest[3])
            switch unsafe rest[0] {
            case HandshakeMessage.newSessionTicket where !isServer:
                guard rest.count >= 4 + length else { return fail(.unexpectedMessage) }
            case HandshakeMessage.keyUpdate:
                guard length == 1 else { return fail(.decodeError) }
                // The last of its record, because the next one has another key (RFC 8446 section 5.1).
                guard rest.count == 5 else { return fail(.unexpectedMessage) }
                guard unsafe rest[4] <= 1 else { return fail(.illegalParameter) }
                guard unsafe reader.idle.noteKeyUpdate() else { return fail(.unexpectedMessage) }
                guard unsafe ciphers.opening.update() else { return fail(.internalError) }
                if unsafe rest[4] == 1 { unsafe writer.owesKeyUpdate = true }
            default: return fail(.unexpectedMessage)
            }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[(4 + length)...])
        } while unsafe !rest.isEmpty
        return .processed
    }

    private func end(_ ending: RecordReader.Ending) -> Finding {
        unsafe reader.ending = ending
        unsafe reader.count = 0
        return .ended
    }

    private func fail(_ alert: TLSAlert) -> Finding {
        send(alert)
        return end(.broken)
    }

    // MARK: Buffers

    func lend(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
        unsafe reader.bytes = unsafe buffer
        unsafe reader.count = count
    }

    /// Moves a partial record out of the shared buffer, which another connection needs or which is to be filled further.
    func moveOut() {
        guard let bytes = unsafe reader.bytes else { return }
        let own = unsafe reader.own ?? .allocate(byteCount: FastPathLoop.bytesMax, alignment: 16)
        unsafe own.copyMemory(from: bytes, byteCount: reader.count)
        unsafe reader.own = unsafe own
        unsafe reader.bytes = unsafe own
    }

    func releaseOwn() {
        guard unsafe reader.count == 0, let own = unsafe reader.own else { return }
        unsafe own.deallocate()
        unsafe reader.own = nil
        unsafe reader.bytes = nil
    }

    func keepForLibrary(_ content: UnsafeMutableRawBufferPointer) {
        let allowed = unsafe check(content)
        unsafe reader.plain = unsafe Array(content.prefix(allowed))
        unsafe reader.plainTaken = 0
    }
}

/// Handshake messages that may follow the handshake (RFC 8446 section 4).
enum HandshakeMessage {
    static var newSessionTicket: UInt8 { 4 }
    static var keyUpdate: UInt8 { 24 }
}
