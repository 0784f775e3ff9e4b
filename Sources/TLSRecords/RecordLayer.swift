/// The records of a TLS 1.3 connection after its handshake, both ways (RFC 8446 section 5): opens what arrives, seals what is sent, and
/// handles the messages of the protocol itself.
///
/// No I/O: bytes in, bytes out. A fault of the peer ends the connection with the alert that `take` returns; the caller sends it.
@safe package struct RecordLayer: ~Copyable {
    private var ciphers: RecordCiphers
    private let isServer: Bool
    /// Records without application data, since the last one with some.
    private var idle = IdleRecords()
    /// The beginning of a handshake message that continues in the next record (RFC 8446 section 5.1).
    private var handshake: [UInt8] = []
    /// The peer has requested a new key of ours (RFC 8446 section 4.6.3), once or more often.
    private var owesKeyUpdate = false

    /// The next record.
    @safe package enum Finding {
        /// Application data, opened in place.
        case content(UnsafeMutableRawBufferPointer)
        /// A record of the protocol itself, which has been processed.
        case processed
        /// The record is not complete.
        case incomplete
        /// The peer's `close_notify` (RFC 8446 section 6.1).
        case closed
        /// The peer's fatal alert.
        case broken
        /// The peer has violated the protocol; nothing more is read.
        case violation(TLSAlert)
    }

    package init(_ ciphers: consuming RecordCiphers, isServer: Bool) {
        self.ciphers = ciphers
        self.isServer = isServer
    }

    /// The addresses of OpenSSL's cipher contexts, for prefetching.
    package var openingAddress: UInt { ciphers.opening.address }
    package var sealingAddress: UInt { ciphers.sealing.address }

    // MARK: Receiving

    /// Takes the next record from the front of `bytes`.
    package mutating func take(_ bytes: inout UnsafeMutableRawBufferPointer) -> Finding {
        guard let start = bytes.baseAddress, bytes.count >= RecordCipher.headerBytes else { return .incomplete }
        guard unsafe start.load(as: UInt8.self) == ContentType.applicationData.rawValue else { return .violation(.unexpectedMessage) }
        let sealed = unsafe Int(start.load(fromByteOffset: 3, as: UInt8.self)) << 8 | Int(start.load(fromByteOffset: 4, as: UInt8.self))
        guard sealed <= RecordCipher.sealedMax else { return .violation(.recordOverflow) }
        let whole = RecordCipher.headerBytes + sealed
        guard bytes.count >= whole else { return .incomplete }
        unsafe bytes = unsafe UnsafeMutableRawBufferPointer(start: start + whole, count: bytes.count - whole)
        switch unsafe ciphers.opening.open(start, sealed: sealed) {
        case .content(let count, ContentType.applicationData.rawValue) where count > 0 && handshake.isEmpty:
            idle = IdleRecords()
            return unsafe .content(UnsafeMutableRawBufferPointer(start: start + RecordCipher.headerBytes, count: count))
        case .content(let count, let type):
            return unsafe process(UnsafeRawBufferPointer(start: start + RecordCipher.headerBytes, count: count), type)
        case .badMAC: return .violation(.badRecordMAC)
        case .overflow: return .violation(.recordOverflow)
        case .onlyPadding: return .violation(.unexpectedMessage)
        }
    }

    private mutating func process(_ content: UnsafeRawBufferPointer, _ type: UInt8) -> Finding {
        // Records of another type must not interrupt a handshake message (RFC 8446 section 5.1).
        guard type == ContentType.handshake.rawValue || handshake.isEmpty else { return .violation(.unexpectedMessage) }
        switch ContentType(rawValue: type) {
        case .applicationData: return idle.noteEmptyRecord() ? .processed : .violation(.unexpectedMessage)
        case .alert: return unsafe process(alert: content)
        case .handshake: return unsafe process(handshake: content)
        case nil: return .violation(.unexpectedMessage)
        }
    }

    private mutating func process(alert: UnsafeRawBufferPointer) -> Finding {
        // No empty fragments of this type (RFC 8446 section 5.1).
        guard unsafe !alert.isEmpty else { return .violation(.unexpectedMessage) }
        guard alert.count == 2 else { return .violation(.decodeError) }
        switch unsafe alert[1] {
        case TLSAlert.closeNotify.rawValue: return .closed
        // user_canceled: a close_notify follows (RFC 8446 section 6.1).
        case 90: return idle.noteWarningAlert() ? .processed : .violation(.unexpectedMessage)
        default: return .broken
        }
    }

    /// Processes session tickets and key updates (RFC 8446 sections 4.6.1 and 4.6.3), also those that are split over records.
    private mutating func process(handshake content: UnsafeRawBufferPointer) -> Finding {
        guard unsafe !content.isEmpty, idle.noteHandshakeRecord() else { return .violation(.unexpectedMessage) }
        unsafe handshake.append(contentsOf: content)
        while handshake.count >= HandshakeMessage.headerBytes {
            let length = Int(handshake[1]) << 16 | Int(handshake[2]) << 8 | Int(handshake[3])
            let isTicket = handshake[0] == HandshakeMessage.newSessionTicket && !isServer
            guard isTicket || handshake[0] == HandshakeMessage.keyUpdate else { return .violation(.unexpectedMessage) }
            guard isTicket ? length <= HandshakeMessage.ticketBytesMax : length == 1 else { return .violation(.decodeError) }
            let whole = HandshakeMessage.headerBytes + length
            guard handshake.count >= whole else { return .processed }
            if !isTicket {
                // The last of its record, because the next one has another key (RFC 8446 section 5.1).
                guard handshake.count == whole else { return .violation(.unexpectedMessage) }
                if let alert = updateKey(handshake[HandshakeMessage.headerBytes]) { return .violation(alert) }
            }
            handshake.removeFirst(whole)
        }
        if handshake.isEmpty { handshake = [] }
        return .processed
    }

    private mutating func updateKey(_ request: UInt8) -> TLSAlert? {
        guard request <= 1 else { return .illegalParameter }
        guard idle.noteKeyUpdate() else { return .unexpectedMessage }
        guard ciphers.opening.update() else { return .internalError }
        if request == 1 { owesKeyUpdate = true }
        return nil
    }

    // MARK: Sending

    /// Below the 2^24.5 records that one AES-GCM key is good for (RFC 8446 section 5.5).
    private static var recordsPerKeyMax: UInt64 { 1 << 24 }

    /// The key for sealing has to be changed before the next record.
    package var needsKeyUpdate: Bool { owesKeyUpdate || ciphers.sealing.sequence >= Self.recordsPerKeyMax }

    /// Seals content that starts `RecordCipher.headerBytes` after `record`, with room for a type and a tag after it.
    ///
    /// - Returns: false if the cipher refuses, which ends the connection.
    package mutating func seal(_ record: UnsafeMutableRawPointer, content: Int, of type: ContentType) -> Bool {
        unsafe ciphers.sealing.seal(record, content: content, of: type)
    }

    /// Seals the KeyUpdate that `needsKeyUpdate` asks for, and changes the key.
    ///
    /// - Parameter record: room for `keyUpdateBytes`.
    /// - Returns: false if OpenSSL is out of memory.
    package mutating func sealKeyUpdate(_ record: UnsafeMutableRawPointer) -> Bool {
        owesKeyUpdate = false
        // key_update, three bytes of length, update_not_requested.
        let message: InlineArray<5, UInt8> = [HandshakeMessage.keyUpdate, 0, 0, 1, 0]
        for index in 0..<5 {
            unsafe record.storeBytes(of: message[index], toByteOffset: RecordCipher.headerBytes + index, as: UInt8.self)
        }
        return unsafe seal(record, content: 5, of: .handshake) && ciphers.sealing.update()
    }

    package static var keyUpdateBytes: Int { RecordCipher.sealedBytes(5) }
}

/// Counts consecutive records without application data, of which a peer may send only a few.
struct IdleRecords {
    static var keyUpdatesMax: Int { 32 }
    static var emptyRecordsMax: Int { 32 }
    static var warningAlertsMax: Int { 4 }
    /// A peer may split each message into several records.
    static var handshakeRecordsMax: Int { 4 * keyUpdatesMax }

    private var keyUpdates = 0
    private var emptyRecords = 0
    private var warningAlerts = 0
    private var handshakeRecords = 0

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

    mutating func noteHandshakeRecord() -> Bool {
        handshakeRecords += 1
        return handshakeRecords <= Self.handshakeRecordsMax
    }
}

/// Handshake messages that may follow the handshake (RFC 8446 section 4).
enum HandshakeMessage {
    static var newSessionTicket: UInt8 { 4 }
    static var keyUpdate: UInt8 { 24 }
    static var headerBytes: Int { 4 }
    /// Lifetime, age, nonce, a ticket of up to 2^16 - 1 bytes, extensions. Ours have 250 bytes.
    static var ticketBytesMax: Int { 1 << 16 }
}
