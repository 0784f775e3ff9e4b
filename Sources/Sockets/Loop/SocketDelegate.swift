internal import HTTPTypes
package import Wire

/// Receives the events of a loop's sockets, always on the loop's thread.
///
/// The one protocol on a frame's way: it is called once per message, and keeps everything above free of C.
package protocol SocketDelegate: AnyObject {
    /// A client asks to upgrade to WebSocket. Called before `admit`.
    ///
    /// - Returns: false to have it served here at once; true to decide by methods of `upgrade`, now or later.
    func hold(_ upgrade: HeldUpgrade) -> Bool
    /// A forward has failed. Another decision must follow.
    func failed(_ upgrade: HeldUpgrade, _ failure: ForwardFailure)
    /// The client has left before the decision, or before a forward was done, or was refused because that took too long.
    func abandoned(_ upgrade: HeldUpgrade)
    /// The response to an upgrade whose decision takes too long.
    func unavailable(_ upgrade: HeldUpgrade) -> HTTPServerResponse
    /// A client asks to upgrade to WebSocket. Nil accepts; a response is sent instead and ends the connection.
    func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse?
    /// A whole HTTP request has arrived. Respond now or later with `HTTPExchange.respond`.
    func handle(_ exchange: HTTPExchange)

    func opened(_ connection: Connection)
    /// The bytes are valid during the call only.
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection)
    /// Valid UTF-8.
    func received(text message: UnsafeRawBufferPointer, from connection: Connection)
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection)
    func writable(_ connection: Connection)
    /// The socket layer closes the connection for this reason; `closed` follows.
    func refused(_ reason: CloseReason, on connection: Connection)
    func closed(_ connection: Connection, _ end: ConnectionEnd)
    /// An outgoing connection could not be established.
    func failed(_ connection: Connection, _ error: ConnectionFailure)

    /// The loop's mailbox has messages.
    func woken()
    /// The instant given to `Loop.wake(at:)` has come.
    func timerRang()
    /// A listener could not accept and pauses. Called for every pause, up to ten times a second per listener.
    func acceptFailed(_ error: AcceptError)
}

extension SocketDelegate {
    package func hold(_ upgrade: HeldUpgrade) -> Bool { false }
    package func failed(_ upgrade: HeldUpgrade, _ failure: ForwardFailure) {
        upgrade.refuse(unavailable(upgrade))
    }
    package func unavailable(_ upgrade: HeldUpgrade) -> HTTPServerResponse { HTTPServerResponse(status: .serviceUnavailable) }
    package func abandoned(_ upgrade: HeldUpgrade) {}
    package func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? {
        HTTPServerResponse(status: .notFound)
    }
    package func handle(_ exchange: HTTPExchange) {
        exchange.respond(HTTPServerResponse(status: .notFound))
    }
    package func failed(_ connection: Connection, _ error: ConnectionFailure) {}
    package func refused(_ reason: CloseReason, on connection: Connection) {}
    package func acceptFailed(_ error: AcceptError) {}
}

/// Delivers binary messages to the loop's delegate without reference counting.
///
/// A call through `any SocketDelegate` retains it for the time of the call: two atomic operations, before each of which the processor waits
/// for outstanding stores.
@safe class MediaReceiver {
    /// - Parameter message: valid during the call only.
    func receive(_ message: UnsafeRawBufferPointer, from connection: Connection) {}

    static func forwarding(to delegate: some SocketDelegate) -> MediaReceiver { Forwarder(delegate) }

    @safe private final class Forwarder<Delegate: SocketDelegate>: MediaReceiver {
        /// Not retained: it outlives its loop.
        private let delegate: Unmanaged<Delegate>

        init(_ delegate: Delegate) {
            unsafe self.delegate = unsafe Unmanaged.passUnretained(delegate)
        }

        override func receive(_ message: UnsafeRawBufferPointer, from connection: Connection) {
            unsafe delegate._withUnsafeGuaranteedRef { unsafe $0.received(binary: message, from: connection) }
        }
    }
}

package enum ConnectionEnd: Hashable, Sendable {
    /// We closed it.
    case closed(CloseReason)
    /// The peer closed it or it broke; `Connection.peerCloseCode` distinguishes them.
    case lost
}

/// Why a connection could not be established.
package struct ConnectionFailure: Error, Sendable, CustomStringConvertible {
    /// The HTTP status of the response, if there was one.
    package var status: Int?
    /// The gateway's error code, such as `token_expired`.
    package var code: String?
    package var message: String

    package init(status: Int? = nil, code: String? = nil, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
