/// Splits the bytes of one connection into its requests, one at a time, and reads each head strictly (`RequestHead`).
///
/// Everything that a client sends passes through here, on every port, until the connection upgrades. The events do not depend on how the bytes
/// are split. The caller answers a request before it asks for the next one.
package struct RequestGate: Sendable {
    package enum Event: Sendable {
        case request(RequestHead)
        /// The next bytes of the request's body.
        case body(ArraySlice<UInt8>)
        /// The request is complete. Follows `request` at once if there is no body.
        case end
        /// The head is refused, and the connection ends after the refusal.
        case fault(RequestFault)
        /// The head is longer than `RequestHead.bytesMax`.
        case headTooLong
    }

    private enum State {
        case head
        /// The number of bytes of a request's body that have not arrived yet.
        case body(Int, isLast: Bool)
        case end(isLast: Bool)
        case over
    }

    private var state = State.head
    private var collector = HeadCollector()

    package init() {}

    /// Bytes of an incomplete head.
    package var heldBytes: Int { collector.bytes.count }
    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Takes the next event from the front of `bytes`; nil when they are consumed.
    ///
    /// Nothing more is parsed, so that the rest stays in `bytes`, after `end` of an upgrade or of a connection's last request, after a fault, and
    /// after a request with a chunked body, which has no `end`: the gateway does not read such bodies, so nobody can say where they end.
    package mutating func next(in bytes: inout ArraySlice<UInt8>) -> Event? {
        switch state {
        case .head: return nextHead(in: &bytes)
        case .body(let left, let isLast):
            guard !bytes.isEmpty else { return nil }
            let piece = bytes.prefix(left)
            bytes = bytes.dropFirst(piece.count)
            state = piece.count < left ? .body(left - piece.count, isLast: isLast) : .end(isLast: isLast)
            return .body(piece)
        case .end(let isLast):
            state = isLast ? .over : .head
            return .end
        case .over: return nil
        }
    }

    private mutating func nextHead(in bytes: inout ArraySlice<UInt8>) -> Event? {
        do throws(RequestFault) {
            switch try collector.take(from: &bytes) {
            case .incomplete: return nil
            case .tooLong:
                finish()
                return .headTooLong
            case .complete:
                let head = try RequestHead(checked: collector.bytes)
                collector = HeadCollector()
                state = Self.state(after: head)
                return .request(head)
            }
        } catch {
            finish()
            return .fault(error)
        }
    }

    private mutating func finish() {
        (state, collector) = (.over, HeadCollector())
    }

    private static func state(after head: RequestHead) -> State {
        switch head.body {
        case .chunked: .over
        case .none, .length(0): .end(isLast: head.upgrades || head.isLast)
        case .length(let count): .body(count, isLast: head.isLast)
        }
    }
}
