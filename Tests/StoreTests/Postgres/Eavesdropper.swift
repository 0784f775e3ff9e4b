import Foundation
import Glibc
import Synchronization
import TestStore

/// A proxy on a loopback port between clients and a PostgreSQL server. It records what clients send.
final class Eavesdropper: Sendable {
    let port: UInt16
    private let listener: Int32
    private let recording = Recording()

    private final class Recording: Sendable { let bytes = Mutex<[UInt8]>([]) }

    /// - Parameter server: the address of the server; nil for no server: the proxy itself refuses TLS.
    init(before server: String?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        guard Self.with("127.0.0.1", 0, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            throw PostgresServerError("no port for a proxy")
        }
        var (name, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        _ = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        port = UInt16(bigEndian: name.sin_port)
        let recording = recording
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { Self.serve(client, server, recording) }
            }
            close(listener)
        }
    }

    /// The thread closes the listener.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Everything that clients have sent.
    var bytes: [UInt8] { recording.bytes.withLock { $0 } }

    /// Those of `words` that a client has sent in clear.
    func heard(_ words: String...) -> [String] {
        let all = Data(bytes)
        return words.filter { all.range(of: Data($0.utf8)) != nil }
    }

    private static func serve(_ client: Int32, _ address: String?, _ recording: Recording) {
        guard let address else {
            forward(client, to: client, recording) { _ in Array("N".utf8) }
            close(client)
            return
        }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard with(address, 5_432, { connect(server, $0, $1) }) == 0 else {
            for end in [client, server] { close(end) }
            return
        }
        let replies = Thread { forward(server, to: client, nil) }
        replies.start()
        forward(client, to: server, recording)
        while !replies.isFinished { usleep(1_000) }
        for end in [client, server] { close(end) }
    }

    /// Forwards until one end is closed.
    private static func forward(_ from: Int32, to: Int32, _ recording: Recording?, _ change: ([UInt8]) -> [UInt8] = { $0 }) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(from, &buffer, buffer.count, 0), count > 0 {
            let bytes = Array(buffer[..<count])
            recording?.bytes.withLock { $0 += bytes }
            let sent = change(bytes)
            guard send(to, sent, sent.count, Int32(MSG_NOSIGNAL)) == sent.count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func with<T>(_ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
