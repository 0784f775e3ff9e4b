internal import HTTPTypes
package import Wire

/// Who is told what happens on a loop's sockets, always on the loop's thread.
///
/// The one protocol on the frame's way: it is crossed once per message, and keeps everything above free of C.
package protocol SocketOwner: AnyObject {
    /// Somebody wants to upgrade to WebSocket. Nil lets it in; a response is sent instead and the connection ended.
    func admit(_ request: UpgradeRequest, as connection: Connection) -> HTTPServerResponse?
    /// An HTTP request has arrived whole. Answer it now or later with `HTTPExchange.respond`.
    func handle(_ exchange: HTTPExchange)

    func opened(_ connection: Connection)
    /// The bytes are valid during the call only.
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection)
    func received(text message: UnsafeRawBufferPointer, from connection: Connection)
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection)
    func writable(_ connection: Connection)
    /// The socket layer itself closes the connection, for this reason; `closed` follows.
    func refused(_ reason: CloseReason, on connection: Connection)
    func closed(_ connection: Connection, _ end: SocketEnd)
    /// A connection that we asked for did not come about.
    func failed(_ connection: Connection, _ error: ConnectError)

    /// Somebody posted to the loop's mailbox.
    func woken()
    /// The instant given to `Loop.wake(at:)` has come.
    func timerRang()
}

/// The parts of a server that a client does not need, and the other way round.
extension SocketOwner {
    package func admit(_ request: UpgradeRequest, as connection: Connection) -> HTTPServerResponse? {
        HTTPServerResponse(status: .notFound)
    }
    package func handle(_ exchange: HTTPExchange) {
        exchange.respond(HTTPServerResponse(status: .notFound))
    }
    package func failed(_ connection: Connection, _ error: ConnectError) {}
    package func refused(_ reason: CloseReason, on connection: Connection) {}
}

/// Why a connection to a gateway did not come about.
package struct ConnectError: Error, Sendable, CustomStringConvertible {
    /// The HTTP status of the refusal, if there was an HTTP answer.
    package var status: Int?
    /// The gateway's own code for it, such as `token_expired`.
    package var code: String?
    package var message: String

    package init(status: Int? = nil, code: String? = nil, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
