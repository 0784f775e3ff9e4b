import Foundation
import Glibc

@testable import Sockets

/// A blocking TCP connection or listener of a test, which controls each byte.
final class PlainSocket: @unchecked Sendable {
    private var descriptor: Int32

    private init(_ descriptor: Int32) {
        precondition(descriptor >= 0, "no socket: \(String(cString: strerror(errno)))")
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    static func connected(to port: Int, from source: String = "127.0.0.1", _ bytes: String = "") -> PlainSocket {
        let socket = PlainSocket(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        let isBound = withAddress(source, 0) { bind(socket.descriptor, $0, $1) } == 0
        let isConnected = withAddress("127.0.0.1", port) { connect(socket.descriptor, $0, $1) } == 0
        precondition(isBound && isConnected)
        if !bytes.isEmpty { socket.write(bytes) }
        return socket
    }

    /// A listener on a free port.
    static func listening() -> (socket: PlainSocket, port: Int) {
        let socket = PlainSocket(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        precondition(withAddress("127.0.0.1", 0) { bind(socket.descriptor, $0, $1) } == 0 && listen(socket.descriptor, 8) == 0)
        return (socket, SocketAddress(of: socket.descriptor, by: { getsockname($0, $1, $2) })!.port)
    }

    /// A port at which nobody listens.
    static var unusedPort: Int { listening().port }

    func accept() -> PlainSocket { PlainSocket(Glibc.accept(descriptor, nil, nil)) }

    private static func withAddress(_ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    // MARK: Bytes

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Sends what the kernel takes at once.
    ///
    /// - Returns: how many bytes.
    func writeSome(_ bytes: [UInt8]) -> Int {
        max(0, send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)))
    }

    /// Waits for bytes; empty at the end.
    func read(max: Int = 65_536) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: max)
        let count = recv(descriptor, &buffer, max, 0)
        return Array(buffer.prefix(Swift.max(0, count)))
    }

    func read(exactly count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, case let more = read(max: count - bytes.count), !more.isEmpty { bytes += more }
        return bytes
    }

    func readAll() -> String {
        var bytes: [UInt8] = []
        while case let more = read(), !more.isEmpty { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Up to and including the blank line.
    func readHead() -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), case let more = read(max: 1), !more.isEmpty { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The end

    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Closes with RST.
    func reset() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

/// Bytes of an upgrade, written by hand.
enum Handshake {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let acceptance = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    static func request(_ target: String = "/v1/rtc", _ lines: [String] = []) -> String {
        let fields = [
            "Host: room.example", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
            "Sec-WebSocket-Protocol: patchbay.v1",
        ]
        return (["GET \(target) HTTP/1.1"] + fields + lines + ["", ""]).joined(separator: "\r\n")
    }

    static let response =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(acceptance)\r\n"
        + "Sec-WebSocket-Protocol: patchbay.v1\r\n\r\n"

    /// A frame of a client.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        let length: [UInt8] =
            payload.count < 126 ? [0x80 | UInt8(payload.count)] : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        let mask: [UInt8] = [1, 2, 3, 4]
        return [(isFinal ? 0x80 : 0) | opcode] + length + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }
}
