/// Checks the requests of one connection before libwebsockets sees them.
///
/// One request passes at a time, because libwebsockets 4.3 takes everything behind a body in the same read for more of the body. The caller
/// keeps the rest until the response has left. A head is buffered until it is complete, then passed on in one piece. The first faulty one is
/// replaced by a request whose path encodes the fault (`refused(at:)`), so that the refusal is sent in order and counted like any other
/// response. Everything after it is dropped.
/// The replacement announces a body that never arrives, so that libwebsockets keeps reading until the client has received the response.
package struct RequestGate: Sendable {
    private enum State {
        case head
        /// The number of bytes of a request's body that have not arrived yet.
        case body(Int)
        /// Everything passes: the connection upgrades, or its last body has begun.
        case open
        /// Everything is dropped.
        case over
    }

    private var state = State.head
    private var held: [UInt8] = []
    private var finder = HeadEndFinder()
    /// A head was too long; the connection is to end without a response.
    package private(set) var isHeadTooLong = false

    package init() {}

    /// The longest head, in bytes.
    package static let headBytesMax = 16_384
    /// The maximum length of a request that replaces a faulty one, in bytes.
    package static let refusalBytesMax = 128

    /// Bytes of an incomplete head.
    package var heldBytes: Int { held.count }
    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Takes the next bytes of the connection from the front of `rest`, up to the end of a request, and appends those that libwebsockets may
    /// read: at most `heldBytes` and `refusalBytesMax` more.
    package mutating func admit(_ rest: inout ArraySlice<UInt8>, to output: inout [UInt8]) {
        while !rest.isEmpty {
            switch state {
            case .head:
                readHead(&rest, &output)
                if case .head = state, held.isEmpty { return }
            case .body(let left):
                let taken = min(left, rest.count)
                output += rest.prefix(taken)
                rest = rest.dropFirst(taken)
                guard taken == left else { return state = .body(left - taken) }
                return state = .head
            case .open:
                output += rest
                rest = []
            case .over: rest = []
            }
        }
    }

    private mutating func readHead(_ rest: inout ArraySlice<UInt8>, _ output: inout [UInt8]) {
        do throws(RequestFault) {
            let view = rest.prefix(Self.headBytesMax - held.count)
            let end = try finder.find(in: view)
            held += view.prefix(end ?? view.count)
            rest = rest.dropFirst(end ?? view.count)
            guard end != nil else {
                isHeadTooLong = held.count == Self.headBytesMax
                return isHeadTooLong ? finish() : ()
            }
            let head = try RequestHead(checked: held)
            output += held.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            (held, finder, state) = ([], HeadEndFinder(), Self.next(after: head))
        } catch {
            output += Self.request(for: error)
            finish()
        }
    }

    private mutating func finish() {
        (held, state) = ([], .over)
    }

    private static func next(after head: RequestHead) -> State {
        if head.upgrades { return .open }
        return switch head.body {
        case .none, .length(0): .head
        // Refused, and the connection ends.
        case .length(let count) where count > HTTPExchange.bodyBytesMax: .open
        case .length(let count): .body(count)
        // Refused too, but libwebsockets would look for the next request in it.
        case .chunked: .over
        }
    }

    // MARK: Refusals

    private static let pathOfFaults = "/-/fault/"

    package static func request(for fault: RequestFault) -> [UInt8] {
        Array("POST \(pathOfFaults)\(fault.rawValue) HTTP/1.1\r\nHost: -\r\nContent-Length: 1\r\n\r\n".utf8)
    }

    /// The fault that a path encodes; nil for other paths. Clients that send such a request themselves are refused as well.
    package static func refused(at path: String) -> RequestFault? {
        guard path.hasPrefix(pathOfFaults) else { return nil }
        return RequestFault(rawValue: String(path.dropFirst(pathOfFaults.count)))
    }
}
