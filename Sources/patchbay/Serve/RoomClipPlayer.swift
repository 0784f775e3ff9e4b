import Backend
import PatchbayAgents
import PatchbayClient
import Synchronization

/// Plays clips into rooms of this process's gateway, through its own port.
final class RoomClipPlayer: ClipPlayer {
    private struct NotListening: Error {}

    private let url = Mutex<String?>(nil)

    /// Sets the gateway's address. Call this once its port is bound.
    ///
    /// - Parameter host: the numeric address that the gateway listens on.
    func connect(toHost host: String, port: Int) {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        url.withLock { $0 = "wss://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    func play(_ file: [UInt8], token: String, started: @escaping @Sendable () -> Void) async throws {
        guard let url = url.withLock({ $0 }) else { throw NotListening() }
        // The certificate is for the public name. Only this process listens at the address, so trusting any certificate is safe.
        let options = RoomOptions(trust: .anybody, autoSubscribe: false, reconnect: .never)
        try await RoomConnection.play(file, url: url, token: token, options: options, started: started)
    }
}
