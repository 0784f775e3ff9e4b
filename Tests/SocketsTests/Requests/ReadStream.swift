import HTTPTypes
import Sockets

/// What `RequestGate` makes of a stream whose bytes arrive in pieces. Pieces of a body are joined.
struct ReadStream: Equatable {
    enum Event: Equatable {
        case request(RequestHead)
        case body([UInt8])
        case end
        case fault(RequestFault)
        case headTooLong
    }

    private(set) var events: [Event] = []
    /// Bytes that were not taken.
    private(set) var rest: [UInt8] = []
    private(set) var isOver = false
    private(set) var heldBytes = 0

    init(_ pieces: some Sequence<ArraySlice<UInt8>>) {
        var gate = RequestGate()
        for piece in pieces {
            var bytes = piece
            while let event = gate.next(in: &bytes) { add(event) }
            rest += bytes
        }
        (isOver, heldBytes) = (gate.isOver, gate.heldBytes)
    }

    init(_ bytes: [UInt8], inPiecesOf count: Int = .max) {
        self.init(stride(from: 0, to: bytes.count, by: max(1, min(count, bytes.count))).map { bytes[$0...].prefix(count) })
    }

    private mutating func add(_ event: RequestGate.Event) {
        switch event {
        case .request(let head): events.append(.request(head))
        case .body(let piece):
            if case .body(let before) = events.last {
                events[events.count - 1] = .body(before + piece)
            } else {
                events.append(.body(Array(piece)))
            }
        case .end: events.append(.end)
        case .fault(let fault): events.append(.fault(fault))
        case .headTooLong: events.append(.headTooLong)
        }
    }

    var heads: [RequestHead] {
        events.compactMap { if case .request(let head) = $0 { head } else { nil } }
    }

    /// The events in short.
    var summary: [String] {
        events.map { event in
            switch event {
            case .request(let head): "\(head.method.rawValue) \(head.path)"
            case .body(let bytes): "body \(String(decoding: bytes, as: UTF8.self))"
            case .end: "end"
            case .fault(let fault): "fault \(fault)"
            case .headTooLong: "head too long"
            }
        }
    }
}
