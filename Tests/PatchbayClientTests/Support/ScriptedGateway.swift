import Foundation
import Sockets
import Wire

/// Accepts all connections over TLS and sends what a test orders: a hello first, then its messages. It
/// answers only pings.
final class ScriptedGateway: Sendable {
    private enum Order: Sendable {
        case say([UInt8])
        case close(CloseReason)
        case stop
    }

    let url: String
    private let orders = Mailbox<Order>()

    /// How it handles requests.
    enum Manner: Sendable {
        case answersPings, isSilent
        /// Drops the connection when a call is started.
        case breaksAtCalls
    }

    /// - Parameter greeting: the first message for each connection in turn; the last one is repeated.
    init(greeting: [[UInt8]], _ manner: Manner = .answersPings) throws {
        let files = try TestCertificates.shared.get()
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        url = "wss://127.0.0.1:\(listener.port)"
        Thread.detachNewThread { [orders] in
            let voice = Voice(orders: orders, greeting: greeting, manner: manner)
            let settings = LoopSettings(server: TLSFiles(certificatePath: files.certificate, privateKeyPath: files.privateKey))
            guard let loop = try? Loop(settings: settings, delegate: voice) else { return listener.close() }
            voice.loop = loop
            loop.listen(on: listener)
            // Closes the listener at the end.
            withExtendedLifetime(voice) { loop.run(wokenBy: orders) }
        }
    }

    deinit {
        orders.post(.stop)
    }

    func say(_ text: String) { orders.post(.say(Array(text.utf8))) }
    func say(_ event: CallEvent) { orders.post(.say(event.bytes)) }
    func close(_ reason: CloseReason) { orders.post(.close(reason)) }

    private final class Voice: SocketDelegate {
        private let orders: Mailbox<Order>
        private var greeting: [[UInt8]]
        private let manner: Manner
        private var inbox: [Order] = []
        private var connection: Connection?
        weak var loop: Loop?

        init(orders: Mailbox<Order>, greeting: [[UInt8]], manner: Manner) {
            self.manner = manner
            self.orders = orders
            self.greeting = greeting
        }

        func woken() {
            orders.drain(into: &inbox)
            for order in inbox {
                switch order {
                case .say(let text): connection?.write(text: text)
                case .close(let reason): connection?.close(reason)
                case .stop: loop?.stop()
                }
            }
            inbox.removeAll()
        }

        func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? { nil }

        func opened(_ connection: Connection) {
            self.connection = connection
            connection.write(text: greeting.count > 1 ? greeting.removeFirst() : greeting[0])
        }

        func closed(_ closed: Connection, _ end: ConnectionEnd) {
            if closed === connection { connection = nil }
        }

        func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {}
        func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
            let incoming = IncomingCallRequest(parsing: Array(message))
            switch (manner, incoming.content) {
            case (.answersPings, .success(.ping(let t))), (.breaksAtCalls, .success(.ping(let t))):
                if let id = incoming.id { connection.write(text: CallReply(pong: t).bytes(re: id)) }
            case (.breaksAtCalls, .success(.start)): connection.abort()
            default: break
            }
        }
        func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
        func writable(_ connection: Connection) {}
        func timerRang() {}
    }
}
