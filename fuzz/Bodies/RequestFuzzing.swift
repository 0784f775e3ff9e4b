private import HTTPTypes
private import Sockets

/// Feeds `RequestGate` with arbitrary bytes. A trap is a finding.
enum RequestFuzzing {
    /// The first byte selects how the rest, the stream, is split. The events do not depend on the split, and the request that libwebsockets gets
    /// in place of each one reads as itself.
    static func read(_ bytes: [UInt8]) {
        guard let pieceLength = bytes.first.map({ Int($0) + 1 }) else { return }
        let stream = bytes.dropFirst()
        let whole = Stream([stream])
        let inPieces = Stream(
            stride(from: stream.startIndex, to: stream.endIndex, by: pieceLength).map { stream[$0...].prefix(pieceLength) })
        precondition(whole.heads == inPieces.heads && whole.body == inPieces.body, "requests depend on how the stream is cut")
        precondition(whole.ends == inPieces.ends, "ends of requests depend on how the stream is cut")
        precondition(whole.fault == inPieces.fault && whole.isTooLong == inPieces.isTooLong, "faults depend on how the stream is cut")
        precondition(
            whole.isOver == inPieces.isOver && whole.heldBytes == inPieces.heldBytes, "what is left depends on how the stream is cut")
        for head in whole.heads { check(head) }
    }

    private static func check(_ head: RequestHead) {
        precondition(head.fields.count <= RequestHead.fieldsMax, "more fields than a head may have")
        precondition(head.path.utf8.first == UInt8(ascii: "/"), "a path that does not begin with a slash")
        let segments = head.path.utf8.split(separator: UInt8(ascii: "/")).map(String.init)
        precondition(!segments.contains(".") && !segments.contains(".."), "a dot segment in a path")
        precondition(!head.path.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a line end in a path")
        if case .length(let count) = head.body { precondition(count >= 0, "a negative length") }
        precondition(!head.upgrades || head.body == .none || head.body == .length(0), "an upgrade with a body")
        for name in ["", "a", "access_token"] {
            let value = head.query[name] ?? ""
            precondition(!value.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a line end in a query")
        }
        guard let again = try? RequestHead(head.forLibrary) else { preconditionFailure("libwebsockets would get a faulty request") }
        precondition(again.forLibrary == head.forLibrary, "the request for libwebsockets does not read as itself")
        precondition(again.upgrades == head.upgrades, "libwebsockets would upgrade another request")
        precondition(again.body == .none, "libwebsockets would wait for a body")
    }

    private struct Stream {
        var heads: [RequestHead] = []
        var body: [UInt8] = []
        /// For each complete request, the bytes of bodies until then.
        var ends: [Int] = []
        var fault: RequestFault?
        var isTooLong = false
        var isOver = false
        var heldBytes = 0

        init(_ pieces: [ArraySlice<UInt8>]) {
            var gate = RequestGate()
            for piece in pieces {
                var rest = piece
                while let event = gate.next(in: &rest) {
                    switch event {
                    case .request(let head): heads.append(head)
                    case .body(let bytes): body += bytes
                    case .end: ends.append(body.count)
                    case .fault(let found): fault = found
                    case .headTooLong: isTooLong = true
                    }
                }
                precondition(rest.isEmpty || gate.isOver, "bytes are left though more is parsed")
                precondition(gate.heldBytes < RequestHead.bytesMax, "more of a head is held than it may have")
            }
            (isOver, heldBytes) = (gate.isOver, gate.heldBytes)
        }
    }
}
