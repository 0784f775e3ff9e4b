import Foundation
import Sockets
import Synchronization
import Wire

/// The nodes of a cluster behind one address, over TLS. Each connection gets the events that a test has written for it; all requests are
/// answered, and noted.
final class ScriptedRoom: Sendable {
    struct Record: Sendable {
        var connections = 0
        var requests: [Request] = []
        var frames: [FrameHeader] = []
    }

    private enum Order: Sendable {
        case close(CloseReason)
        case stop
    }

    let url: String
    private let orders = Mailbox<Order>()
    private let record = Mutex(Record())

    /// - Parameters:
    ///   - scripts: the first events of each connection in turn. Those of connection n are numbered from 1,000 n on.
    ///   - refusal: the response to each upgrade.
    ///   - host: the address to listen on. The certificate is valid for the default only.
    init(_ scripts: [[Event]], refusal: HTTPServerResponse? = nil, host: String = "127.0.0.1") throws {
        let files = try TestCertificates.shared.get()
        let listener = try Listener(host: host, port: 0, shared: false)
        url = "wss://\(host):\(listener.port)"
        Thread.detachNewThread { [orders, weak self] in
            let node = Node(orders: orders, scripts: scripts, refusal: refusal) { change in self?.record.withLock { change(&$0) } }
            let settings = LoopSettings(server: TLSFiles(certificatePath: files.certificate, privateKeyPath: files.privateKey))
            guard let loop = try? Loop(settings: settings, delegate: node) else { return listener.close() }
            node.loop = loop
            loop.listen(on: listener)
            // Closes the listener at the end.
            withExtendedLifetime(node) { loop.run(wokenBy: orders) }
        }
    }

    deinit {
        orders.post(.stop)
    }

    var current: Record { record.withLock { $0 } }

    func close(_ reason: CloseReason) { orders.post(.close(reason)) }

    /// Ends all connections, without a close frame, and accepts no more.
    func stop() { orders.post(.stop) }

    private final class Node: SocketDelegate {
        private let orders: Mailbox<Order>
        private let scripts: [[Event]]
        private let refusal: HTTPServerResponse?
        private let note: ((inout Record) -> Void) -> Void
        private var inbox: [Order] = []
        private var connections = 0
        private var tracks: UInt16 = 0
        private var connection: Connection?
        weak var loop: Loop?

        init(
            orders: Mailbox<Order>, scripts: [[Event]], refusal: HTTPServerResponse?, note: @escaping ((inout Record) -> Void) -> Void
        ) {
            (self.orders, self.scripts, self.refusal, self.note) = (orders, scripts, refusal, note)
        }

        func woken() {
            orders.drain(into: &inbox)
            for order in inbox {
                switch order {
                case .close(let reason): connection?.close(reason)
                case .stop: loop?.stop()
                }
            }
            inbox.removeAll()
        }

        func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? { refusal }

        func opened(_ connection: Connection) {
            self.connection = connection
            let script = connections < scripts.count ? scripts[connections] : []
            for (index, event) in script.enumerated() {
                connection.write(text: EncodedEvent(event).bytes(seq: UInt64(1_000 * connections + index + 1)))
            }
            connections += 1
            note { $0.connections += 1 }
        }

        func closed(_ closed: Connection, _ end: ConnectionEnd) {
            if closed === connection { connection = nil }
        }

        func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
            guard let header = try? FrameHeader(parsing: message) else { return }
            note { $0.frames.append(header) }
        }

        func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
            let incoming = IncomingRequest(parsing: Array(message))
            guard case .success(let request) = incoming.content else { return }
            note { $0.requests.append(request) }
            switch request {
            case .leave: return connection.close(.left)
            case .publish(let description):
                tracks += 1
                let info = TrackInfo(
                    sid: TrackSID(text: "TR_own\(tracks)"), alias: TrackAlias(tracks), participant: Identity(text: "me"),
                    description: description)
                answer(incoming.id, .published(info))
            case .ping(let time): answer(incoming.id, .pong(time))
            default: answer(incoming.id, .done)
            }
        }

        private func answer(_ id: UInt64?, _ reply: Reply) {
            if let id { connection?.write(text: EncodedReply.bytes(of: reply, re: id)) }
        }

        func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
        func writable(_ connection: Connection) {}
        func timerRang() {}
    }
}
