internal import Glibc

/// A header of the PROXY protocol, version 2, which a proxy sends before the bytes of the connection that it forwards (HAProxy,
/// `doc/proxy-protocol.txt`, section 2.2).
///
/// A pure parser: `parse` looks at the bytes received so far. Type-length-value fields (section 2.2.1 and later) are skipped.
package struct ProxyHeader: Sendable, Hashable {
    /// The client's address. Nil if the proxy speaks for itself (LOCAL, such as a health check) or does not know the client (AF_UNSPEC,
    /// AF_UNIX): then the proxy's own address counts.
    package var source: IPAddress?

    /// The result of looking at the first bytes of a connection.
    package enum Progress: Hashable, Sendable {
        /// More bytes are needed, this many in total. Never more than the header has, so the bytes after it stay in the socket.
        case needs(Int)
        case complete(ProxyHeader)
        case refused(Fault)
    }

    /// Why a connection is closed. The raw values are labels of a metric.
    package enum Fault: String, Error, CaseIterable, Sendable {
        case malformed
        /// The textual version 1.
        case version1 = "version_1"
        /// The connection ended within its header.
        case truncated
        /// The header took longer than `secondsMax`.
        case slow
        /// The peer is not a trusted proxy.
        case untrusted
    }

    /// Signature, version and command, family, length.
    static let fixedBytes = 16
    /// With addresses and type-length-value fields, in bytes. HAProxy's headers have 28 to a few hundred bytes.
    package static let bytesMax = 4_096
    /// Seconds that a header may take. Proxies send it as soon as they have connected.
    static let secondsMax = 3

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let versionOne = Array("PROXY ".utf8)

    /// - Parameter bytes: the first bytes of a connection, never more than were needed before.
    package static func parse(_ bytes: [UInt8]) -> Progress {
        guard bytes.starts(with: signature.prefix(bytes.count)) else {
            let mayBeVersionOne = bytes.starts(with: versionOne.prefix(bytes.count))
            guard mayBeVersionOne else { return .refused(.malformed) }
            return bytes.count < versionOne.count ? .needs(fixedBytes) : .refused(.version1)
        }
        guard bytes.count >= fixedBytes else { return .needs(fixedBytes) }
        let (command, family) = (bytes[12], bytes[13])
        let total = fixedBytes + Int(bytes[14]) << 8 + Int(bytes[15])
        guard command == 0x20 || command == 0x21, total <= bytesMax else { return .refused(.malformed) }
        let isLocal = command == 0x20
        let addressBytes: Int? = isLocal ? 0 : addressBytes(of: family)
        guard let addressBytes, total >= fixedBytes + addressBytes else { return .refused(.malformed) }
        guard bytes.count >= total else { return .needs(total) }
        guard !isLocal else { return .complete(ProxyHeader(source: nil)) }
        // The source precedes the destination.
        switch family {
        case 0x11: return .complete(ProxyHeader(source: IPAddress(bytes: bytes[16..<20])))
        case 0x21: return .complete(ProxyHeader(source: IPAddress(bytes: bytes[16..<32])))
        default: return .complete(ProxyHeader(source: nil))
        }
    }

    /// The length of the addresses and ports; nil for families and transports that no TCP connection has.
    private static func addressBytes(of family: UInt8) -> Int? {
        switch family {
        case 0x00: 0
        case 0x11: 12
        case 0x21: 36
        case 0x31: 216
        default: nil
        }
    }
}

/// Reads the PROXY header of one accepted connection. Takes exactly the header's bytes from the socket, however they arrive, and waits for
/// them on the loop without blocking it.
final class ProxyHeaderReader {
    private let descriptor: Int32
    private let finished: (Result<ProxyHeader, ProxyHeader.Fault>) -> Void
    private var bytes: [UInt8] = []
    private var watch: DescriptorWatch?

    /// - Parameter finished: called once, unless `close` is called before; possibly before `start` returns.
    init(_ descriptor: Int32, finished: @escaping (Result<ProxyHeader, ProxyHeader.Fault>) -> Void) {
        self.descriptor = descriptor
        self.finished = finished
    }

    func start(on loop: Loop) {
        watch = unsafe DescriptorWatch(
            descriptor, on: loop.uvPointer, readable: { [unowned self] in read() },
            timerFired: { [unowned self] in end(.failure(.slow)) })
        guard let watch else { return finished(.failure(.malformed)) }
        watch.startTimer(milliseconds: UInt64(min(ProxyHeader.secondsMax, loop.settings.handshakeSecondsMax) * 1_000))
        watch.resume()
        // The header has usually arrived with the connection.
        read()
    }

    /// Stops without an outcome. The descriptor is the caller's again: libuv watches each only once.
    func close() { watch?.close() }

    private func end(_ outcome: Result<ProxyHeader, ProxyHeader.Fault>) {
        close()
        finished(outcome)
    }

    private func read() {
        while true {
            switch ProxyHeader.parse(bytes) {
            case .complete(let header): return end(.success(header))
            case .refused(let fault): return end(.failure(fault))
            case .needs(let total):
                var piece = [UInt8](repeating: 0, count: total - bytes.count)
                let count = unsafe recv(descriptor, &piece, piece.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    bytes += piece.prefix(count)
                } else if count < 0, errno == EAGAIN || errno == EINTR {
                    return
                } else {
                    return end(.failure(.truncated))
                }
            }
        }
    }
}
