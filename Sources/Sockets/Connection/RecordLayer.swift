/// A replacement for parts of libwebsockets' TLS record handling, which an executable may supply (module `TLSFastPath`).
///
/// Without one, everything goes through libwebsockets and OpenSSL. The classes below are `open` because Swift has no subclassing across
/// modules with less access; calls on the way of a frame go through their vtables and count no references.
package protocol RecordLayer: Sendable {
    var state: RecordLayerState { get }
    /// Called for each `SSL_CTX` before its first handshake.
    func configure(_ tlsContext: OpaquePointer)
    func makeLoopLayer(for loop: Loop, handles: LoopHandles) -> LoopRecordLayer
}

/// Whether records after the handshake are ours, and why.
package struct RecordLayerState: Sendable, Hashable {
    package var isActive: Bool
    /// The label value in metrics.
    package var cause: String
    /// A phrase for logs.
    package var reason: String

    package init(isActive: Bool, cause: String, reason: String) {
        self.isActive = isActive
        self.cause = cause
        self.reason = reason
    }

    /// The state of a program without such a module.
    package static let notLinked = RecordLayerState(isActive: false, cause: "not_linked", reason: "this program does not contain it")
}

/// The `uv_loop_t` and `lws_context` of a loop. Valid until `LoopRecordLayer.stop`.
@safe package struct LoopHandles {
    package let uv: UnsafeMutableRawPointer
    package let lws: OpaquePointer
}

/// The part of a record layer that belongs to a loop. This base class adds nothing.
open class LoopRecordLayer {
    public init() {}

    /// Takes part in a WebSocket from its upgrade on.
    ///
    /// - Parameter connection: a `Connection`.
    open func attach(_ wsi: OpaquePointer, to connection: AnyObject) -> ConnectionRecordLayer? { nil }

    /// The response to a request has left, and libwebsockets reads the next one. Called on the loop's thread, also within callbacks.
    open func answered(on wsi: OpaquePointer) {}

    /// The loop is about to wait for events.
    open func willPoll() {}
    /// The events of this turn have been processed.
    open func didPoll() {}

    /// The time within which the loop's timer has to fire; nil if nothing is pending.
    open var timerMilliseconds: UInt64? { nil }
    /// The loop's timer fires; `work` is what the loop does then.
    open func timerFired(_ work: () -> Void) { work() }

    /// Polls a descriptor that is not libwebsockets'.
    ///
    /// - Parameters:
    ///   - handle: a `uv_poll_t`.
    ///   - handler: a `uv_poll_cb`.
    /// - Returns: as `uv_poll_start`; nil to call it.
    open func startPolling(_ handle: UnsafeMutableRawPointer, for events: Int32, _ handler: UnsafeRawPointer) -> Int32? { nil }

    open func stop() {}
}

/// The part of a record layer that belongs to a WebSocket. This base class adds nothing.
open class ConnectionRecordLayer {
    /// Whether messages are written by `write` and not by libwebsockets.
    public let writesDirectly: Bool

    public init(writesDirectly: Bool) {
        self.writesDirectly = writesDirectly
    }

    /// Whether bytes of an earlier write still wait for the socket.
    open var isCongested: Bool { false }

    /// Writes one whole unmasked message that has `Connection.headroom` writable bytes before it.
    ///
    /// - Parameter ping: the payload of a ping that leaves in the same record.
    /// - Returns: false if the connection is dead.
    open func write(
        _ opcode: WebSocketOpcode, _ message: UnsafeMutableRawPointer, _ count: Int, _ timing: FlushTiming, followedByPing ping: UInt32?
    ) -> Bool { false }

    /// Writes what is left of earlier writes.
    ///
    /// - Returns: whether nothing is left.
    open func flush() -> Bool { true }

    /// The connection is being closed for a violation: libwebsockets gets no more input before it has sent its CLOSE frame.
    open func holdInput() {}

    /// All messages are to be read by libwebsockets from now on.
    open func readThroughLibrary() {}

    open func setPrefetchHints(_ hints: PrefetchHints) {}
    open var sealingCipherAddress: UInt { 0 }
    open func prefetchSealingCipher() {}
}

/// The opcodes of frames that we send (RFC 6455 section 5.2).
public enum WebSocketOpcode: UInt8, Sendable {
    case text = 1
    case binary = 2
    case ping = 9
    case pong = 10
}

/// The first byte of the frames that may be read past libwebsockets: final, without reserved bits.
package enum MessageKind: UInt8, Sendable {
    case text = 0x81
    case binary = 0x82
    case pong = 0x8A
}

/// When a message leaves.
public enum FlushTiming: Sendable {
    case now
    /// With all others of the batch of records being processed, if there is one.
    case batch
    /// At the end of the loop's turn, so that all messages of a turn to one socket take one system call.
    case turn
    /// With the next message that leaves earlier, and after this time at the latest (the loop looks every 20 ms).
    case delayed(milliseconds: UInt8)
}
