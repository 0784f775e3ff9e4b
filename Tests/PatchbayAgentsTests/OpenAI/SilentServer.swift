import Foundation
import Synchronization

/// A TCP server that accepts one connection, reads and never answers.
final class SilentServer: Sendable {
    let port: Int
    private let state = Mutex(State())

    private struct State {
        var received: [UInt8] = []
        var isOver = false
    }

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            let connection = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(connection, &buffer, buffer.count), count > 0 {
                state.withLock { $0.received += buffer.prefix(count) }
            }
            close(connection)
            close(listener)
            state.withLock { $0.isOver = true }
        }
    }

    var received: String { state.withLock { String(decoding: $0.received, as: UTF8.self) } }

    func receivesARequest() async { await waits(within: .seconds(30)) { !$0.received.isEmpty } }

    /// Whether the client closes the connection within 5 s.
    func seesTheEnd() async -> Bool { await waits(within: .seconds(5)) { $0.isOver } }

    @discardableResult
    private func waits(within span: Duration, until isMet: (State) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + span
        while ContinuousClock.now < deadline {
            if state.withLock({ isMet($0) }) { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
