internal import Glibc
internal import TLSRecords

/// TLS 1.3 records sealed and opened by `RecordLayer`, from the WebSocket upgrade on.
@safe final class RecordStream: ByteStream {
    @exclusivity(unchecked) private var layer: RecordLayer
    /// A record that has arrived in part.
    private var partial: [UInt8] = []
    private var hasSentAlert = false

    init(_ ciphers: consuming RecordCiphers, isServer: Bool, replacing stream: OpenSSLStream) {
        unsafe layer = RecordLayer(ciphers, isServer: isServer)
        super.init(descriptor: stream.descriptor, buffers: unsafe stream.buffers.takeUnretainedValue())
        unsafe unsent = unsafe stream.unsent
        unsafe arrived = unsafe stream.arrived
    }

    // MARK: Receiving

    override func next() -> Piece {
        while true {
            switch unsafe layer.take(&arrived) {
            case .content(let content): return unsafe .content(content)
            case .processed: continue
            case .incomplete:
                keep()
                return .nothing
            case .closed: return .end
            case .broken: return .broken
            case .violation(let alert):
                send(alert)
                return .broken
            }
        }
    }

    override func keep() {
        if unsafe !arrived.isEmpty { partial = unsafe Array(arrived) }
        unsafe arrived = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    override func takeKept(into buffer: UnsafeMutableRawPointer) -> Int {
        guard !partial.isEmpty else { return 0 }
        let count = partial.count
        unsafe partial.withUnsafeBytes { unsafe buffer.copyMemory(from: $0.baseAddress!, byteCount: count) }
        partial = []
        return count
    }

    override var hasSeveral: Bool {
        guard unsafe arrived.count > RecordCipher.headerBytes else { return false }
        return unsafe arrived.count > RecordCipher.headerBytes + Int(arrived[3]) << 8 + Int(arrived[4])
    }

    // MARK: Sending

    override func write(_ content: UnsafeRawBufferPointer, followedByPing ping: UInt32? = nil) -> Bool {
        if unsafe layer.needsKeyUpdate, !updateKey() { return false }
        var rest = unsafe content
        repeat {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(RecordCipher.contentMax - Ping.bytes))
            let isLast = piece.count == rest.count
            guard unsafe seal(piece, .applicationData, followedByPing: isLast ? ping : nil) else { return false }
            unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        } while unsafe !rest.isEmpty
        return true
    }

    override func end() {
        if !hasSentAlert { send(.closeNotify) }
    }

    /// Sends an alert on a best-effort basis.
    private func send(_ alert: TLSAlert) {
        hasSentAlert = true
        let level: UInt8 = alert == .closeNotify ? 1 : 2
        unsafe withUnsafeBytes(of: (level, alert.rawValue)) { _ = unsafe seal($0, .alert) }
    }

    private func seal(_ content: UnsafeRawBufferPointer, _ type: ContentType, followedByPing ping: UInt32? = nil) -> Bool {
        let record = unsafe buffers._withUnsafeGuaranteedRef { unsafe $0.sealed }
        let start = unsafe record + RecordCipher.headerBytes
        if let bytes = content.baseAddress { unsafe start.copyMemory(from: bytes, byteCount: content.count) }
        var count = content.count
        if let ping {
            unsafe Ping.write(ping, to: start + count)
            count += Ping.bytes
        }
        guard unsafe layer.seal(record, content: count, of: type) else { return false }
        return unsafe offer(UnsafeRawBufferPointer(start: record, count: RecordCipher.sealedBytes(count)))
    }

    private func updateKey() -> Bool {
        let record = unsafe buffers._withUnsafeGuaranteedRef { unsafe $0.sealed }
        guard unsafe layer.sealKeyUpdate(record) else { return false }
        return unsafe offer(UnsafeRawBufferPointer(start: record, count: RecordLayer.keyUpdateBytes))
    }

    // MARK: Prefetching

    override var openingAddress: UInt { unsafe layer.openingAddress }
    override var sealingAddress: UInt { unsafe layer.sealingAddress }
}

/// Whether and when `RecordStream` replaces OpenSSL on one connection: after the upgrade, as soon as OpenSSL has nothing under way.
struct RecordTakeover {
    private var state = State.notYet

    private enum State: Equatable {
        case notYet
        /// Tried after each read.
        case wanted(attempts: Int)
        case settled
    }

    private static var attemptsMax: Int { 16 }

    var isSettled: Bool { state == .settled }

    mutating func want() { state = .wanted(attempts: 0) }

    /// The connection has no TLS.
    mutating func settle() { state = .settled }

    /// - Returns: the stream to go on with, if it is another one. The caller releases the one before.
    mutating func advance(_ stream: ByteStream, with fastPath: TLSFastPath, isServer: Bool) -> RecordStream? {
        guard case .wanted(let attempts) = state else { return nil }
        guard let open = stream as? OpenSSLStream, let ssl = unsafe open.ssl else {
            settle()
            return nil
        }
        guard fastPath.isActive, attempts < Self.attemptsMax else {
            settle()
            unsafe HandshakeSecrets.drop(of: ssl)
            return nil
        }
        guard let ciphers = unsafe RecordCiphers(of: ssl) else {
            state = .wanted(attempts: attempts + 1)
            return nil
        }
        settle()
        unsafe HandshakeSecrets.drop(of: ssl)
        return RecordStream(ciphers, isServer: isServer, replacing: open)
    }
}
