internal import COpenSSL
internal import Glibc

/// From the bytes of a socket to what its records hold.
extension RecordSocket {
    /// What the next record is.
    @safe private enum Finding {
        /// What an application said, in place, until the next record is taken.
        case content(UnsafeMutableRawBufferPointer)
        /// Something between the two ends, which has been dealt with.
        case dealtWith
        /// It has not come, or not as a whole.
        case incomplete
        case ended
    }

    // MARK: Media, past lws

    /// Takes one record, if it holds nothing but whole messages and pongs.
    ///
    /// - Returns: whether there is nothing in it for lws.
    func takeMessages() -> Bool {
        // Something of a record that lws has begun.
        guard unsafe readsWholeFrames && pending == 0 else { return false }
        defer { giveBackOwn() }
        switch nextRecord() {
        case .content(let content):
            switch unsafe RecordFrames.look(at: UnsafeRawBufferPointer(content), areMasked: isServer) {
            case .messages:
                let held = unsafe held
                unsafe RecordFrames.forEachMessage(in: content) { message, kind in
                    unsafe held._withUnsafeGuaranteedRef { unsafe $0.received(message, kind) }
                }
                return true
            case .others: break
            case .pieces: unsafe readsWholeFrames = false
            }
            unsafe keepForLibrary(UnsafeRawBufferPointer(content))
            return false
        case .dealtWith, .incomplete: return true
        case .ended: return false
        }
    }

    /// From now on lws takes all, for it may be told to wait (`lws_rx_flow_control`) with what has been read.
    func readOnlyByLws() {
        unsafe readsWholeFrames = false
    }

    // MARK: What lws asks for

    /// Opened bytes that lws has not taken.
    var pending: Int { unsafe plain.count - plainTaken }

    /// As `SSL_read`: how many bytes, or what `error` tells of.
    func read(_ out: UnsafeMutableRawPointer, _ wanted: Int) -> Int32 {
        if pending == 0 {
            defer { giveBackOwn() }
            switch nextContent() {
            case .content(let content): unsafe keepForLibrary(UnsafeRawBufferPointer(content))
            case .ended: return unsafe ending == .closed ? 0 : -1
            default: return -1
            }
        }
        let taken = min(wanted, pending)
        unsafe plain.withUnsafeBytes { unsafe out.copyMemory(from: $0.baseAddress! + plainTaken, byteCount: taken) }
        unsafe plainTaken += taken
        if pending == 0 { unsafe (plain, plainTaken) = ([], 0) }
        return Int32(taken)
    }

    /// As `SSL_get_error`, after a read or a shutdown that gave nothing.
    var error: Int32 {
        switch unsafe ending {
        case nil: SSL_ERROR_WANT_READ
        case .closed: SSL_ERROR_ZERO_RETURN
        case .cut: SSL_ERROR_SYSCALL
        case .broken: SSL_ERROR_SSL
        }
    }

    /// As `SSL_shutdown`: 0 when only we have said goodbye, 1 when the peer has too.
    func shutDown() -> Int32 {
        if unsafe !hasSaidGoodbye {
            send(TLSAlert.closeNotify)
            return unsafe ending == .closed ? 1 : 0
        }
        defer { giveBackOwn() }
        // What it has said before is of no interest any more.
        while case .content = nextContent() {}
        return unsafe ending == .closed ? 1 : -1
    }

    // MARK: Records

    /// What an application said next, of what has come.
    private func nextContent() -> Finding {
        while true {
            let finding = nextRecord()
            // A peer that sends nothing but key updates does not keep the loop: it goes on when there are more of them.
            guard case .dealtWith = finding else { return finding }
            if !hasWholeRecord { return .incomplete }
        }
    }

    private func nextRecord() -> Finding {
        if unsafe ending != nil { return .ended }
        if !hasWholeRecord {
            guard unsafe !isForbiddenToRead else { return .incomplete }
            let got = unsafe common._withUnsafeGuaranteedRef { $0.fill(for: self) }
            if got == 0 { return end(.cut) }
            if got < 0 { return errno == EAGAIN || errno == EINTR ? .incomplete : end(.broken) }
        }
        guard let bytes = unsafe bytes, unsafe count >= RecordCipher.headerBytes else { return .incomplete }
        let sealed = unsafe RecordIO.sealedBytes(bytes)
        guard sealed <= RecordCipher.sealedMax else { return refuse(.recordOverflow) }
        let whole = RecordCipher.headerBytes + sealed
        guard unsafe count >= whole else { return .incomplete }
        unsafe count -= whole
        unsafe self.bytes = unsafe bytes + whole
        guard unsafe bytes.load(as: UInt8.self) == ContentType.applicationData.rawValue else { return refuse(.unexpectedMessage) }
        guard let (length, type) = unsafe ciphers.opening.open(bytes, sealed: sealed) else { return refuse(.badRecordMAC) }
        let content = unsafe UnsafeMutableRawBufferPointer(start: bytes + RecordCipher.headerBytes, count: length)
        switch ContentType(rawValue: type) {
        case .applicationData: return unsafe length == 0 ? .dealtWith : .content(content)
        case .alert: return unsafe heard(alert: UnsafeRawBufferPointer(content))
        case .handshake: return unsafe heard(handshake: UnsafeRawBufferPointer(content))
        case nil: return refuse(.unexpectedMessage)
        }
    }

    /// Or one that its header is enough to refuse.
    var hasWholeRecord: Bool {
        guard let bytes = unsafe bytes, unsafe count >= RecordCipher.headerBytes else { return false }
        let sealed = unsafe RecordIO.sealedBytes(bytes)
        return unsafe sealed > RecordCipher.sealedMax || count >= RecordCipher.headerBytes + sealed
    }

    var hasMoreThanARecord: Bool {
        guard let bytes = unsafe bytes, unsafe count >= RecordCipher.headerBytes else { return false }
        return unsafe count > RecordCipher.headerBytes + RecordIO.sealedBytes(bytes)
    }

    private func heard(alert: UnsafeRawBufferPointer) -> Finding {
        guard alert.count == 2 else { return refuse(.decodeError) }
        return switch unsafe alert[1] {
        case TLSAlert.closeNotify.rawValue: end(.closed)
        // user_canceled, of no consequence: a close_notify follows (RFC 8446 section 6.1).
        case 90: .dealtWith
        default: end(.broken)
        }
    }

    /// What a peer may say after the handshake: a ticket for its next one, a new key (RFC 8446 sections 4.6.1 and 4.6.3).
    private func heard(handshake: UnsafeRawBufferPointer) -> Finding {
        var rest = unsafe handshake
        repeat {
            guard rest.count >= 4 else { return refuse(.unexpectedMessage) }
            let length = unsafe Int(rest[1]) << 16 | Int(rest[2]) << 8 | Int(rest[3])
            guard rest.count >= 4 + length else { return refuse(.unexpectedMessage) }
            switch unsafe rest[0] {
            case HandshakeMessage.newSessionTicket where !isServer: break
            case HandshakeMessage.keyUpdate:
                // The last of its record, for the next one has another key.
                guard length == 1, rest.count == 5, unsafe rest[4] <= 1 else { return refuse(.unexpectedMessage) }
                guard unsafe ciphers.opening.update() else { return refuse(.internalError) }
                if unsafe rest[4] == 1 { unsafe owesKeyUpdate = true }
            default: return refuse(.unexpectedMessage)
            }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[(4 + length)...])
        } while unsafe !rest.isEmpty
        return .dealtWith
    }

    private func end(_ ending: Ending) -> Finding {
        unsafe self.ending = ending
        unsafe count = 0
        return .ended
    }

    private func refuse(_ alert: TLSAlert) -> Finding {
        send(alert)
        return end(.broken)
    }

    // MARK: Where bytes are kept

    func lend(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
        unsafe bytes = unsafe buffer
        unsafe self.count = count
    }

    /// The common buffer is needed for somebody else, or for what follows after the beginning of a record.
    func moveOut() {
        guard let bytes = unsafe bytes else { return }
        let room = unsafe own ?? .allocate(byteCount: RecordIO.bytesMax, alignment: 16)
        unsafe room.copyMemory(from: bytes, byteCount: count)
        unsafe own = unsafe room
        unsafe self.bytes = unsafe room
    }

    func giveBackOwn() {
        guard unsafe count == 0, let own = unsafe own else { return }
        unsafe own.deallocate()
        unsafe self.own = nil
        unsafe bytes = nil
    }

    func keepForLibrary(_ content: UnsafeRawBufferPointer) {
        unsafe plain = unsafe Array(content)
        unsafe plainTaken = 0
    }
}

/// The messages of RFC 8446 section 4 that are of any interest after a handshake.
enum HandshakeMessage {
    static var newSessionTicket: UInt8 { 4 }
    static var keyUpdate: UInt8 { 24 }
}
