internal import CLibwebsockets
internal import HTTPTypes
internal import Wire

/// A request, and where it came from.
package struct ReceivedRequest: Sendable {
    package let head: RequestHead
    package let source: RequestSource
    /// The request arrived over TLS, or at a listener that has none.
    package let isSecure: Bool
}

/// One HTTP request and its response, which may come later but only on the loop's thread.
///
/// A response to a client that has disconnected is dropped. The next request of the connection is read after the response has been passed on.
@safe package final class HTTPExchange {
    /// The largest request body, in bytes.
    package static let bodyBytesMax = 1 << 20
    /// How long the response may take, in seconds.
    static let answerSecondsMax = 60
    /// Bytes of a body written at once, and how often in one turn. A client must acknowledge as many within `LoopSettings.transferTimeout`.
    static let pieceBytesMax = 1 << 16
    private static let piecesOfTurnMax = 4

    package let request: ReceivedRequest
    package let body: [UInt8]
    /// Why the request is refused. The connection ends after the response.
    package let fault: Fault?

    package enum Fault {
        case bodyInChunks, bodyTooBig, bodyTooSlow
        /// Bodies of other requests take up too much memory.
        case noRoom
        /// `RequestGate` has refused the request.
        case malformed(RequestFault)
    }

    private weak var phase: RequestPhase?
    /// Nil once the exchange is over.
    private var library: LibraryRequest?
    /// The connection ends after the response, which says so (RFC 9112 section 9.6).
    private let isLast: Bool
    private var stage = Stage.waiting

    private enum Stage {
        case waiting
        case writing(HTTPServerResponse, Progress)
        case written
    }

    /// How much of a response has been given to libwebsockets: nothing, or the head and a number of bytes of the body.
    private enum Progress {
        case nothing, body(Int)
    }

    init(
        _ request: ReceivedRequest, body: [UInt8], fault: Fault?, of phase: RequestPhase, in library: LibraryRequest
    ) {
        self.request = request
        self.body = body
        self.fault = fault
        isLast = request.head.isLast || fault != nil
        self.phase = phase
        self.library = library
    }

    package var peerAddress: String { request.source.address }

    /// Sends the response. Only the first one counts.
    package func respond(_ response: HTTPServerResponse) {
        guard case .waiting = stage else { return }
        stage = .writing(response, .nothing)
        proceed()
    }

    /// Gives libwebsockets the next pieces of the response as far as the client takes them.
    func proceed() {
        guard let phase, let library, let wsi = unsafe library.wsi, case .writing(let response, let progress) = stage else { return }
        // The client, or libwebsockets, has taken part of the response.
        defer { if case .writing = stage { phase.progressed() } }
        guard phase.isDrained, unsafe lws_partial_buffered(wsi) == 0 else { return unsafe waitForLibrary(wsi) }
        var sent = 0
        switch progress {
        case .nothing: guard unsafe response.writeHead(to: wsi, isLast: isLast) else { return fail() }
        case .body(let count): sent = count
        }
        let end = request.head.method == .head ? 0 : response.body.count
        for _ in 0..<Self.piecesOfTurnMax where sent < end {
            let next = min(end, sent + Self.pieceBytesMax)
            guard unsafe HTTPServerResponse.write(response.body[sent..<next], isLast: next == end, to: wsi) else { return fail() }
            sent = next
            phase.drain()
            guard phase.isDrained, unsafe lws_partial_buffered(wsi) == 0 else { break }
        }
        stage = .writing(response, .body(sent))
        phase.drain()
        guard phase.isDrained, unsafe lws_partial_buffered(wsi) == 0 else { return unsafe waitForLibrary(wsi) }
        if sent < end { phase.continueLater() } else { finish() }
    }

    /// Part of the response waits in libwebsockets, or in the stream, which reports by itself.
    private func waitForLibrary(_ wsi: OpaquePointer) {
        if unsafe lws_partial_buffered(wsi) != 0 { unsafe lws_callback_on_writable(wsi) }
    }

    private func finish() {
        stage = .written
        library = nil
        phase?.answered(isLast: isLast)
    }

    /// libwebsockets has found the connection broken.
    private func fail() {
        stage = .written
        phase?.libraryEnded()
    }

    func abandon() {
        stage = .written
        library = nil
    }
}
